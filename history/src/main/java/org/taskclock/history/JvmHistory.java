// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;

/**
 * A JVM that was running in a time range.
 *
 * @param firstSeen when it was first measured, which may be before the range
 * @param lastSeen when it was last measured, which may be after the range
 * @param cpuNanos what it used in the range
 */
public record JvmHistory(JvmKey jvm, Instant firstSeen, Instant lastSeen, long cpuNanos) {}
