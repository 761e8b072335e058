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
    /** Larger errors of a broken clock are recorded as one hour. */
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

    private long lastCpu;
    private long lastUser;
    private long lastSystem;
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
        long cpuError = Math.min(outside(before, cpu, after), MAX_ERROR_NANOS);
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
            // If the host preempted the processor in between, that cpu time has no known split.
            long spent = reference.cpuNanos() - after;
            splitErrorMax = Math.max(splitErrorMax, Math.max(0, error - spent));
        }
    }

    /** Returns whether a value decreased. The parameters were read in this order, after those of the previous call. */
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
        // user and system were read between cpu and now, so their sum must lie between these.
        return backward || outside(cpu, user + system, now.cpuNanos()) > 0;
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

    private static long outside(long low, long value, long high) {
        return Math.max(0, Math.max(low - value, value - high));
    }
}
