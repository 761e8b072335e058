// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/**
 * Identifies a pool among those of one JVM.
 *
 * @param pool its name, see {@link org.taskclock.PoolName}
 * @param kind the kind of its threads
 */
public record PoolKey(String pool, ThreadKind kind) {
    /** The pool of CPU time that belongs to no thread that could be read. */
    public static final PoolKey ENDED = new PoolKey("(ended threads)", ThreadKind.NATIVE);
}
