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

    /** Any clock by its id; -1 if there is none. */
    static native long clockNanos(int id);

    /** How long {@code count} system calls take that read this clock; -1 if it cannot be read. */
    static native long timeClock(int id, int count);

    /** The processor's counter that the clock takes time from. */
    static native long counter();

    static native void rusage(long[] userSystem);

    /** How often the calling thread was switched out. */
    static native long switches();

    /** Renames the calling thread, as the kernel knows it. */
    static native void rename(byte[] name);

    /** Pins the calling thread to a CPU; false if there is no such CPU for us. */
    static native boolean pin(int cpu);

    /** Blocks in the kernel. */
    static native void futexWait(int micros);

    static native void handleSignal(int signal);

    static native boolean sendSignal(int tid, int signal);

    /** Takes that many page faults. */
    static native long touchPages(int pages);

    /** Maps a memfd of this name and content, at least one page of it; returns the address, 0 on failure. */
    static native long mapNamed(byte[] name, byte[] content);

    /** The address of a function that does not belong to the clock and returns 4711. */
    static native long forgedFunction();

    /** From now on, on all threads, memfd_create fails with this errno if it has one of these flags; with 0 always. */
    static native boolean refuseMemfd(int errno, int flags);

    /** From now on, on all threads, clock_gettime of a thread's or a process's clock fails. */
    static native boolean refuseCpuClocks();

    /** From now on, on all threads, getrusage fails. */
    static native boolean refuseRusage();

    /** From now on, reading the processor's counter is a SIGSEGV on the calling thread. */
    static native boolean forbidCounter();
}
