// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

/**
 * Deals a growing total out to intervals, so that nothing is lost or told twice: what an interval cannot hold is left to the next, and
 * a total that goes back is waited for.
 */
final class Steered {
    private long told;

    Steered(long start) {
        told = start;
    }

    /** What of the total falls to this interval, at most so much. */
    long advance(long total, long most) {
        long more = Math.max(0, Math.min(total - told, most));
        told += more;
        return more;
    }
}
