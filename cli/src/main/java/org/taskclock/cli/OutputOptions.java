// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSum;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ThreadUsage;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The output options shared by {@code top} and {@code replay}. */
final class OutputOptions {
    private static final int DEFAULT_LIMIT = 30;

    /** The number of open sections in text. */
    private static final int MAX_SECTIONS = 5;

    @Option(
            names = {"-b", "--batch"},
            description = "Print plain text, even on a terminal.")
    private boolean batch;

    @Option(names = "--json", description = "Print one line with a JSON object for each thread and interval.")
    private boolean json;

    @Option(names = "--csv", description = "Print comma-separated values, one line for each thread and interval.")
    private boolean csv;

    @Option(names = "--no-color", description = "Do not use colors. NO_COLOR in the environment has the same effect.")
    private boolean noColor;

    @Option(
            names = "--limit",
            paramLabel = "N",
            description = "Show at most N threads, or accounts of each type (default: 30 in text output, otherwise all;"
                    + " 0 for all).")
    private Integer limit;

    @Option(
            names = {"-a", "--all"},
            description = "Include idle threads. JSON and CSV always include those that wait for a lock.")
    private boolean includeIdle;

    @Option(
            names = {"-f", "--filter"},
            paramLabel = "REGEX",
            description = "Show only threads whose name or pool contains a match, ignoring case, or whose id matches."
                    + " An account is called TYPE=NAME.")
    private String filter;

    @Option(names = "--accounts", description = "Show named accounts, such as tenants, instead of threads.")
    private boolean accounts;

    private Pattern filterPattern;

    void validate(CommandSpec spec) {
        if (json && csv) throw new ParameterException(spec.commandLine(), "--json and --csv cannot be combined");
        if (limit != null) checkLimit(spec, limit);
        try {
            if (filter != null) Pattern.compile(filter); // fails if it is invalid
            filterPattern = filter == null ? null : TableModel.pattern(filter);
        } catch (PatternSyntaxException e) {
            throw new ParameterException(spec.commandLine(), "--filter " + filter + ": " + e.getDescription());
        }
    }

    /** Checks the option --limit of a command. */
    static void checkLimit(CommandSpec spec, int limit) {
        if (limit < 0) throw new ParameterException(spec.commandLine(), "--limit " + limit + ": must be at least 0");
    }

    /** Returns whether the terminal UI may be used. */
    boolean isForTerminal() {
        return !batch && isText();
    }

    /** Returns whether the output contains Java states, locks, and allocation. */
    boolean showsJavaStatus() {
        return json || csv;
    }

    boolean isColored() {
        return !noColor && System.getenv("NO_COLOR") == null && !Main.isDumbTerminal();
    }

    /** Writes text from {@link #header} or {@link #format} to standard output. */
    void print(String text) throws IOException {
        if (json || csv) Main.printUtf8(text);
        else Main.print(text);
    }

    TerminalUi.Options terminalUi(double seconds, int count, ThreadColumn sort) {
        return new TerminalUi.Options(
                seconds, count, !noColor, sort, filter == null ? "" : filter, limit == null ? 0 : limit, accounts);
    }

    /** Returns the text that precedes all intervals. */
    String header() {
        return csv ? RowFormat.csvHeader() : "";
    }

    String format(Interval interval, ThreadColumn sort, TopText text) throws IOException {
        return format(List.of(interval), List.of(), sort, text);
    }

    /**
     * Formats the intervals of several JVMs that ended at the same time as one table, with the sections that were open
     * then if the table is of accounts.
     */
    String format(List<Interval> intervals, List<OpenSections.Row> sections, ThreadColumn sort, TopText text)
            throws IOException {
        List<ThreadUsage> threads = select(intervals, sort);
        List<OpenSections.Row> open = accounts ? select(sections) : List.of();
        if (isText()) return text.format(intervals, threads, open);
        StringBuilder rows = new StringBuilder();
        for (ThreadUsage thread : threads)
            rows.append(format(RowFormat.row(TopText.intervalOf(thread.pid(), intervals), thread)));
        for (OpenSections.Row section : open)
            rows.append(format(RowFormat.row(TopText.intervalOf(section.pid(), intervals), section.section())));
        return rows.toString();
    }

    private String format(Map<String, Object> row) throws IOException {
        return json ? RowFormat.json(row) : RowFormat.csv(row);
    }

    boolean isText() {
        return !json && !csv;
    }

    /** Returns the averages over all intervals of each JVM as text; nothing if there is only one interval. */
    String formatAverage(Collection<IntervalSum> sums, ThreadColumn sort, TopText text) {
        List<IntervalSum> several = sums.stream().filter(sum -> sum.count() > 1).toList();
        if (several.isEmpty()) return "";
        List<Interval> averages = several.stream().map(IntervalSum::interval).toList();
        List<Integer> counts = several.stream().map(IntervalSum::count).toList();
        return text.formatAverage(averages, counts, select(averages, sort));
    }

    boolean showsAccounts() {
        return accounts;
    }

    /** Returns the sections to show, the longest first. */
    private List<OpenSections.Row> select(List<OpenSections.Row> sections) {
        List<OpenSections.Row> matching = sections.stream()
                .filter(row -> filterPattern == null
                        || filterPattern.matcher(row.account()).find()
                        || filterPattern.matcher(row.section().thread()).find())
                .toList();
        int max = limit != null && limit > 0 ? limit : matching.size();
        return OpenSections.longest(matching, isText() ? Math.min(max, MAX_SECTIONS) : max);
    }

    /** Returns the threads or accounts to show, in order. */
    private List<ThreadUsage> select(List<Interval> intervals, ThreadColumn sort) {
        int maxRows = limit != null ? limit : json || csv ? 0 : DEFAULT_LIMIT;
        List<TableModel.Row> rows = new ArrayList<>();
        for (Interval interval : intervals)
            for (ThreadUsage thread : accounts ? interval.accounts() : interval.threads())
                rows.add(TableModel.Row.of(interval, thread));
        rows = rows.stream()
                .filter(row -> includeIdle
                        || row.thread().cpuNanos() > 0
                        || row.thread().java().contended())
                .filter(row -> filterPattern == null || TableModel.matches(row.thread(), filterPattern))
                .sorted(AccountRows.order(TableModel.order(sort)))
                .toList();
        return TableModel.limit(rows, maxRows).stream()
                .map(TableModel.Row::thread)
                .toList();
    }
}
