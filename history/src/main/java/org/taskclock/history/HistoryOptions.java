// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Duration;

/**
 * How much history is kept.
 *
 * @param keepSeconds how long one row per second is kept
 * @param keepTenSeconds how long one row per ten seconds is kept
 * @param keepMinutes how long one row per minute is kept
 * @param maxBytes the maximum size of the files in bytes; beyond it, the oldest rows are deleted, finer ones first
 */
public record HistoryOptions(Duration keepSeconds, Duration keepTenSeconds, Duration keepMinutes, long maxBytes) {
    /** One hour, one week, one year, and 4 GiB. */
    public static final HistoryOptions DEFAULT =
            new HistoryOptions(Duration.ofHours(1), Duration.ofDays(7), Duration.ofDays(365), 4L << 30);
}
