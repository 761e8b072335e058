// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.locks.LockSupport;

/**
 * Verifies the contract of the calling thread's clock: reads it repeatedly, each time between two readings of the
 * kernel's clock. Checks some rules for every reading and the others for the whole run.
 */
final class ContractVerifier {
    /**
     * How far the clock may be behind. A base pairs the kernel's clock with the counter, but the two are not read at
     * the same instant. The error is half of the time in between: up to 2 us, and more if system calls are slow, as
     * under emulation.
     */
    static final long MAX_LAG_NANOS = 2_000 + systemCallNanos();

    /** The longest life of a base. The clock can only be ahead by time that was stolen since its base. */
    static final long MAX_BASE_LIFE_NANOS = 10_000_000;

    /** Events that put the clock ahead happen about once a second, so a short run may see twice its share. */
    private static final int BURST_FACTOR = 2;

    /** The clock needs time to adapt to its host, so a run over budget continues for up to this many times as long. */
    private static final int MAX_EXTENSION = 8;

    private static final long OUTLIER_NANOS = 1_000;
    /** Measured: an event takes at least 10 us, so at 100 ns on average it affects one reading in 100. */
    private static final long MIN_EVENT_NANOS = 10_000;

    /**
     * The split may be one tick away from getrusage's. The clock sees a tick when the kernel's coarse clock advances,
     * and another processor may be responsible for that. If the host takes that processor away, several ticks are
     * detected late.
     */
    private static final int MAX_SPLIT_ERROR_TICKS = 4;

    /** The share of readings whose split may be wrong by more than one tick. */
    private static final double MAX_LATE_SPLIT_SHARE = 0.1;

    /** getrusage returns whole microseconds, and both parts are rounded. */
    private static final long RUSAGE_RESOLUTION_NANOS = 2_000;

    /** An activity of the thread between two readings. */
    interface Step {
        void run(ContractVerifier verifier, long round);
    }

    private final ClockStatus status = TaskClock.status();
    /** If this is true, every reading must be between the two readings of the kernel's clock. */
    private final boolean alwaysAsksKernel = status.backend() == Backend.SYSCALL || status.backend() == Backend.MXBEAN;

    private final boolean checksSplit = status.backend() != Backend.MXBEAN;
    private final long tick = Math.max(status.tickNanos(), 0);
    private final long maxLag = alwaysAsksKernel ? 0 : MAX_LAG_NANOS;
    private final long maxLead = alwaysAsksKernel ? 0 : MAX_BASE_LIFE_NANOS;
    private final long budget = alwaysAsksKernel ? 0 : status.accuracy().budgetNanos();

    private final long[] rusageBefore = new long[2];
    private final long[] rusageAfter = new long[2];
    private CpuTime last = TaskClock.now();
    private long lastCpu = last.cpuNanos();

    private long readings;
    private long outliers;
    private long totalLead;
    private long worstLead;
    private long eventStartNanos = -1;
    private long eventLead;
    private long worstEventLead;
    private long splits;
    private long lateSplits;
    private long blocks;

    private static long systemCallNanos() {
        long min = Long.MAX_VALUE;
        for (int i = 0; i < 2_000; i++) {
            long start = System.nanoTime();
            long cpu = SystemCalls.threadCpuNanos();
            min = Math.min(min, System.nanoTime() - start);
            if (cpu < 0) throw new AssertionError("CLOCK_THREAD_CPUTIME_ID cannot be read");
        }
        return min;
    }

    /** Runs for at least {@code nanos}, and longer while the clock is over budget. */
    void verify(long nanos, Step step) {
        HostInterference host = HostInterference.now();
        long start = System.nanoTime();
        long elapsed = 0;
        for (long round = 0; elapsed < nanos || (elapsed < MAX_EXTENSION * nanos && meanLead() > budget); round++) {
            step.run(this, round);
            checkCpu();
            checkParts();
            elapsed = System.nanoTime() - start;
        }
        String run = this + "; time taken by the host: " + host.formatSince();
        assertThat(meanLead()).as("mean time ahead, %s", run).isLessThanOrEqualTo((double) BURST_FACTOR * budget);
        // One event may affect all readings within the life of one base.
        long readingsPerLife = readings * MAX_BASE_LIFE_NANOS / Math.max(elapsed, MAX_BASE_LIFE_NANOS);
        long maxOutliers = alwaysAsksKernel ? 0 : readingsPerLife + readings * BURST_FACTOR * budget / MIN_EVENT_NANOS;
        assertThat(outliers).as("outliers, %s", run).isLessThanOrEqualTo(maxOutliers);
        assertThat(lateSplits)
                .as("splits wrong by more than a tick, %s", run)
                .isLessThanOrEqualTo((long) (splits * MAX_LATE_SPLIT_SHARE) + 2);
    }

    /**
     * Blocks and checks the next reading. That reading asks the kernel, so it must not include blocked time or an
     * earlier error.
     */
    void block(long nanos) {
        lastCpu = TaskClock.cpuNanos();
        long switches = SystemCalls.contextSwitches();
        LockSupport.parkNanos(nanos);
        // If the timer fires before the thread is switched out, as may happen in guests, the base stays valid.
        if (SystemCalls.contextSwitches() == switches) return;
        long before = SystemCalls.threadCpuNanos();
        long cpu = TaskClock.cpuNanos();
        long after = SystemCalls.threadCpuNanos();
        assertThat(cpu).as("after being blocked").isBetween(before - maxLag, Math.max(after, lastCpu) + maxLag);
        lastCpu = cpu;
        blocks++;
    }

    private void checkReading(long before, long cpu, long after) {
        long lag = before - cpu;
        long lead = Math.max(cpu - after, 0);
        readings++;
        totalLead += lead;
        worstLead = Math.max(worstLead, lead);
        if (Math.max(lag, lead) > OUTLIER_NANOS) outliers++;
        addToEvent(lead, after);
        assertThat(lag).as("time behind; %s", this).isLessThanOrEqualTo(maxLag);
        assertThat(lead).as("time ahead; %s", this).isLessThanOrEqualTo(maxLead);
        assertThat(cpu).isGreaterThanOrEqualTo(lastCpu);
        lastCpu = cpu;
    }

    /** Adds to the current event. An event puts the clock ahead until the kernel's clock has caught up. */
    private void addToEvent(long lead, long now) {
        if (lead <= OUTLIER_NANOS) {
            eventStartNanos = -1;
            return;
        }
        if (eventStartNanos < 0) {
            eventStartNanos = now;
            eventLead = 0;
        }
        if (now - eventStartNanos <= 2 * MAX_BASE_LIFE_NANOS) eventLead += lead;
        worstEventLead = Math.max(worstEventLead, eventLead);
    }

    private void checkCpu() {
        long before = SystemCalls.threadCpuNanos();
        long cpu = TaskClock.cpuNanos();
        checkReading(before, cpu, SystemCalls.threadCpuNanos());
    }

    private void checkParts() {
        // getrusage's total was updated at the last tick or the last read of the thread's clock, which checkCpu has
        // just done.
        SystemCalls.rusage(rusageBefore);
        long before = SystemCalls.threadCpuNanos();
        CpuTime now = TaskClock.now();
        long after = SystemCalls.threadCpuNanos();
        SystemCalls.rusage(rusageAfter);

        checkReading(before, now.cpuNanos(), after);
        assertThat(now.userNanos() + now.systemNanos()).isEqualTo(now.cpuNanos());
        assertThat(now.userNanos()).isGreaterThanOrEqualTo(last.userNanos());
        assertThat(now.systemNanos()).isGreaterThanOrEqualTo(last.systemNanos());
        if (checksSplit) checkSplit(now, Math.max(now.cpuNanos() - after, 0));

        long user = TaskClock.userNanos();
        long system = TaskClock.systemNanos();
        long later = TaskClock.cpuNanos();
        assertThat(user).isBetween(now.userNanos(), later - now.systemNanos());
        assertThat(system).isBetween(now.systemNanos(), later - user);
        last = now;
        lastCpu = later;
    }

    /** Checks both parts. If the total is ahead, either part may be ahead by as much. */
    private void checkSplit(CpuTime now, long lead) {
        long user = splitError(rusageBefore[0], now.userNanos(), lead, rusageAfter[0]);
        long system = splitError(rusageBefore[1], now.systemNanos(), lead, rusageAfter[1]);
        long splitError = Math.max(user, system) - RUSAGE_RESOLUTION_NANOS;
        splits++;
        if (splitError > tick) lateSplits++;
        assertThat(splitError).as(this::toString).isLessThanOrEqualTo(MAX_SPLIT_ERROR_TICKS * tick);
    }

    private static long splitError(long before, long value, long lead, long after) {
        return Math.max(before - value, value - lead - after);
    }

    /**
     * Returns the mean without the worst event: the budget is for the long run, and one event may exceed it in a short
     * run.
     */
    private double meanLead() {
        return readings == 0 ? 0 : (double) (totalLead - worstEventLead) / readings;
    }

    @Override
    public String toString() {
        return String.format(
                "%d readings: %.1f ns ahead on average without the worst event, %d ns at most; %d wrong by more than"
                        + " %d ns; %d of %d splits wrong by more than a tick; blocked %d times; %s",
                readings,
                meanLead(),
                worstLead,
                outliers,
                OUTLIER_NANOS,
                lateSplits,
                splits,
                blocks,
                status.accuracy());
    }
}
