// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The CPU time of the calling thread, in nanoseconds since the thread started.
 *
 * <p>Every method may be called from any thread. A read takes no lock, throws nothing and allocates nothing, save that a
 * {@link CpuTime} that escapes is an object. On a virtual thread every read is the thread's own time, whatever
 * carried it, if TaskClock's agent accounts for it; otherwise -1: the carrier's time is not the virtual thread's.
 *
 * <p><b>What holds for the values of one thread:</b> cpu is the kernel's {@code CLOCK_THREAD_CPUTIME_ID}. Between two questions to
 * the kernel it can be ahead by what the hypervisor or interrupts took since the last one: on average by less than the
 * accuracy budget (100 ns; {@code -Dtaskclock.accuracy}), never by more than 10 ms. It never goes back, and no error outlives the
 * next question. Time spent blocked is not counted. User and system are what {@code getrusage(RUSAGE_THREAD)} says, within
 * one tick of the kernel; they add up to cpu, are never negative, and never go backwards. Unknown values are -1. On the {@code mxbean}
 * rung the same holds, but the split is the one of the JVM's ThreadMXBean, whose grain is 10 ms on Linux until JDK 26.
 *
 * <p>Which way is used to read, and why, {@link #status()} tells; {@code -Dtaskclock.rung=mxbean} forces the JVM's own.
 * Cost is measured in the project's benchmarks. Sources: clock_gettime(2), getrusage(2), kernel/time/posix-cpu-timers.c and
 * kernel/sched/cputime.c.
 */
public final class TaskClock {
    private static final boolean NATIVE = Rungs.IS_NATIVE;

    private TaskClock() {}

    /**
     * The calling thread's CPU time, user and system together.
     *
     * @return nanoseconds; -1 on a virtual thread that nobody accounts for, or where the JVM's timing is switched off on the {@code mxbean} rung
     */
    public static long cpuNanos() {
        if (ThreadType.isVirtual(Thread.currentThread())) return virtualNanos(VirtualTimes.CPU);
        return NATIVE ? Native.cpuNanos() : MxbeanClock.cpuNanos();
    }

    /**
     * The CPU time that the calling thread spent in user mode, within one tick of what getrusage says.
     *
     * @return nanoseconds; -1 as {@link #cpuNanos()}
     */
    public static long userNanos() {
        if (ThreadType.isVirtual(Thread.currentThread())) return virtualNanos(VirtualTimes.USER);
        return NATIVE ? Native.userNanos() : now().userNanos();
    }

    /**
     * The CPU time that the kernel spent for the calling thread, within one tick of what getrusage says.
     *
     * @return nanoseconds; -1 as {@link #cpuNanos()}
     */
    public static long systemNanos() {
        if (ThreadType.isVirtual(Thread.currentThread())) return virtualNanos(VirtualTimes.SYSTEM);
        return NATIVE ? Native.systemNanos() : now().systemNanos();
    }

    /**
     * All three in one consistent reading of the calling thread.
     *
     * @return the reading; {@link CpuTime#UNKNOWN} where {@link #cpuNanos()} is -1
     */
    public static CpuTime now() {
        if (ThreadType.isVirtual(Thread.currentThread())) {
            return reading(virtualNanos(VirtualTimes.NOW), virtualNanos(VirtualTimes.LAST_USER));
        }
        if (NATIVE) return reading(Native.nowCpuNanos(), Native.nowUserNanos());
        long[] read = MxbeanClock.read();
        return read == null ? CpuTime.UNKNOWN : reading(read[0], read[1]);
    }

    /**
     * All three in one consistent reading of the calling thread, without an object whatever the compiler does.
     *
     * @param into receives cpu, user and system nanoseconds at 0, 1 and 2; -1 each where {@link #cpuNanos()} is
     * @throws ArrayIndexOutOfBoundsException if it is shorter than three
     */
    public static void read(long[] into) {
        long cpu = -1;
        long user = -1;
        if (ThreadType.isVirtual(Thread.currentThread())) {
            cpu = virtualNanos(VirtualTimes.NOW);
            user = virtualNanos(VirtualTimes.LAST_USER);
        } else if (NATIVE) {
            cpu = Native.nowCpuNanos();
            user = Native.nowUserNanos();
        } else {
            long[] read = MxbeanClock.read();
            if (read != null) {
                cpu = read[0];
                user = read[1];
            }
        }
        into[0] = cpu;
        into[1] = cpu < 0 ? -1 : Math.min(user, cpu);
        into[2] = cpu < 0 ? -1 : cpu - into[1];
    }

    private static long virtualNanos(int what) {
        return NATIVE ? Native.virtualNanos(what) : -1;
    }

    private static CpuTime reading(long cpu, long user) {
        if (cpu < 0) return CpuTime.UNKNOWN;
        long part = Math.min(user, cpu);
        return new CpuTime(cpu, part, cpu - part);
    }

    /**
     * What the clock found on this machine: the rung in use, the verdict on every rung, tick, accounting, calibration and
     * accuracy. Waits until the rung is decided, some tens of milliseconds after the first reading; readings never wait for that.
     *
     * @return a snapshot
     */
    public static ClockStatus status() {
        return Rungs.status();
    }

    /**
     * The platform's ThreadMXBean, answering for the calling thread from this clock: a caller that holds on to its
     * {@code ManagementFactory.getThreadMXBean()} swaps this in and changes nothing else. {@code getCurrentThreadCpuTime},
     * {@code getCurrentThreadUserTime} and the calls by id with the caller's own id read the clock; all others, and all on
     * a virtual thread, are answered by the platform's bean.
     *
     * @return the view; one for all callers
     * @throws UnsupportedOperationException if this JVM has no {@code com.sun.management.ThreadMXBean}
     */
    public static com.sun.management.ThreadMXBean threadMXBean() {
        return ClockThreadMXBean.instance();
    }

    static boolean isNative() {
        return NATIVE;
    }
}
