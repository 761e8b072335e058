// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

/**
 * What processes used in one interval.
 *
 * @param processNanos the JVM with all its threads, those that came and went too
 * @param containerNanos all processes of its control group; -1 if it is in none, or that cannot be read
 * @param containerCores what they may use at most; 0 if there is no limit
 * @param throttledNanos for how long they were kept from running by that limit; -1 if not known
 * @param machineNanos all processes
 * @param ownNanos this tool
 */
public record Totals(
        long processNanos,
        long processUserNanos,
        long containerNanos,
        double containerCores,
        long throttledNanos,
        long machineNanos,
        int processors,
        long ownNanos) {}
