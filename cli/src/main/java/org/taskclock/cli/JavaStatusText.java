// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.JavaStatus;

/** Formats the Java state of a thread and the lock that it waits for. */
final class JavaStatusText {
    private JavaStatusText() {}

    /** Returns lines that describe the status of one thread. */
    static List<String> details(JavaStatus status, Interval interval) {
        List<String> lines = new ArrayList<>();
        if (status.state() != null) {
            String line = status.stateName();
            if (!status.lockClass().isEmpty()) {
                line += (status.contended() ? ", waits to acquire " : ", waits on ") + status.lockClass() + " "
                        + status.lockId();
            }
            if (status.contended()) {
                line += status.ownerTid() == 0
                        ? ", owner unknown"
                        : ", held by \"" + status.owner() + "\", thread " + status.ownerTid();
            }
            lines.add(line);
        }
        if (interval == null) return lines;
        if (status.blockedNanos() >= 0) {
            lines.add("waited for locks " + CellFormat.number(interval.percent(status.blockedNanos()))
                    + " % of the interval, otherwise waited or slept "
                    + CellFormat.number(interval.percent(status.waitedNanos())) + " % (estimated from stack samples)");
        }
        if (status.allocatedBytes() >= 0) {
            lines.add(
                    "allocated " + HeapText.bytes(Math.round(status.allocatedBytes() * 1e9 / interval.intervalNanos()))
                            + " per second");
        }
        return lines;
    }
}
