// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * The CPU time of a process, of all its threads together, also of those that have ended. Any process may be read, whoever
 * owns it, as far as it is visible in this pid namespace.
 *
 * <p>cpu is what the process's {@code CLOCK_PROCESS_CPUTIME_ID} says; user and system are its tick counts' proportion, add
 * up to cpu, and never go backwards in the readings of one {@code ProcessClock}. The kernel visits every thread for each
 * reading: microseconds for a JVM with hundreds. {@link #cpuNanos()} may be called by any number of threads at once; let
 * one thread at a time make the other reads. On a virtual thread as on any other.
 */
public final class ProcessClock {
    private static final int SELF = 0;

    private final int pid;
    private final TickedClock clock;

    private boolean ended;

    private ProcessClock(int pid) {
        this.pid = pid;
        this.clock = new TickedClock(ClockId.process(pid, ClockId.Kind.SCHED));
    }

    /**
     * The clock of this JVM's process.
     *
     * @return its clock
     */
    public static ProcessClock current() {
        return new ProcessClock(SELF);
    }

    /**
     * The clock of any process.
     *
     * @param pid the process id
     * @return its clock; it reads -1 if there is no such process
     * @throws IllegalArgumentException if {@code pid} is not positive or larger than the kernel allows
     */
    public static ProcessClock of(long pid) {
        if (pid <= 0 || pid > Integer.MAX_VALUE) throw new IllegalArgumentException("process id " + pid);
        return new ProcessClock((int) pid);
    }

    /**
     * The process's CPU time, user and system together.
     *
     * @return nanoseconds; -1 if there is no such process
     */
    public long cpuNanos() {
        if (TaskClock.isNative()) return clock.cpuNanos();
        if (pid != SELF)
            return ProcessHandle.of(pid)
                    .map(ProcessHandle::info)
                    .flatMap(ProcessHandle.Info::totalCpuDuration)
                    .map(d -> d.toNanos())
                    .orElse(-1L);
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean bean
                ? bean.getProcessCpuTime()
                : -1;
    }

    /**
     * The CPU time that the process spent in user mode.
     *
     * @return nanoseconds; -1 if there is no such process, and on the {@code mxbean} rung, where the JVM does not know it
     */
    public long userNanos() {
        return now().userNanos();
    }

    /**
     * The CPU time that the kernel spent for the process.
     *
     * @return nanoseconds; -1 as {@link #userNanos()}
     */
    public long systemNanos() {
        return now().systemNanos();
    }

    /**
     * All three in one consistent reading.
     *
     * @return the reading; {@link CpuTime#UNKNOWN} where {@link #userNanos()} is -1
     */
    public CpuTime now() {
        if (!TaskClock.isNative() || ended) return CpuTime.UNKNOWN;
        ended = !clock.read();
        return ended ? CpuTime.UNKNOWN : clock.lastReading();
    }
}
