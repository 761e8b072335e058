// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Formats an interval as plain text. */
final class TopText {
    static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    private static final String BOLD = "1";
    private static final String RED = "31";

    private final boolean color;
    private final boolean showsJavaStatus;
    /** Notes to be shown with the next intervals, in addition to their own. */
    private final List<String> notes = new ArrayList<>();

    /** @param showsJavaStatus whether there are columns for allocation and waiting for locks */
    TopText(boolean color, boolean showsJavaStatus) {
        this.color = color;
        this.showsJavaStatus = showsJavaStatus;
    }

    void addNote(String note) {
        notes.add(note);
    }

    /** Returns the interval that a thread's usage belongs to: that of its process. */
    static Interval intervalOf(ThreadUsage thread, List<Interval> intervals) {
        for (Interval interval : intervals) if (interval.pid() == thread.pid()) return interval;
        return intervals.get(0);
    }

    /**
     * Formats the intervals of one or more JVMs as one table, which has a column for the process if there are several.
     */
    String format(List<Interval> intervals, List<ThreadUsage> threads) {
        StringBuilder text = new StringBuilder();
        for (Interval interval : intervals) header(text, interval, TIME.format(interval.end()), "");
        return format(text, intervals, threads);
    }

    /**
     * Formats the sums of intervals, whose percentages are averages.
     *
     * @param counts the number of intervals in each sum
     */
    String formatAverage(List<Interval> sums, List<Integer> counts, List<ThreadUsage> threads) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < sums.size(); i++)
            header(text, sums.get(i), "Average:", String.format(Locale.ROOT, ", %,d intervals", counts.get(i)));
        return format(text, sums, threads);
    }

    private String format(StringBuilder text, List<Interval> intervals, List<ThreadUsage> threads) {
        boolean several = intervals.size() > 1;
        line(
                text,
                BOLD,
                (several ? String.format(Locale.ROOT, "%7s ", "PID") : "")
                        + String.format(
                                Locale.ROOT,
                                "%7s %6s %6s %6s %6s %8s %8s %s%c %-8s %s",
                                "TID",
                                "CPU%",
                                "USER%",
                                "SYS%",
                                "WAIT%",
                                "VOL/s",
                                "INVOL/s",
                                javaStatus("ALLOC/s", "~BLK%"),
                                'S',
                                "KIND",
                                "NAME"));
        for (ThreadUsage thread : threads) thread(text, intervalOf(thread, intervals), thread, several);
        int hidden = -threads.size();
        for (Interval interval : intervals) {
            hidden += interval.threads().size();
            String process = several ? interval.pid() + ": " : "";
            for (Finding finding : interval.findings()) {
                line(text, RED, "! " + process + finding.kind() + ": " + finding.text());
                for (String evidence : finding.evidence()) line(text, "", "    " + evidence);
            }
            for (String note : interval.notes()) line(text, "", "* " + process + note);
        }
        for (String note : notes) line(text, "", "* " + note);
        notes.clear();
        Interval last = intervals.get(intervals.size() - 1);
        line(
                text,
                "",
                String.format(
                        Locale.ROOT,
                        "%,d threads%s; taskclock used %.1f %% of one core",
                        intervals.stream()
                                .flatMap(interval -> interval.threads().stream())
                                .mapToInt(r -> r.kind() == ThreadKind.VIRTUAL ? 0 : r.threads())
                                .sum(),
                        hidden > 0 ? String.format(Locale.ROOT, ", %,d rows not shown", hidden) : "",
                        last.percent(last.totals().ownNanos())));
        return text.append('\n').toString();
    }

    private void header(StringBuilder text, Interval interval, String label, String length) {
        ProcessUsage totals = interval.totals();
        line(
                text,
                BOLD,
                String.format(
                        Locale.ROOT,
                        "%s  %s (%d), %.1f s%s%s",
                        label,
                        interval.name(),
                        interval.pid(),
                        interval.intervalNanos() / 1e9,
                        length,
                        interval.source().equals("agent") ? ", with the agent" : ""));
        long system = totals.processNanos() - totals.processUserNanos();
        StringBuilder summary = new StringBuilder(String.format(
                Locale.ROOT,
                "process %.1f %% (user %.1f, system %.1f)",
                interval.percent(totals.processNanos()),
                interval.percent(totals.processUserNanos()),
                interval.percent(system)));
        if (totals.containerCores() > 0) {
            summary.append(String.format(
                    Locale.ROOT,
                    " = %.0f %% of the limit",
                    interval.percent(totals.processNanos()) / totals.containerCores()));
        }
        if (totals.containerNanos() >= 0 || totals.containerCores() > 0) {
            summary.append(", container");
            if (totals.containerNanos() >= 0) {
                summary.append(String.format(Locale.ROOT, " %.1f %%", interval.percent(totals.containerNanos())));
            }
            if (totals.containerCores() > 0) {
                summary.append(String.format(Locale.ROOT, " of %.0f %%", 100 * totals.containerCores()));
            }
            if (totals.throttledNanos() > 0) {
                summary.append(
                        String.format(Locale.ROOT, ", throttled %.1f %%", interval.percent(totals.throttledNanos())));
            }
        }
        if (totals.machineNanos() >= 0) {
            String split = totals.machineUserNanos() < 0
                    ? ""
                    : String.format(
                            Locale.ROOT,
                            " (user %.1f, system %.1f)",
                            interval.percent(totals.machineUserNanos()),
                            interval.percent(totals.machineNanos() - totals.machineUserNanos()));
            summary.append(String.format(
                    Locale.ROOT,
                    ", machine %.1f of %d %%%s",
                    interval.percent(totals.machineNanos()),
                    100 * totals.processors(),
                    split));
        }
        line(text, "", summary.toString());
        if (totals.heap() != null) line(text, "", "heap " + HeapText.format(interval, totals.heap()));
    }

    private void thread(StringBuilder text, Interval interval, ThreadUsage thread, boolean several) {
        double seconds = interval.intervalNanos() / 1e9;
        long allocated = thread.java().allocatedBytes();
        String mark = thread.truncated() && thread.name().length() >= 15 ? "~" : "";
        String count = thread.threads() == 1 ? "" : String.format(Locale.ROOT, " (%,d)", thread.threads());
        line(
                text,
                "",
                (several ? String.format(Locale.ROOT, "%7d ", thread.pid()) : "")
                        + String.format(
                                Locale.ROOT,
                                "%7s %6s %6s %6s %6s %8s %8s %s%c %-8s %s",
                                thread.tid() == 0 ? "-" : Integer.toString(thread.tid()),
                                percent(interval, thread.cpuNanos()),
                                percent(interval, thread.userNanos()),
                                percent(interval, thread.systemNanos()),
                                percent(interval, thread.waitNanos()),
                                rate(thread.voluntary(), seconds),
                                rate(thread.involuntary(), seconds),
                                javaStatus(
                                        HeapText.bytes(allocated < 0 ? -1 : Math.round(allocated / seconds)),
                                        percent(interval, thread.java().blockedNanos())),
                                thread.state(),
                                thread.kindLabel(),
                                thread.name() + mark + count));
    }

    private String javaStatus(String allocation, String blocked) {
        return showsJavaStatus ? String.format(Locale.ROOT, "%8s %6s ", allocation, blocked) : "";
    }

    private static String percent(Interval interval, long nanos) {
        return nanos < 0 ? "-" : String.format(Locale.ROOT, "%.1f", interval.percent(nanos));
    }

    private static String rate(long count, double seconds) {
        return count < 0 ? "-" : String.format(Locale.ROOT, "%.0f", count / seconds);
    }

    /** Adds a line. Names of programs and threads may contain line breaks and escape sequences. */
    private void line(StringBuilder text, String style, String content) {
        String line = CellFormat.sanitize(content);
        if (!color || style.isEmpty()) text.append(line).append('\n');
        else text.append("\u001b[").append(style).append('m').append(line).append("\u001b[m\n");
    }
}
