// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

/**
 * How well a clock kept its contract. cpu errors are distances from the reference, read before and after.
 *
 * @param reference what the clock was compared with
 * @param threads how many threads read the clock at once
 * @param readings how often the clock was compared
 * @param unknownReadings how often it answered -1, though it was asked for a live platform thread
 * @param cpuErrorMeanNanos how far readings were off on average
 * @param cpuBudgetNanos how far they may be on average, by the accuracy budget; 0 where the kernel is asked at each reading
 * @param sumErrors readings whose user and system time do not add up to cpu, or of which one is negative
 * @param backwardSteps readings in which cpu, user or system was less than before, or that contradict each other
 * @param splitErrorMaxNanos the largest distance of user or system from getrusage; null if that cannot be asked
 * @param splitBoundNanos how large it may be; null where no bound is promised
 * @param waits how often a thread was blocked between two readings
 * @param waitedNanos for how long, altogether
 * @param blockedNanosCounted how much more cpu the clock counted across these waits than the reference did
 */
record Contract(
        String reference,
        int threads,
        long readings,
        long unknownReadings,
        long cpuErrorP9999Nanos,
        long cpuErrorMaxNanos,
        double cpuErrorMeanNanos,
        long cpuBudgetNanos,
        long sumErrors,
        long backwardSteps,
        Long splitErrorMaxNanos,
        Long splitBoundNanos,
        long waits,
        long waitedNanos,
        long blockedNanosCounted) {

    /** What the contract allows for a wait, and for a reading where the kernel is asked each time. */
    static final long CPU_BOUND_NANOS = 1_000;

    /** No reading is further off than the longest time between two questions to the kernel, and what these take. */
    static final long LONGEST_LIFE_NANOS = 11_000_000;

    /** In a few seconds a host may take more than it did on average before. */
    private static final int LUCK = 3;

    boolean holds() {
        return readingsHold() && cpuHolds() && sumsHold() && stepsHold() && splitHolds() && waitsHold();
    }

    boolean readingsHold() {
        return readings > 0 && unknownReadings == 0;
    }

    boolean cpuHolds() {
        if (cpuBudgetNanos == 0) return cpuErrorP9999Nanos < CPU_BOUND_NANOS;
        return cpuErrorMeanNanos <= LUCK * cpuBudgetNanos && cpuErrorMaxNanos <= LONGEST_LIFE_NANOS;
    }

    boolean sumsHold() {
        return sumErrors == 0;
    }

    boolean stepsHold() {
        return backwardSteps == 0;
    }

    boolean splitHolds() {
        return splitErrorMaxNanos == null || splitBoundNanos == null || splitErrorMaxNanos <= splitBoundNanos;
    }

    boolean waitsHold() {
        return blockedNanosCounted <= waits * CPU_BOUND_NANOS;
    }
}
