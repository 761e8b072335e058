// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Comparator;
import java.util.List;
import org.taskclock.metrics.AccountKey;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * The sections of named accounts that have been open longest. It is not known how long those have been open that the
 * last report has found for the first time, so they are left out.
 */
final class OpenSections {
    static final String TITLE = CellFormat.padLeft("OPEN s", 9)
            + CellFormat.padLeft("CPU s", 9)
            + "  "
            + CellFormat.padRight("ACCOUNT", 32)
            + " THREAD";

    private static final int ACCOUNT_WIDTH = 32;

    /** A section, and the process id of its JVM. */
    record Row(int pid, AgentReport.Section section) {
        String account() {
            return new AccountKey(section.type(), section.name()).pool();
        }

        String text() {
            return CellFormat.padLeft(CellFormat.time(section.openNanos() / 1e9), 9)
                    + CellFormat.padLeft(CellFormat.time(section.cpuNanos() / 1e9), 9)
                    + "  "
                    + CellFormat.padRight(CellFormat.sanitize(account()), ACCOUNT_WIDTH)
                    + " "
                    + CellFormat.sanitize(section.thread())
                    + (section.tid() > 0 ? " (" + section.tid() + ")" : " (virtual)");
        }

        /** Returns the thread; null for a virtual thread, and for one that has ended. */
        ThreadUsage thread(List<Interval> intervals) {
            for (Interval interval : intervals)
                if (interval.pid() == pid)
                    for (ThreadUsage thread : interval.threads())
                        if (thread.tid() == section.tid() && thread.tid() != 0) return thread;
            return null;
        }
    }

    private OpenSections() {}

    /** Returns the titles of the columns, or why there are no rows. */
    static String title(ViewState view) {
        if (!view.sections.isEmpty() || view.intervals.isEmpty()) return TITLE;
        if (view.isRecording) return "Open sections are not recorded";
        Interval first = view.intervals.get(0);
        return view.history.hasAccounts() ? TITLE : AccountRows.absence(first, "press A");
    }

    /** Returns the rows of one JVM. */
    static List<Row> rows(int pid, List<AgentReport.Section> sections) {
        return sections.stream()
                .filter(section -> section.openNanos() > 0)
                .map(section -> new Row(pid, section))
                .toList();
    }

    /** Returns at most so many rows, the longest first. */
    static List<Row> longest(List<Row> rows, int limit) {
        return rows.stream()
                .sorted(Comparator.comparingLong((Row row) -> row.section().openNanos())
                        .thenComparingLong(row -> row.section().cpuNanos())
                        .reversed())
                .limit(limit)
                .toList();
    }
}
