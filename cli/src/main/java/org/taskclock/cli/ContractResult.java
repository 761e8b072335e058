// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

/**
 * The result of a {@link ContractCheck}. The cpu error of a reading is its distance from the interval between two
 * readings of the reference, one before and one after.
 *
 * @param reference name of the reference
 * @param threads number of threads that read the clock concurrently
 * @param readings number of comparisons
 * @param unknownReadings readings of -1 for a live platform thread
 * @param cpuErrorMeanNanos mean cpu error
 * @param cpuBudgetNanos accuracy budget, the bound of the mean cpu error; 0 if each reading asks the kernel
 * @param sumErrors readings in which user and system do not add up to cpu, or one of them is negative
 * @param backwardSteps readings in which cpu, user or system decreased, or that contradict each other
 * @param splitErrorMaxNanos maximum distance of user or system from getrusage; null if that is not available
 * @param splitBoundNanos bound of that distance; null if there is none
 * @param waits number of times that a thread blocked between two readings
 * @param waitedNanos total duration of these waits
 * @param blockedNanosCounted cpu that the clock counted during these waits beyond what the reference counted
 */
record ContractResult(
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

    /** Allowed error of a wait, and of a reading if each reading asks the kernel. */
    static final long CPU_BOUND_NANOS = 1_000;

    /** Allowed error of any reading: the longest time between two kernel readings, plus their cost. */
    static final long MAX_ERROR_NANOS = 11_000_000;

    /** In a check of a few seconds, the host may take more time than its long-term average. */
    private static final int MEAN_TOLERANCE_FACTOR = 3;

    boolean holds() {
        return readingsHold() && cpuHolds() && sumsHold() && stepsHold() && splitHolds() && waitsHold();
    }

    boolean readingsHold() {
        return readings > 0 && unknownReadings == 0;
    }

    boolean cpuHolds() {
        if (cpuBudgetNanos == 0) return cpuErrorP9999Nanos < CPU_BOUND_NANOS;
        return cpuErrorMeanNanos <= MEAN_TOLERANCE_FACTOR * cpuBudgetNanos && cpuErrorMaxNanos <= MAX_ERROR_NANOS;
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
