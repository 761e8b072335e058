// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.TaskClock;
import org.taskclock.benchmarks.AccuracyBenchmark;
import org.taskclock.benchmarks.AccuracyResult;
import org.taskclock.benchmarks.Workload;
import org.taskclock.lab.options.AccuracyOptions;
import picocli.CommandLine.Command;

@Command(name = "accuracy")
final class AccuracyExperiment extends ExperimentCommand<AccuracyOptions> {
    static final String BEGIN = "<!-- accuracy: written by taskclock experiment accuracy --markdown -->\n";
    static final String END = "<!-- accuracy: end -->\n";

    private final Map<String, List<AccuracyResult>> byJdk = new LinkedHashMap<>();

    AccuracyExperiment() {
        super(new AccuracyOptions());
    }

    @Override
    List<Step> plan(List<Jdk> homes) throws IOException {
        if (options.markdown != null) {
            if (options.output == null)
                throw new LabException("--markdown: requires -o FILE, because the document links to the result");
            betweenMarkers(Files.readString(options.markdown));
        }
        List<Step> steps = new ArrayList<>();
        for (Jdk home : homes) {
            steps.add(new Step(home + ": " + Workload.values().length + " workloads", () -> {
                List<AccuracyResult> results = byJdk.computeIfAbsent(home.version(), unused -> new ArrayList<>());
                jvm(home)
                        .run(
                                AccuracyResult.class,
                                results::add,
                                AccuracyBenchmark.class,
                                "--json",
                                "--seconds",
                                options.seconds());
            }));
        }
        return steps;
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("Each workload runs for " + options.seconds()
                + " s, after a warm-up with all workloads. The precise clock is read before and after each burst of "
                + "user or system time; the sums are the true values. All readers read at the start and end of the "
                + "workload.");
        report.tables.add(AccuracyTables.userErrors(byJdk));
        report.tables.add(AccuracyTables.systemErrors(byJdk));
        report.tables.add(AccuracyTables.lowestSystemTimes(byJdk));
        byJdk.forEach((jdk, results) -> report.bars.add(AccuracyTables.bars(jdk, results)));
        report.findings.addAll(AccuracyTables.findings(byJdk, TaskClock.status().tickNanos()));
    }

    /** Updates the tables in the document. */
    @Override
    void measured() throws IOException {
        if (options.markdown == null) return;
        String text = Files.readString(options.markdown);
        Path directory = options.markdown.toAbsolutePath().normalize().getParent();
        Path result = directory.relativize(options.output.toAbsolutePath().normalize());
        String tables = "From [" + result.getFileName() + "](" + result + "): " + options.seconds()
                + " s each. The error of user time, in percent of the CPU time used; the error of system time has "
                + "the same size and the opposite sign. Stock is `ThreadMXBean`.\n"
                + AccuracyTables.markdown(byJdk);
        int[] range = betweenMarkers(text);
        Files.writeString(options.markdown, text.substring(0, range[0]) + tables + text.substring(range[1]));
    }

    /** Returns the start and end of the text between the markers. */
    private int[] betweenMarkers(String text) throws LabException {
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin >= 0 && end > begin) return new int[] {begin + BEGIN.length(), end};
        throw new LabException("--markdown " + options.markdown + ": no markers: put these lines around the tables: "
                + BEGIN.trim() + " and " + END.trim());
    }
}
