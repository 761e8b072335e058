// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * The CPU time of a process, in nanoseconds since it started: the sum over all its threads, including those that have
 * ended. Processes of other users can be read, too, if they are visible in this pid namespace.
 *
 * <p>The CPU time is the process's {@code CLOCK_PROCESS_CPUTIME_ID}. User and system time follow the proportion of the
 * kernel's tick counts (cputime_adjust in kernel/sched/cputime.c). They add up to the CPU time and never go backwards
 * in the readings of one {@code ProcessClock}. For each reading the kernel visits every thread, which takes
 * microseconds in a JVM with hundreds of threads.
 *
 * <p>{@link #cpuNanos()} is thread-safe. The other reads depend on the previous reading, so only one thread at a time
 * may call them. All methods work the same on a virtual thread.
 */
public final class ProcessClock {
    private static final int SELF = 0;

    private final int pid;
    private final KernelCpuClock clock;

    private boolean ended;

    private ProcessClock(int pid) {
        this.pid = pid;
        this.clock = new KernelCpuClock(ClockId.process(pid, ClockId.Kind.SCHED));
    }

    /**
     * Returns the clock of this JVM's process.
     *
     * @return the clock
     */
    public static ProcessClock current() {
        return new ProcessClock(SELF);
    }

    /**
     * Returns the clock of any process.
     *
     * @param pid the process id
     * @return the clock; it reads -1 if there is no such process
     * @throws IllegalArgumentException if {@code pid} is not positive or larger than the kernel allows
     */
    public static ProcessClock of(long pid) {
        if (pid <= 0 || pid > Integer.MAX_VALUE) throw new IllegalArgumentException("invalid process id: " + pid);
        return new ProcessClock((int) pid);
    }

    /**
     * Returns the process's CPU time, user and system together.
     *
     * @return nanoseconds since the process started; -1 if there is no such process
     */
    public long cpuNanos() {
        if (TaskClock.isNative()) return clock.cpuNanos();
        if (pid != SELF)
            return ProcessHandle.of(pid)
                    .map(ProcessHandle::info)
                    .flatMap(ProcessHandle.Info::totalCpuDuration)
                    .map(duration -> duration.toNanos())
                    .orElse(-1L);
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean bean
                ? bean.getProcessCpuTime()
                : -1;
    }

    /**
     * Returns the CPU time that the process spent in user mode.
     *
     * @return nanoseconds since the process started; -1 if there is no such process, and on the {@code mxbean} backend,
     *     because the JVM does not report it
     */
    public long userNanos() {
        return now().userNanos();
    }

    /**
     * Returns the CPU time that the process spent in the kernel.
     *
     * @return nanoseconds since the process started; -1 in the same cases as {@link #userNanos()}
     */
    public long systemNanos() {
        return now().systemNanos();
    }

    /**
     * Returns the total, user, and system time in one consistent reading.
     *
     * @return the reading; {@link CpuTime#UNKNOWN} if {@link #userNanos()} returns -1
     */
    public CpuTime now() {
        if (!TaskClock.isNative() || ended) return CpuTime.UNKNOWN;
        ended = !clock.read();
        return ended ? CpuTime.UNKNOWN : clock.lastReading();
    }
}
