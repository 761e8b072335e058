// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import org.taskclock.metrics.PoolKey;
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
    public PoolKey key() {
        return new PoolKey(pool, kind);
    }

    public EndedPool plus(EndedPool other) {
        return new EndedPool(
                pool, kind, threads + other.threads, totalNanos + other.totalNanos, watchedNanos + other.watchedNanos);
    }
}
