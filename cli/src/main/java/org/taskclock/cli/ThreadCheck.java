// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.HdrHistogram.Histogram;
import org.taskclock.CpuTime;
import org.taskclock.KernelReaders;
import org.taskclock.cli.ContractCheck.Clock;
import org.taskclock.cli.ContractCheck.Reference;

/** Compares a clock with the kernel, on one thread, reading by reading. */
final class ThreadCheck {
    /** What a broken clock may be off and still be recorded: an hour. */
    private static final long MAX_ERROR = 3_600_000_000_000L;

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

    private long lastCpu;
    private long lastUser;
    private long lastSystem;
    private final long[] usageBefore = new long[2];
    private final long[] usageAfter = new long[2];

    ThreadCheck(Clock clock, Reference reference) {
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
        long cpuError = Math.min(outside(before, cpu, after), MAX_ERROR);
        cpuErrors.recordValue(cpuError);
        cpuErrorSum += cpuError;
        if (now.userNanos() + now.systemNanos() != now.cpuNanos() || now.userNanos() < 0 || now.systemNanos() < 0) {
            sumErrors++;
        }
        if (goesBackward(cpu, user, system, now)) backwardSteps++;
        if (usageKnown) {
            long error = Math.max(
                    outside(usageBefore[0], now.userNanos(), usageAfter[0]),
                    outside(usageBefore[1], now.systemNanos(), usageAfter[1]));
            // A processor that the host stops meanwhile gives cpu time whose split nobody knows.
            long spent = reference.cpuNanos() - after;
            splitErrorMax = Math.max(splitErrorMax, Math.max(0, error - spent));
        }
    }

    /** cpu, user, system and now were read in this order, after those of the last time. */
    private boolean goesBackward(long cpu, long user, long system, CpuTime now) {
        boolean backward = cpu < lastCpu
                || user < lastUser
                || system < lastSystem
                || now.cpuNanos() < cpu
                || now.userNanos() < user
                || now.systemNanos() < system;
        lastCpu = now.cpuNanos();
        lastUser = now.userNanos();
        lastSystem = now.systemNanos();
        // Parts that were read between two totals add up to something between them.
        return backward || outside(cpu, user + system, now.cpuNanos()) > 0;
    }

    /** Lets the thread block, and sees how much of that the clock counts. */
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

    private static long outside(long low, long value, long high) {
        return Math.max(0, Math.max(low - value, value - high));
    }
}
