// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** What of an interval is shown, and how: options that top and replay have in common. */
final class Shown {
    private static final int MOST_IN_TABLE = 30;

    @Option(
            names = {"-b", "--batch"},
            description = "Plain text, also on a terminal.")
    private boolean batch;

    @Option(names = "--json", description = "One JSON object a line for each thread and interval.")
    private boolean json;

    @Option(names = "--csv", description = "The same as comma-separated values.")
    private boolean csv;

    @Option(names = "--no-color", description = "No colors, as with NO_COLOR in the environment.")
    private boolean noColor;

    @Option(
            names = "--top",
            paramLabel = "N",
            description = "At most so many threads: 30 in the table unless given, 0 for all.")
    private Integer most;

    @Option(
            names = {"-a", "--all"},
            description = "Threads that used nothing, too.")
    private boolean all;

    @Option(
            names = {"-f", "--filter"},
            paramLabel = "REGEX",
            description = "Threads whose name holds this.")
    private String filter;

    private Pattern wanted;

    void check(CommandSpec spec) {
        if (json && csv) throw new ParameterException(spec.commandLine(), "--json or --csv, not both");
        if (most != null && most < 0) throw new ParameterException(spec.commandLine(), "--top " + most + ": 0 or more");
        try {
            wanted = filter == null ? null : Pattern.compile(filter);
        } catch (PatternSyntaxException e) {
            throw new ParameterException(spec.commandLine(), "--filter " + filter + ": " + e.getDescription());
        }
    }

    /** Whether a terminal is to be made use of, if there is one. */
    boolean isForTerminal() {
        return !batch && !json && !csv;
    }

    boolean isColored() {
        return !noColor && System.getenv("NO_COLOR") == null;
    }

    Screen.Options screen(double seconds, int count, Column sort) {
        return new Screen.Options(
                seconds, count, !noColor, sort, filter == null ? "" : filter, most == null ? 0 : most);
    }

    /** What stands above all intervals. */
    String head() {
        return csv ? RowFormat.csvHeader() : "";
    }

    String of(Frame frame, Comparator<Row> order, TopText text) throws IOException {
        int limit = most != null ? most : json || csv ? 0 : MOST_IN_TABLE;
        List<Row> rows = frame.rows().stream()
                .filter(row -> all || row.cpuNanos() > 0)
                .filter(row -> wanted == null || wanted.matcher(row.name()).find())
                .sorted(order)
                .limit(limit == 0 ? Long.MAX_VALUE : limit)
                .toList();
        return json ? RowFormat.json(frame, rows) : csv ? RowFormat.csv(frame, rows) : text.of(frame, rows);
    }
}
