// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.nio.file.Path;

/** The operating system as the C library sees it: what the clock is compared with. */
final class Os {
    static final int SIGUSR2 = 12;

    static {
        System.load(Path.of(System.getProperty("test.native"), "libtestos.so")
                .toAbsolutePath()
                .toString());
    }

    private Os() {}

    static native int gettid();

    /** CLOCK_THREAD_CPUTIME_ID. */
    static native long threadCpuNanos();

    /** The processor's counter that the clock takes time from. */
    static native long counter();

    static native void rusage(long[] userSystem);

    /** Renames the calling thread, as the kernel knows it. */
    static native void rename(byte[] name);

    /** Pins the calling thread to a CPU; false if there is no such CPU for us. */
    static native boolean pin(int cpu);

    /** Blocks in the kernel. */
    static native void futexWait(int millis);

    static native void handleSignal(int signal);

    static native boolean sendSignal(int tid, int signal);

    /** Takes that many page faults. */
    static native long touchPages(int pages);
}
