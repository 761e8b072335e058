// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Stream;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.ColumnUnit;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Formats an interval as plain text. */
final class TopText {
    static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    /** Less important columns are printed only if the threads are sorted by them. */
    private static final int MAX_RANK = 8;

    private static final String BOLD = "1";
    private static final String FAINT = "2";
    private static final String RED = "31";

    private final boolean color;
    private final ThreadColumn sort;
    /** Whether the tables show accounts instead of threads. */
    private final boolean accounts;

    private boolean hasSeenAccounts;
    /** Notes to be shown with the next intervals, in addition to their own. */
    private final List<String> notes = new ArrayList<>();

    /** @param sort the column by which the threads are sorted, which is always printed */
    TopText(boolean color, ThreadColumn sort, boolean accounts) {
        this.color = color;
        this.sort = sort;
        this.accounts = accounts;
    }

    void addNote(String note) {
        notes.add(note);
    }

    /** Returns the interval of a process. */
    static Interval intervalOf(int pid, List<Interval> intervals) {
        for (Interval interval : intervals) if (interval.pid() == pid) return interval;
        return intervals.get(0);
    }

    /**
     * Formats the intervals of one or more JVMs as one table, which has a column for the process if there are several.
     */
    String format(List<Interval> intervals, List<ThreadUsage> threads, List<OpenSections.Row> sections) {
        StringBuilder text = new StringBuilder();
        for (Interval interval : intervals) header(text, interval, TIME.format(interval.end()), "");
        return format(text, intervals, threads, sections);
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
        return format(text, sums, threads, List.of());
    }

    private String format(
            StringBuilder text, List<Interval> intervals, List<ThreadUsage> threads, List<OpenSections.Row> sections) {
        boolean several = intervals.size() > 1;
        List<ThreadColumn> columns = columns(several, threads);
        line(text, BOLD, row(columns, column -> column.title));
        for (ThreadUsage thread : threads) {
            Interval interval = intervalOf(thread.pid(), intervals);
            String style = AccountRows.isRest(thread) ? FAINT : "";
            line(text, style, row(columns, column -> cell(column, thread, interval)));
        }
        if (!sections.isEmpty()) line(text, BOLD, OpenSections.TITLE);
        for (OpenSections.Row section : sections) line(text, "", section.text());
        int hidden = -threads.size();
        for (Interval interval : intervals) {
            hidden += usages(interval).size();
            String process = several ? interval.pid() + ": " : "";
            for (Finding finding : interval.findings()) {
                line(text, RED, "! " + process + finding.kind() + ": " + finding.text());
                for (String evidence : finding.evidence()) line(text, "", "    " + evidence);
            }
            for (String note : interval.notes()) line(text, "", "* " + process + note);
            hasSeenAccounts |= !interval.accounts().isEmpty();
            if (accounts && !hasSeenAccounts) line(text, "", "* " + AccountRows.absence(interval));
        }
        for (String note : notes) line(text, "", "* " + note);
        notes.clear();
        Interval last = intervals.get(intervals.size() - 1);
        int all = intervals.stream()
                .flatMap(interval -> usages(interval).stream())
                .mapToInt(TopText::count)
                .sum();
        line(
                text,
                "",
                String.format(
                        Locale.ROOT,
                        "%s%s; taskclock used %.1f %% of one core",
                        count(all, accounts ? "account" : "thread"),
                        hidden > 0 ? ", " + count(hidden, "row") + " not shown" : "",
                        last.percent(last.totals().ownNanos())));
        return text.append('\n').toString();
    }

    private static String count(int number, String noun) {
        return String.format(Locale.ROOT, "%,d %s%s", number, noun, number == 1 ? "" : "s");
    }

    private List<ThreadUsage> usages(Interval interval) {
        return accounts ? interval.accounts() : interval.threads();
    }

    private static int count(ThreadUsage usage) {
        return switch (usage.kind()) {
            case VIRTUAL -> 0;
            case ACCOUNT -> AccountRows.isRest(usage) ? 0 : 1;
            default -> usage.threads();
        };
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
        if (totals.virtualThreads().isKnown())
            line(text, "", "virtual threads: " + VirtualThreadText.format(totals.virtualThreads()));
    }

    /** Returns the columns to print: first those with numbers, then those with text. */
    private List<ThreadColumn> columns(boolean several, List<ThreadUsage> threads) {
        return Stream.of(ThreadColumn.values())
                .filter(column -> switch (column) {
                    case PID -> several;
                    // The interactive view shows the kind as a color.
                    case KIND -> !accounts;
                    case BAR, RECENT, RISE -> false;
                    case TIME -> accounts || column == sort;
                    case P50, P99 -> column == sort || threads.stream().anyMatch(thread -> column.amount(thread) >= 0);
                    default ->
                        column.rank <= MAX_RANK
                                || column == sort
                                || (sort.isJavaStatus() && column.isJavaStatus() && !column.hasText());
                })
                .filter(column -> column.isOf(accounts))
                .sorted(Comparator.comparing(ThreadColumn::hasText))
                .toList();
    }

    private static String row(List<ThreadColumn> columns, Function<ThreadColumn, String> cells) {
        StringBuilder row = new StringBuilder();
        for (ThreadColumn column : columns) {
            String cell = cells.apply(column);
            String format =
                    switch (column.unit) {
                        case STATE -> "%s ";
                        case TEXT -> column == ThreadColumn.NAME ? "%s" : "%-" + (column.width + 1) + "s ";
                        case ID -> "%" + column.width + "s ";
                        case RATE -> "%" + (column.width + 3) + "s ";
                        default -> "%" + (column.width + 1) + "s ";
                    };
            row.append(String.format(Locale.ROOT, format, cell));
        }
        return row.toString();
    }

    private static String cell(ThreadColumn column, ThreadUsage thread, Interval interval) {
        double value = column.value(thread, interval);
        return switch (column.unit) {
            case ID -> value == 0 ? "-" : Long.toString((long) value);
            case STATE, TEXT -> column == ThreadColumn.NAME ? name(thread) : column.text(thread);
            case BYTES -> HeapText.bytes(Math.round(value));
            case SECONDS -> CellFormat.time(value);
            case DURATION -> CellFormat.duration(value);
            default ->
                value < 0 ? "-" : String.format(Locale.ROOT, column.unit == ColumnUnit.RATE ? "%.0f" : "%.1f", value);
        };
    }

    private static String name(ThreadUsage thread) {
        String mark = thread.truncated() && thread.name().length() >= 15 ? "~" : "";
        if (thread.kind() == ThreadKind.ACCOUNT) return thread.name();
        String count = thread.threads() == 1 ? "" : String.format(Locale.ROOT, " (%,d)", thread.threads());
        return thread.name() + mark + count;
    }

    /** Adds a line. Names of programs and threads may contain line breaks and escape sequences. */
    private void line(StringBuilder text, String style, String content) {
        String line = CellFormat.sanitize(content);
        if (!color || style.isEmpty()) text.append(line).append('\n');
        else text.append("\u001b[").append(style).append('m').append(line).append("\u001b[m\n");
    }
}
