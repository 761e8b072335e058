// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import java.util.List;
import org.taskclock.monitor.finding.FindingKind;

/**
 * The part of an interval that a timeline shows. It takes about 40 bytes, because it is kept for each interval of a
 * recording: 3.5 MB for a day at one interval per second.
 *
 * @param endMillis the end, in milliseconds since 1970
 * @param seconds the length of the interval
 * @param cpuPercent CPU use of the process; 100 is one core; -1 if unknown
 * @param kinds the kinds of its findings
 * @param begins whether it has a finding that the previous interval does not have
 */
public record IntervalSummary(
        long endMillis, float seconds, float cpuPercent, List<FindingKind> kinds, boolean begins) {}
