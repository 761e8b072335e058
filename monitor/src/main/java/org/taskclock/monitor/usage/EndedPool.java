// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import org.taskclock.metrics.ThreadKind;

/**
 * The threads of one pool that ended since watching began.
 *
 * @param pool as in {@link ThreadUsage#pool}
 * @param threads how many have ended
 * @param totalNanos their CPU time since they started, as of the last reading of each
 * @param watchedNanos the part of {@code totalNanos} since watching began
 */
public record EndedPool(String pool, ThreadKind kind, int threads, long totalNanos, long watchedNanos) {
    /** The name of the group of ended threads whose pool is not known, or that are too many to be listed by pool. */
    public static final String UNKNOWN = "(ended threads)";

    /** Identifies a pool among those of one JVM. */
    public record Key(String pool, ThreadKind kind) {}

    public Key key() {
        return new Key(pool, kind);
    }

    public EndedPool plus(EndedPool other) {
        return new EndedPool(
                pool, kind, threads + other.threads, totalNanos + other.totalNanos, watchedNanos + other.watchedNanos);
    }
}
