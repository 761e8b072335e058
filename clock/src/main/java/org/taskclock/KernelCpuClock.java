// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The kernel's CPU clock for another thread or a process. The total is precise; user and system time follow the
 * proportion of the kernel's tick counts, which are read again only if they may have changed. Not thread-safe.
 */
final class KernelCpuClock {
    private final ClockId sched;
    private final ClockId virt;
    private final ClockId prof;

    private long cpu;
    private long user;
    private long virtNanos;
    private long profNanos;
    private long tickStamp = -1;

    KernelCpuClock(ClockId sched) {
        this.sched = sched;
        this.virt = sched.withKind(ClockId.Kind.VIRT);
        this.prof = sched.withKind(ClockId.Kind.PROF);
    }

    /** Returns the precise total; -1 if the thread or process no longer exists. Any thread may call this. */
    long cpuNanos() {
        return sched.nanos();
    }

    /**
     * Takes a reading. Returns false if the clock cannot be read, or if its id was reused and counts from zero again.
     */
    boolean read() {
        long stamp = Native.tickStamp();
        if (stamp != tickStamp || Library.isPrecise()) {
            virtNanos = virt.nanos();
            profNanos = prof.nanos();
            tickStamp = stamp;
        }
        long now = sched.nanos();
        if (now < cpu || virtNanos < 0 || profNanos < 0) return false;
        user = UserTime.monotonic(cpu, user, now, UserTime.scaled(now, virtNanos, profNanos));
        cpu = now;
        return true;
    }

    CpuTime lastReading() {
        return new CpuTime(cpu, user, cpu - user);
    }
}
