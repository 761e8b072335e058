// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.HdrHistogram.Histogram;
import org.taskclock.CpuTime;
import org.taskclock.KernelReaders;
import org.taskclock.cli.ContractCheck.Clock;
import org.taskclock.cli.ContractCheck.Reference;

/** Checks the clock's contract on one thread, reading by reading. */
final class ThreadContractCheck {
    /** Larger errors, which only a broken clock has, are recorded as one hour. */
    private static final long MAX_ERROR_NANOS = 3_600_000_000_000L;

    private final Clock clock;
    private final Reference reference;

    final Histogram cpuErrors = new Histogram(3);
    long cpuErrorSum;
    long unknownReadings;
    long sumErrors;
    long backwardSteps;
    long splitErrorMax = -1;
    long waits;
    long waitedNanos;
    long blockedNanosCounted;

    private CpuTime last = new CpuTime(0, 0, 0);
    private final long[] usageBefore = new long[2];
    private final long[] usageAfter = new long[2];

    ThreadContractCheck(Clock clock, Reference reference) {
        this.clock = clock;
        this.reference = reference;
    }

    void read() {
        long before = reference.cpuNanos();
        long cpu = clock.cpuNanos();
        long after = reference.cpuNanos();
        long user = clock.userNanos();
        long system = clock.systemNanos();
        boolean usageKnown = KernelReaders.rusage(usageBefore);
        CpuTime now = clock.now();
        usageKnown &= KernelReaders.rusage(usageAfter);
        if (before == -1 || cpu == -1 || after == -1 || user == -1 || system == -1 || !now.isKnown()) {
            unknownReadings++;
            return;
        }
        long cpuError = Math.min(distance(before, cpu, after), MAX_ERROR_NANOS);
        cpuErrors.recordValue(cpuError);
        cpuErrorSum += cpuError;
        validate(cpu, user, system, now);
        if (usageKnown) {
            long error = Math.max(
                    distance(usageBefore[0], now.userNanos(), usageAfter[0]),
                    distance(usageBefore[1], now.systemNanos(), usageAfter[1]));
            // The split of CPU time used between these readings, such as during preemption by the host, is unknown.
            long spent = reference.cpuNanos() - after;
            splitErrorMax = Math.max(splitErrorMax, Math.max(0, error - spent));
        }
    }

    /** Validates values that were read in this order, after those of the previous call. */
    private void validate(long cpu, long user, long system, CpuTime now) {
        long sum = now.userNanos() + now.systemNanos();
        if (sum != now.cpuNanos() || now.userNanos() < 0 || now.systemNanos() < 0) sumErrors++;
        boolean isInOrder = last.cpuNanos() <= cpu
                && cpu <= user + system // which were read between cpu and now
                && user + system <= now.cpuNanos()
                && last.userNanos() <= user
                && user <= now.userNanos()
                && last.systemNanos() <= system
                && system <= now.systemNanos();
        if (!isInOrder) backwardSteps++;
        last = now;
    }

    /** Blocks the thread and adds up how much of the wait the clock counts. */
    void await(Runnable wait) {
        long referenceBefore = reference.cpuNanos();
        long cpuBefore = clock.cpuNanos();
        long start = System.nanoTime();
        wait.run();
        waitedNanos += System.nanoTime() - start;
        long counted = clock.cpuNanos() - cpuBefore;
        blockedNanosCounted += Math.max(0, counted - (reference.cpuNanos() - referenceBefore));
        waits++;
    }

    private static long distance(long low, long value, long high) {
        return Math.max(0, Math.max(low - value, value - high));
    }
}
