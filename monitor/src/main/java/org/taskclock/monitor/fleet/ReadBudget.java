// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

/**
 * A limit on the CPU time for reading threads that hardly run, as a share of one core. It saves up to one second's
 * worth. Confined to one thread at a time.
 */
final class ReadBudget {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final double share;
    private double availableNanos;
    private long refilledAt;

    ReadBudget(double share, long now) {
        this.share = share;
        availableNanos = share * NANOS_PER_SECOND;
        refilledAt = now;
    }

    /** Returns whether a reading may begin. It may then take longer, which delays the next one. */
    boolean isAvailable(long now) {
        availableNanos = Math.min(share * NANOS_PER_SECOND, availableNanos + share * (now - refilledAt));
        refilledAt = now;
        return availableNanos > 0;
    }

    void charge(long cpuNanos) {
        availableNanos -= cpuNanos;
    }
}
