// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * A clock of another thread, or of a process: cpu precise, user and system by the proportion of the kernel's tick counts,
 * which are read again only when they can have changed. Not thread-safe.
 */
final class TickedClock {
    private final ClockId sched;
    private final ClockId virt;
    private final ClockId prof;

    private long cpu;
    private long user;
    private long virtNanos;
    private long profNanos;
    private long tickStamp = -1;

    TickedClock(ClockId sched) {
        this.sched = sched;
        this.virt = sched.withKind(ClockId.Kind.VIRT);
        this.prof = sched.withKind(ClockId.Kind.PROF);
    }

    /** The precise total; -1 if there is no such thread or process any more. Any thread may call this. */
    long cpuNanos() {
        return sched.nanos();
    }

    /** Takes a reading. False if there is nothing to read, or an id was reused and counts from zero again. */
    boolean read() {
        long stamp = Native.tickStamp();
        if (stamp != tickStamp || Library.isPrecise()) {
            virtNanos = virt.nanos();
            profNanos = prof.nanos();
            tickStamp = stamp;
        }
        long now = sched.nanos();
        if (now < cpu || virtNanos < 0 || profNanos < 0) return false;
        user = Split.user(cpu, user, now, Split.scaled(now, virtNanos, profNanos));
        cpu = now;
        return true;
    }

    CpuTime lastReading() {
        return new CpuTime(cpu, user, cpu - user);
    }
}
