// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.nio.file.Path;

/** System calls through the C library. Tests compare the clock with them. */
final class SystemCalls {
    static final int SIGUSR2 = 12;

    static {
        System.load(Path.of(System.getProperty("test.native"), "libtestsyscalls.so")
                .toAbsolutePath()
                .toString());
    }

    private SystemCalls() {}

    static native int gettid();

    /** Reads CLOCK_THREAD_CPUTIME_ID. */
    static native long threadCpuNanos();

    /** Reads any clock by its id. Returns -1 if the clock does not exist. */
    static native long clockNanos(int id);

    /** Returns how long {@code count} system calls that read this clock take; -1 if it cannot be read. */
    static native long timeClockReads(int id, int count);

    /** Reads the processor's time-stamp counter; 0 on processors whose counter the library does not use. */
    static native long timeStampCounter();

    /** Stores the calling thread's user and system time in nanoseconds. */
    static native void rusage(long[] userSystem);

    /** Returns how often the calling thread was switched out; -1 if that is unknown. */
    static native long contextSwitches();

    /** Sets the name by which the kernel knows the calling thread. */
    static native void setThreadName(byte[] name);

    /** Pins the calling thread to a CPU. Returns false if the process may not use that CPU. */
    static native boolean pinToCpu(int cpu);

    /** Blocks in the kernel. */
    static native void waitOnFutex(int micros);

    static native void installNoOpHandler(int signal);

    static native boolean sendSignal(int tid, int signal);

    /** Causes this number of page faults. */
    static native long touchPages(int pages);

    /** Maps at least one page of a memfd with this name and content. Returns the address, or 0 on failure. */
    static native long mapMemfd(byte[] name, byte[] content);

    /** Returns the address of a function that does not belong to the library and returns 4711. */
    static native long foreignFunction();

    /**
     * Makes memfd_create fail with this errno on all threads if it is called with one of these flags, or always if
     * {@code flags} is 0.
     */
    static native boolean denyMemfd(int errno, int flags);

    /** Makes clock_gettime fail for the CPU clocks of threads and processes, on all threads. */
    static native boolean denyCpuClocks();

    /** Makes getrusage fail on all threads. */
    static native boolean denyRusage();

    /** Makes clone, by which threads and processes start, fail on all threads or only on the calling one. */
    static native boolean denyClone(boolean onAllThreads);

    /** Makes mapping memory fail for the library, on all threads. */
    static native boolean denyMmap();

    /** Makes opening a file fail. */
    static native boolean limitFiles();

    /** Leaves too little address space for the stack of a thread. */
    static native boolean limitMemory();

    /** Makes it fail to extend a file beyond this size. */
    static native boolean limitFileSize(long bytes);

    /** Undoes the three methods above. */
    static native boolean removeLimits();

    /** Makes reading the time-stamp counter raise SIGSEGV on the calling thread and the threads that it starts. */
    static native boolean forbidCounter();
}
