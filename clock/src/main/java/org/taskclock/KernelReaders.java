// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Raw readings from the kernel, one call each, without adjustment or cached state. {@link TaskClock} is built on such
 * readings and tested against them. Any thread may call these methods. On a virtual thread, the methods for the calling
 * thread read its carrier. Without the native library they return -1 or false, except {@link #userNanosByText}, which
 * does not need it.
 */
public final class KernelReaders {
    private static final int OWN_USER = ClockId.encode(0, true, ClockId.Kind.VIRT);

    private KernelReaders() {}

    /**
     * Returns the kernel's id of the calling thread (gettid(2)).
     *
     * @return the id; -1 without the native library
     */
    public static int tid() {
        return Library.isAvailable() ? Library.ownTid() : -1;
    }

    /**
     * Reads a thread's user time from the text of {@code /proc/self/task/TID/stat} (proc(5)), as the JVM did before JDK
     * 26.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds since the thread started, in steps of 10 ms; -1 if there is no such thread
     */
    public static long userNanosByText(int tid) {
        return ProcStat.userNanosOfThread(tid);
    }

    /**
     * Reads a thread's user time through its own clock id with the low bits changed to {@link ClockId.Kind#VIRT}, as
     * JDK 26 and later do. The kernel looks up the thread.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds since the thread started, in whole ticks; -1 if there is no such thread
     */
    public static long userNanosByOwnId(int tid) {
        return ClockId.thread(tid, ClockId.Kind.SCHED)
                .withKind(ClockId.Kind.VIRT)
                .nanos();
    }

    /**
     * Reads the calling thread's user time through the constant id 0xFFFFFFFD, for which the kernel needs no lookup
     * (kernel/time/posix-cpu-timers.c).
     *
     * @return nanoseconds since the thread started, in whole ticks; -1 without the native library
     */
    public static long userNanosByConstantId() {
        return Library.isAvailable() ? Native.clockNanos(OWN_USER) : -1;
    }

    /**
     * Reads the calling thread's user and system time with {@code getrusage(RUSAGE_THREAD)} (getrusage(2)).
     *
     * @param userSystem receives user nanoseconds at index 0 and system nanoseconds at index 1, in whole microseconds
     * @return false if the kernel refuses the call, or without the native library
     * @throws ArrayIndexOutOfBoundsException if the array has fewer than two elements
     */
    public static boolean rusage(long[] userSystem) {
        return Library.isAvailable() && Library.rusage(userSystem);
    }

    /**
     * Measures bare system calls in a native loop. They are the lower bound for the cost of every reader that asks the
     * kernel.
     *
     * @param id the clock to read
     * @param count the number of calls
     * @return elapsed nanoseconds for all calls together; -1 if the clock cannot be read
     */
    public static long timeSystemCalls(ClockId id, int count) {
        return Library.isAvailable() ? Library.rawNanos(id.encode(), count) : -1;
    }
}
