// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Plain readings of the kernel, one call each, nothing steered or kept: what {@link TaskClock} is built from and is
 * compared with. Each may be called from any thread; on a virtual thread, those of the calling thread tell of the carrier.
 * Where the native library is not in use they are -1 or false, save the one by text.
 */
public final class KernelReaders {
    private static final int OWN_USER = ClockId.encode(0, true, ClockId.Kind.VIRT);

    private KernelReaders() {}

    /**
     * The kernel's id of the calling thread.
     *
     * @return the id
     */
    public static int tid() {
        return Library.isLoaded() ? Library.ownTid() : -1;
    }

    /**
     * User time of a thread by the text of {@code /proc/self/task/TID/stat}, as the JVM read it until JDK 26.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds in steps of 10 ms; -1 if there is no such thread
     */
    public static long userNanosByText(int tid) {
        return ProcStat.userNanosOfThread(tid);
    }

    /**
     * User time of a thread by its own clock id with the low bits flipped to {@link ClockId.Kind#VIRT}, as the JVM reads it
     * since JDK 26: the kernel looks the thread up.
     *
     * @param tid the kernel's thread id
     * @return nanoseconds, a tick at a time; -1 if there is no such thread
     */
    public static long userNanosByOwnId(int tid) {
        return ClockId.thread(tid, ClockId.Kind.SCHED)
                .withKind(ClockId.Kind.VIRT)
                .nanos();
    }

    /**
     * User time of the calling thread by the constant id 0xFFFFFFFD, which the kernel answers without a look-up.
     *
     * @return nanoseconds, a tick at a time
     */
    public static long userNanosByConstantId() {
        return Library.isLoaded() ? Native.clockNanos(OWN_USER) : -1;
    }

    /**
     * User and system time of the calling thread by {@code getrusage(RUSAGE_THREAD)}.
     *
     * @param userSystem receives user nanoseconds at 0 and system nanoseconds at 1, in whole microseconds
     * @return false if it cannot be asked
     * @throws ArrayIndexOutOfBoundsException if the array is shorter than two
     */
    public static boolean rusage(long[] userSystem) {
        return Library.isLoaded() && Library.rusage(userSystem);
    }

    /**
     * Times bare system calls, without any Java in between: the floor under every reader that asks the kernel.
     *
     * @param id the clock to read
     * @param count how many times
     * @return nanoseconds for all calls together; -1 if the clock cannot be read
     */
    public static long timeSystemCalls(ClockId id, int count) {
        return Library.isLoaded() ? Library.rawNanos(id.encode(), count) : -1;
    }
}
