// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.Comparison;
import org.taskclock.monitor.recording.Comparison.Change;
import org.taskclock.monitor.recording.Recording;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "diff",
        description = {
            "Compare two recordings and list the pools, threads, and named accounts whose CPU usage changed.",
            "A change counts if it is at least --threshold and statistically significant at the 0.1 %% level."
                    + " Recordings of a minute or more give better results.",
            "With --threshold, the exit code is 3 if something changed."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock diff before.gz after.gz                 what changed?",
            "  taskclock diff --threshold 5%% before.gz after.gz  exit code 3 on a change",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 3 something changed (with --threshold)."
        })
final class DiffCommand implements Callable<Integer> {
    private static final String UNCHANGED = "~";
    private static final double DEFAULT_THRESHOLD_PERCENT = 0.5;

    @Parameters(index = "0", paramLabel = "A", description = "Baseline recording.")
    private Path a;

    @Parameters(index = "1", paramLabel = "B", description = "Recording to compare with A.")
    private Path b;

    @Option(
            names = "--threshold",
            paramLabel = "PERCENT",
            converter = UnitConverters.PercentConverter.class,
            description =
                    "Ignore changes smaller than this, in percent of one core (default: 0.5), and exit with code 3"
                            + " if there are others.")
    private Double threshold;

    @Option(names = "--all", description = "List unchanged pools and threads too.")
    private boolean showAll;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        try (Recording before = Recording.open(a);
                Recording after = Recording.open(b)) {
            for (Recording recording : List.of(before, after))
                for (String fault : recording.faults()) System.err.println("taskclock: " + fault);
            Comparison comparison = new Comparison(before, after, thresholdPercent() / 100);
            if (comparison.secondsBefore() == 0 || comparison.secondsAfter() == 0) {
                return Main.fail("diff: " + (comparison.secondsBefore() == 0 ? a : b) + ": no intervals", Main.FAILED);
            }
            List<Change> changes = comparison.changes();
            if (json) Main.printUtf8(json(comparison, changes));
            else Main.print(text(comparison, changes));
            return isThresholdGiven() && changes.stream().anyMatch(Change::changed) ? Main.THRESHOLD : Main.OK;
        }
    }

    private boolean isThresholdGiven() {
        return threshold != null;
    }

    private double thresholdPercent() {
        return threshold == null ? DEFAULT_THRESHOLD_PERCENT : threshold;
    }

    private String text(Comparison comparison, List<Change> changes) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "A: %s, %.0f s%nB: %s, %.0f s%nCPU in %% of one core%n%n",
                a.getFileName(),
                comparison.secondsBefore(),
                b.getFileName(),
                comparison.secondsAfter()));
        text.append(String.format("%9s %9s %9s %10s%n", "A", "B", "change", "sys change"));
        List<Change> lines = changes.stream().filter(this::isIncluded).toList();
        for (Change change : lines) text.append(line(change));
        String legend = legend(lines);
        return text + (legend.isEmpty() ? "" : "\n" + legend);
    }

    private static String legend(List<Change> lines) {
        StringBuilder legend = new StringBuilder();
        if (!lines.stream().allMatch(Change::isErrorKnown))
            legend.append("Too short to compare: one of the recordings has fewer than two intervals.\n");
        else if (lines.stream().noneMatch(change -> change.changed() && !isProcess(change)))
            legend.append("No significant change in any pool or thread.\n");
        if (lines.stream().anyMatch(change -> mark(change).equals(UNCHANGED)))
            legend.append(UNCHANGED).append(" marks a change that is below --threshold or not significant.\n");
        return legend.toString();
    }

    private boolean isIncluded(Change change) {
        if (showAll || isProcess(change)) return true;
        return change.isErrorKnown() ? change.changed() : isLarge(change);
    }

    private static boolean isProcess(Change change) {
        return change.key().kind() == Comparison.Kind.PROCESS;
    }

    private boolean isLarge(Change change) {
        return Math.abs(change.difference()) * 100 >= thresholdPercent();
    }

    private static String mark(Change change) {
        if (!change.isErrorKnown()) return "?";
        return change.changed() ? " " : UNCHANGED;
    }

    private String line(Change change) {
        double system = change.after() - change.userAfter() - (change.before() - change.userBefore());
        String name =
                switch (change.key().kind()) {
                    case PROCESS -> "process";
                    case POOL -> "pool    " + CellFormat.sanitize(change.key().name());
                    case THREAD -> "thread  " + CellFormat.sanitize(change.key().name());
                    case ACCOUNT ->
                        "account " + CellFormat.sanitize(change.key().name());
                };
        return String.format(
                Locale.ROOT,
                "%9.1f %9.1f %+9.1f %+10.1f %s %s%s%n",
                change.before() * 100,
                change.after() * 100,
                change.difference() * 100,
                system * 100,
                mark(change),
                name,
                note(change));
    }

    private String note(Change change) {
        if (change.key().threadKind() == ThreadKind.VIRTUAL) return " (virtual)";
        if (!isLarge(change)) return "";
        return change.before() == 0 ? " (new)" : change.after() == 0 ? " (gone)" : "";
    }

    private String json(Comparison comparison, List<Change> changes) {
        JsonObject object = new JsonObject();
        object.addProperty("a", a.toString());
        object.addProperty("b", b.toString());
        object.addProperty("secondsA", comparison.secondsBefore());
        object.addProperty("secondsB", comparison.secondsAfter());
        JsonArray list = new JsonArray();
        for (Change change : changes) {
            if (!change.changed() && !showAll && change.isErrorKnown()) continue;
            JsonObject line = new JsonObject();
            line.addProperty("what", change.key().kind().name().toLowerCase(Locale.ROOT));
            line.addProperty("name", change.key().name());
            if (change.key().threadKind() != null)
                line.addProperty("kind", change.key().threadKind().name());
            line.addProperty("cpuPercentA", change.before() * 100);
            line.addProperty("cpuPercentB", change.after() * 100);
            line.addProperty("userPercentA", change.userBefore() * 100);
            line.addProperty("userPercentB", change.userAfter() * 100);
            if (change.isErrorKnown()) line.addProperty("errorPercent", change.error() * 100);
            line.addProperty("changed", change.changed());
            list.add(line);
        }
        object.add("changes", list);
        return new GsonBuilder()
                        .setPrettyPrinting()
                        .disableHtmlEscaping()
                        .create()
                        .toJson(object) + "\n";
    }
}
