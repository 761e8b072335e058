// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.time.Duration;

/**
 * Keeps the CPU time that profiles cost a JVM below a share of one core: longer profiles need to be started less often,
 * a longer period takes fewer samples, and if that is not enough, there are pauses.
 */
final class ProfileBudget {
    /** The CPU time between two samples at best. */
    private static final Duration PERIOD = Duration.ofMillis(20);

    private static final int MAX_FACTOR = 16;
    private static final int MAX_MINUTES = 5;

    /** If a profile costs less than this part of what it may, the next one is finer. */
    private static final int ROOM = 4;

    private final double share;

    /** 1, 2, 4, and so on. */
    private int factor = 1;

    /** @param share of one core */
    ProfileBudget(double share) {
        this.share = share;
    }

    Duration period() {
        return PERIOD.multipliedBy(factor);
    }

    int minutes() {
        return Math.min(factor, MAX_MINUTES);
    }

    /**
     * Counts a profile.
     *
     * @param costNanos the CPU time that it cost the JVM
     * @return how long to pause, so that the share is kept on average
     */
    Duration add(Duration length, long costNanos) {
        long needed = (long) (costNanos / share);
        long pause = needed - length.toNanos();
        if (pause > 0) factor = Math.min(MAX_FACTOR, 2 * factor);
        else if (ROOM * needed < length.toNanos()) factor = Math.max(1, factor / 2);
        return Duration.ofNanos(Math.max(0, pause));
    }
}
