// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.locks.LockSupport;

/**
 * Reads the calling thread's clock over and over, each time between two readings of the kernel's clock, and checks the
 * contract: some of it for every reading, the rest for the whole run.
 */
final class Observer {
    /**
     * A base pairs the kernel's clock with the counter, but the two are not read at the same instant. The error is half
     * of the time that this takes: up to 2 us, and longer where system calls are slow, as under emulation.
     */
    static final long MOST_BEHIND_NANOS = 2_000 + systemCallNanos();

    /** No base lives longer, and the clock can only be ahead by what was taken since its base. */
    static final long LONGEST_LIFE_NANOS = 10_000_000;

    /** Events that put the clock ahead happen about once a second, so a short run may see twice its share. */
    private static final int LUCK = 2;

    /**
     * The clock needs time to adapt to its host, so a run that is over budget continues up to this many times as long.
     */
    private static final int MOST_RUNS = 8;

    private static final long FAR_OFF_NANOS = 1_000;
    /** Measured: an event takes at least 10 us, so at 100 ns on average it affects one reading in 100. */
    private static final long SMALLEST_EVENT_NANOS = 10_000;

    /**
     * The split may be one tick away from getrusage's. The clock notices a tick when the coarse clock moves, and
     * another processor may be in charge of that: if the host takes that processor away, several ticks are noticed
     * late.
     */
    private static final int MOST_TICKS = 4;

    /** The share of readings whose split may be off by more than one tick. */
    private static final double LATE_TICKS = 0.1;

    /** getrusage returns whole microseconds, and both parts are rounded. */
    private static final long RUSAGE_GRAIN_NANOS = 2_000;

    /** What the thread does between two readings. */
    interface Step {
        void run(Observer observer, long round);
    }

    private final ClockStatus status = TaskClock.status();
    /** Then every reading is between the two of the kernel. */
    private final boolean asksAlways = status.rung() == Rung.SYSCALL || status.rung() == Rung.MXBEAN;

    private final boolean comparesSplit = status.rung() != Rung.MXBEAN;
    private final long tick = Math.max(status.tickNanos(), 0);
    private final long mostBehind = asksAlways ? 0 : MOST_BEHIND_NANOS;
    private final long mostAhead = asksAlways ? 0 : LONGEST_LIFE_NANOS;
    private final long budget = asksAlways ? 0 : status.accuracy().budgetNanos();

    private final long[] rusageBefore = new long[2];
    private final long[] rusageAfter = new long[2];
    private CpuTime last = TaskClock.now();
    private long lastCpu = last.cpuNanos();

    private long readings;
    private long farOff;
    private long sumAhead;
    private long worstAhead;
    private long eventStart = -1;
    private long event;
    private long worstEvent;
    private long splits;
    private long lateSplits;
    private long blocks;

    private static long systemCallNanos() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 2_000; i++) {
            long start = System.nanoTime();
            long cpu = Os.threadCpuNanos();
            least = Math.min(least, System.nanoTime() - start);
            if (cpu < 0) throw new AssertionError("CLOCK_THREAD_CPUTIME_ID cannot be read");
        }
        return least;
    }

    /** Runs for at least {@code nanos}, and longer while the clock is over budget. */
    void observe(long nanos, Step step) {
        HostTime host = HostTime.now();
        long start = System.nanoTime();
        long elapsed = 0;
        for (long round = 0; elapsed < nanos || (elapsed < MOST_RUNS * nanos && meanAhead() > budget); round++) {
            step.run(this, round);
            compareCpu();
            compareParts();
            elapsed = System.nanoTime() - start;
        }
        String run = this + "; meanwhile the host took " + host.since();
        assertThat(meanAhead()).as("mean ahead, %s", run).isLessThanOrEqualTo((double) LUCK * budget);
        // One event may affect all readings within one life.
        long within = readings * LONGEST_LIFE_NANOS / Math.max(elapsed, LONGEST_LIFE_NANOS);
        long allowed = asksAlways ? 0 : within + readings * LUCK * budget / SMALLEST_EVENT_NANOS;
        assertThat(farOff).as("far off, %s", run).isLessThanOrEqualTo(allowed);
        assertThat(lateSplits)
                .as("more than a tick off, %s", run)
                .isLessThanOrEqualTo((long) (splits * LATE_TICKS) + 2);
    }

    /**
     * Blocks, then checks the next reading: it asks the kernel, so it counts no time blocked and carries no earlier
     * error.
     */
    void block(long nanos) {
        lastCpu = TaskClock.cpuNanos();
        long switches = Os.switches();
        LockSupport.parkNanos(nanos);
        // If the timer fires before the thread is switched out, as happens in guests, its base stays valid.
        if (Os.switches() == switches) return;
        long before = Os.threadCpuNanos();
        long cpu = TaskClock.cpuNanos();
        long after = Os.threadCpuNanos();
        assertThat(cpu).as("after being blocked").isBetween(before - mostBehind, Math.max(after, lastCpu) + mostBehind);
        lastCpu = cpu;
        blocks++;
    }

    private void compare(long before, long cpu, long after) {
        long behind = before - cpu;
        long ahead = Math.max(cpu - after, 0);
        readings++;
        sumAhead += ahead;
        worstAhead = Math.max(worstAhead, ahead);
        if (Math.max(behind, ahead) > FAR_OFF_NANOS) farOff++;
        addToEvent(ahead, after);
        assertThat(behind).as("behind; %s", this).isLessThanOrEqualTo(mostBehind);
        assertThat(ahead).as("ahead; %s", this).isLessThanOrEqualTo(mostAhead);
        assertThat(cpu).isGreaterThanOrEqualTo(lastCpu);
        lastCpu = cpu;
    }

    /** One event puts the clock ahead until the base ends and the kernel has caught up. */
    private void addToEvent(long ahead, long now) {
        if (ahead <= FAR_OFF_NANOS) {
            eventStart = -1;
            return;
        }
        if (eventStart < 0) {
            eventStart = now;
            event = 0;
        }
        if (now - eventStart <= 2 * LONGEST_LIFE_NANOS) event += ahead;
        worstEvent = Math.max(worstEvent, event);
    }

    private void compareCpu() {
        long before = Os.threadCpuNanos();
        long cpu = TaskClock.cpuNanos();
        compare(before, cpu, Os.threadCpuNanos());
    }

    private void compareParts() {
        // getrusage's total is as of the last tick or the last read of the thread's clock, which compareCpu has just
        // done.
        Os.rusage(rusageBefore);
        long before = Os.threadCpuNanos();
        CpuTime now = TaskClock.now();
        long after = Os.threadCpuNanos();
        Os.rusage(rusageAfter);

        compare(before, now.cpuNanos(), after);
        assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
        assertThat(now.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
        assertThat(now.systemNanos()).isGreaterThanOrEqualTo(last.systemNanos());
        if (comparesSplit) compareSplit(now, Math.max(now.cpuNanos() - after, 0));

        long user = TaskClock.userNanos();
        long system = TaskClock.systemNanos();
        long later = TaskClock.cpuNanos();
        assertThat(user).isBetween(now.userNanos(), later - now.systemNanos());
        assertThat(system).isBetween(now.systemNanos(), later - user);
        last = now;
        lastCpu = later;
    }

    /** If cpu is ahead, either part may be ahead by as much. */
    private void compareSplit(CpuTime now, long ahead) {
        long user = off(rusageBefore[0], now.userNanos(), ahead, rusageAfter[0]);
        long system = off(rusageBefore[1], now.systemNanos(), ahead, rusageAfter[1]);
        long off = Math.max(user, system) - RUSAGE_GRAIN_NANOS;
        splits++;
        if (off > tick) lateSplits++;
        assertThat(off).as(this::toString).isLessThanOrEqualTo(MOST_TICKS * tick);
    }

    private static long off(long before, long value, long ahead, long after) {
        return Math.max(before - value, value - ahead - after);
    }

    /** Without the worst event: the budget is for the long run, and in some seconds a single one can exceed it. */
    private double meanAhead() {
        return readings == 0 ? 0 : (double) (sumAhead - worstEvent) / readings;
    }

    @Override
    public String toString() {
        return String.format(
                "%d readings: %.1f ns ahead on average besides the worst event, %d ns at worst, %d more than %d ns off;"
                        + " %d of %d splits more than a tick off; %d times blocked; %s",
                readings,
                meanAhead(),
                worstAhead,
                farOff,
                FAR_OFF_NANOS,
                lateSplits,
                splits,
                blocks,
                status.accuracy());
    }
}
