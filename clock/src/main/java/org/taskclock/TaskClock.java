// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * Reads the CPU time of the calling thread, in nanoseconds since the thread started.
 *
 * <p><b>Threads.</b> Any thread may call any method. A read takes no lock and throws nothing. It allocates only if the
 * {@link CpuTime} that it returns escapes. On a virtual thread, a read returns the time that the thread has used on all
 * its carriers, if TaskClock's agent tracks it. Without the agent it returns -1, because the carrier's time is not the
 * virtual thread's. If the agent has not tracked the thread all the time since it started, the total is unknown:
 * {@link #cpuNanos()}, {@link #userNanos()}, and {@link #systemNanos()} return -1. {@link #now()} and
 * {@link #read(long[])} then count from when tracking began, for differences only.
 *
 * <p><b>CPU time</b> is the kernel's {@code CLOCK_THREAD_CPUTIME_ID}, which does not include blocked time. Between two
 * queries to the kernel, a reading can be ahead by the time that the hypervisor or interrupts took since the last one:
 * on average by less than the accuracy budget (default: 100 ns; {@code -Dtaskclock.accuracy}), and never by more than
 * 10 ms. Each query to the kernel corrects the error. Readings never go backwards.
 *
 * <p><b>User and system time</b> match {@code getrusage(RUSAGE_THREAD)} to within one kernel tick. They add up to the
 * CPU time, are never negative, and never go backwards. On the {@code mxbean} backend they come from the JVM's
 * ThreadMXBean, with a resolution of 10 ms on Linux before JDK 26. Unknown values are -1.
 *
 * <p>{@link #status()} reports which backend is in use and why; {@code -Dtaskclock.backend=mxbean} forces ThreadMXBean.
 * The project's benchmarks measure the cost. Sources: clock_gettime(2), getrusage(2), kernel/time/posix-cpu-timers.c,
 * and kernel/sched/cputime.c.
 */
public final class TaskClock {
    /** Set once the native library is in use and nothing is left to prepare. Late readers only take a longer way. */
    static boolean isSettled;

    private TaskClock() {}

    /**
     * Returns the calling thread's CPU time, user and system together.
     *
     * @return nanoseconds since the thread started; -1 on a virtual thread that the agent has not tracked since it
     *     started, if the kernel refuses the system call, and on the {@code mxbean} backend if thread CPU time is
     *     disabled in the JVM
     */
    public static long cpuNanos() {
        if (ThreadType.isVirtual(Thread.currentThread())) return virtualNanos(VirtualThreadClock.CPU);
        return isNative() ? Native.cpuNanos() : beanNanos();
    }

    /**
     * Returns the CPU time that the calling thread spent in user mode. It is within one kernel tick of getrusage.
     *
     * @return nanoseconds since the thread started; -1 in the same cases as {@link #cpuNanos()}
     */
    public static long userNanos() {
        if (ThreadType.isVirtual(Thread.currentThread())) return virtualNanos(VirtualThreadClock.USER);
        return isNative() ? Native.userNanos() : now().userNanos();
    }

    /**
     * Returns the CPU time that the calling thread spent in the kernel. It is within one kernel tick of getrusage.
     *
     * @return nanoseconds since the thread started; -1 in the same cases as {@link #cpuNanos()}
     */
    public static long systemNanos() {
        if (ThreadType.isVirtual(Thread.currentThread())) return virtualNanos(VirtualThreadClock.SYSTEM);
        return isNative() ? Native.systemNanos() : now().systemNanos();
    }

    /**
     * Returns the total, user, and system time of the calling thread in one consistent reading.
     *
     * @return the reading; {@link CpuTime#UNKNOWN} if {@link #cpuNanos()} returns -1. On a virtual thread that ran
     *     before the agent tracked it, or while it did not, the reading lacks that time, so it is for differences only.
     */
    public static CpuTime now() {
        if (ThreadType.isVirtual(Thread.currentThread())) {
            return reading(virtualNanos(VirtualThreadClock.NOW_CPU), virtualNanos(VirtualThreadClock.NOW_USER));
        }
        if (isNative()) return reading(Native.nowCpuNanos(), Native.nowUserNanos());
        long[] read = readBean();
        return read == null ? CpuTime.UNKNOWN : reading(read[0], read[1]);
    }

    /**
     * Reads the total, user, and system time of the calling thread in one consistent reading. Never allocates. In
     * contrast, {@link #now()} relies on the compiler to eliminate the allocation.
     *
     * @param into receives total, user, and system nanoseconds at indexes 0, 1, and 2, as in {@link #now()}; all are -1
     *     if they are unknown
     * @throws ArrayIndexOutOfBoundsException if the array has fewer than three elements
     */
    public static void read(long[] into) {
        long cpu = -1;
        long user = -1;
        if (ThreadType.isVirtual(Thread.currentThread())) {
            cpu = virtualNanos(VirtualThreadClock.NOW_CPU);
            user = virtualNanos(VirtualThreadClock.NOW_USER);
        } else if (isNative()) {
            cpu = Native.nowCpuNanos();
            user = Native.nowUserNanos();
        } else {
            long[] read = readBean();
            if (read != null) {
                cpu = read[0];
                user = read[1];
            }
        }
        into[0] = cpu;
        into[1] = cpu < 0 ? -1 : Math.min(user, cpu);
        into[2] = cpu < 0 ? -1 : cpu - into[1];
    }

    /** Returns the calling thread's CPU time for differences, also on a virtual thread whose total is unknown. */
    static long pointNanos() {
        if (ThreadType.isVirtual(Thread.currentThread())) return virtualNanos(VirtualThreadClock.POINT);
        return cpuNanos();
    }

    private static long virtualNanos(int value) {
        return isNative() ? Native.virtualNanos(value) : -1;
    }

    private static long beanNanos() {
        try {
            return Preparation.isBeanUsable() ? MxbeanClock.cpuNanos() : -1;
        } catch (LinkageError | VirtualMachineError e) {
            return -1;
        }
    }

    private static long[] readBean() {
        try {
            return Preparation.isBeanUsable() ? MxbeanClock.read() : null;
        } catch (LinkageError | VirtualMachineError e) {
            return null;
        }
    }

    private static CpuTime reading(long cpu, long user) {
        if (cpu < 0) return CpuTime.UNKNOWN;
        long cappedUser = Math.min(user, cpu);
        return new CpuTime(cpu, cappedUser, cpu - cappedUser);
    }

    /**
     * Returns how the clock works on this machine: the backend in use, the test result of every backend, tick,
     * accounting, calibration, and accuracy. Has the backend selected now, which takes some tens of milliseconds,
     * unless it has been already. Readings never wait for the selection.
     *
     * @return the current status
     */
    public static ClockStatus status() {
        return Backends.status();
    }

    /**
     * Returns a ThreadMXBean that reads the calling thread's times from this clock, as a drop-in replacement for
     * {@code ManagementFactory.getThreadMXBean()}. {@code getCurrentThreadCpuTime}, {@code getCurrentThreadUserTime},
     * and the calls by id with the caller's own id read the clock. All other calls, and all calls on a virtual thread,
     * go to the platform's bean.
     *
     * @return the bean, which all callers share
     * @throws UnsupportedOperationException if this JVM has no {@code com.sun.management.ThreadMXBean}
     * @throws IllegalStateException if the JVM's bean has not been used yet and would fail now, because no memory or no
     *     files are left: the JVM could then never use it again
     */
    public static com.sun.management.ThreadMXBean threadMXBean() {
        return ClockThreadMXBean.instance();
    }

    static boolean isNative() {
        return isSettled || prepare();
    }

    private static boolean prepare() {
        try {
            return Preparation.run();
        } catch (LinkageError | VirtualMachineError e) {
            return false; // the JVM could not even load the class, and will be able to do so later
        }
    }
}
