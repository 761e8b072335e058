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
import org.taskclock.watch.Comparison;
import org.taskclock.watch.Comparison.Change;
import org.taskclock.watch.Recording;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "diff",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Names the pools and threads whose CPU time per second differs between two recordings.",
            "A difference counts if it is larger than --least, and than what the intervals within each recording vary by"
                    + " would explain in all but one of 1,000 cases. Recordings of a minute or more tell more than short ones."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock diff before.gz after.gz             what changed with the new version?",
            "  taskclock diff --exit-code before.gz after.gz 3 if something did, for CI",
            "",
            "Exit codes: 0 compared, 1 it failed, 2 wrong usage, 3 something changed, with --exit-code."
        })
final class Diff implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "A", description = "A recording.")
    private Path a;

    @Parameters(index = "1", paramLabel = "B", description = "A later one.")
    private Path b;

    @Option(
            names = "--least",
            paramLabel = "PERCENT",
            defaultValue = "0.5",
            description = "Of one core; smaller differences are none. Default: ${DEFAULT-VALUE}.")
    private double least;

    @Option(names = "--all", description = "Also what did not change.")
    private boolean all;

    @Option(names = "--exit-code", description = "End with 3 if something changed.")
    private boolean exitCode;

    @Option(names = "--json", description = "One object, for programs.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        try (Recording before = Recording.open(a);
                Recording after = Recording.open(b)) {
            for (Recording each : List.of(before, after))
                for (String fault : each.faults()) System.err.println("taskclock: " + fault);
            Comparison comparison = new Comparison(before, after, least / 100);
            if (comparison.secondsBefore() == 0 || comparison.secondsAfter() == 0) {
                return Main.complain(
                        "diff: " + (comparison.secondsBefore() == 0 ? a : b) + ": holds no interval", Main.FAILED);
            }
            List<Change> changes = comparison.changes();
            Main.print(json ? json(comparison, changes) : text(comparison, changes));
            return exitCode && changes.stream().anyMatch(Change::changed) ? Main.THRESHOLD : Main.OK;
        }
    }

    private String text(Comparison comparison, List<Change> changes) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                Locale.ROOT,
                "%s: %.0f s, %s: %.0f s; CPU in %% of one core%n%n",
                a.getFileName(),
                comparison.secondsBefore(),
                b.getFileName(),
                comparison.secondsAfter()));
        text.append(String.format("%9s %9s %9s %9s  %s%n", "A", "B", "change", "of it sys", ""));
        int shown = 0;
        int unjudged = 0;
        for (Change change : changes) {
            boolean process = change.key().kind() == Comparison.Kind.PROCESS;
            if (!change.isJudged() && Math.abs(change.difference()) * 100 >= least) unjudged++;
            if (!change.changed() && !all && !process && change.isJudged()) continue;
            if (!change.isJudged() && !all && !process && Math.abs(change.difference()) * 100 < least) continue;
            text.append(line(change));
            if (!process && change.changed()) shown++;
        }
        text.append('\n');
        if (unjudged > 0) text.append("Too short to judge: less than two intervals in one of them.\n");
        else if (shown == 0) text.append("No pool and no thread changed by more than it varies.\n");
        else text.append("~ where the change is not more than it varies by.\n");
        return text.toString();
    }

    private String line(Change change) {
        double system = change.after() - change.userAfter() - (change.before() - change.userBefore());
        String name =
                switch (change.key().kind()) {
                    case PROCESS -> "process";
                    case POOL -> "pool    " + change.key().name();
                    case THREAD -> "thread  " + change.key().name();
                };
        return String.format(
                Locale.ROOT,
                "%9.1f %9.1f %+9.1f %+9.1f %s %s%s%n",
                change.before() * 100,
                change.after() * 100,
                change.difference() * 100,
                system * 100,
                change.changed() ? " " : change.isJudged() ? "~" : "?",
                name,
                note(change));
    }

    private String note(Change change) {
        if (change.key().threads() == org.taskclock.watch.Row.Kind.VIRTUAL) return " (virtual)";
        if (Math.abs(change.difference()) * 100 < least) return "";
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
            if (!change.changed() && !all && change.isJudged()) continue;
            JsonObject line = new JsonObject();
            line.addProperty("what", change.key().kind().name().toLowerCase(Locale.ROOT));
            line.addProperty("name", change.key().name());
            if (change.key().threads() != null)
                line.addProperty("kind", change.key().threads().name());
            line.addProperty("cpuPercentA", change.before() * 100);
            line.addProperty("cpuPercentB", change.after() * 100);
            line.addProperty("userPercentA", change.userBefore() * 100);
            line.addProperty("userPercentB", change.userAfter() * 100);
            if (change.isJudged()) line.addProperty("errorPercent", change.error() * 100);
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
