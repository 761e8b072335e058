// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.Gson;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "accuracy",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the accuracy of user and system time on workloads whose CPU times are known.",
            "Requires the native library."
        })
final class AccuracyExperiment extends ExperimentCommand {
    static final String BEGIN = "<!-- accuracy: written by taskclock experiment accuracy --markdown -->\n";
    static final String END = "<!-- accuracy: end -->\n";

    private static final Gson GSON = new Gson();

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = SecondsConverter.class,
            defaultValue = "3s",
            description = "How long to run each of the nine workloads (default: 3s).")
    private double seconds;

    @Option(
            names = "--markdown",
            paramLabel = "FILE",
            description = "Also update the tables between the markers in FILE, such as docs/accuracy.md. Requires -o.")
    private Path markdown;

    private final Map<String, List<AccuracyResult>> byJdk = new LinkedHashMap<>();

    @Override
    int steps(List<Jdk> homes) {
        return homes.size();
    }

    @Override
    List<String> options() {
        return List.of("--for", seconds + "s");
    }

    @Override
    void measure(List<Jdk> homes)
            throws LabException, MeasurementInterruptedException, IOException, InterruptedException {
        checkSeconds(0.1, seconds);
        if (markdown != null) {
            if (output() == null)
                throw new LabException("--markdown: requires -o FILE, because the document links to the result");
            betweenMarkers(Files.readString(markdown));
        }
        for (Jdk home : homes) {
            progress(home + ": " + Workload.values().length + " workloads");
            List<AccuracyResult> results = new ArrayList<>();
            byJdk.put(home.version(), results);
            new ExperimentJvm(home)
                    .run(
                            interruption(),
                            line -> results.add(GSON.fromJson(line, AccuracyResult.class)),
                            AccuracyBenchmark.class,
                            "--json",
                            "--seconds",
                            Double.toString(seconds));
        }
        if (markdown != null) updateDocument();
    }

    @Override
    void report(ResultBuilder report) {
        report.method.add("Each workload runs for " + seconds
                + " s, after a warm-up with all workloads. The precise clock is read before and after each burst of "
                + "user or system time; the sums are the true values. All readers read at the start and end of the "
                + "workload.");
        report.tables.add(AccuracyTables.userErrors(byJdk));
        report.tables.add(AccuracyTables.systemErrors(byJdk));
        report.tables.add(AccuracyTables.lowestSystemTimes(byJdk));
        byJdk.forEach((jdk, results) -> report.bars.add(AccuracyTables.bars(jdk, results)));
        report.findings.addAll(AccuracyTables.findings(byJdk, TaskClock.status().tickNanos()));
    }

    private void updateDocument() throws LabException, IOException {
        String text = Files.readString(markdown);
        Path directory = markdown.toAbsolutePath().normalize().getParent();
        Path result = directory.relativize(output().toAbsolutePath().normalize());
        String tables = "From [" + result.getFileName() + "](" + result + "): " + seconds
                + " s each. The error of user time, in percent of the CPU time used; the error of system time has "
                + "the same size and the opposite sign. Stock is `ThreadMXBean`.\n"
                + AccuracyTables.markdown(byJdk);
        int[] range = betweenMarkers(text);
        Files.writeString(markdown, text.substring(0, range[0]) + tables + text.substring(range[1]));
    }

    /** Returns the start and end of the text between the markers. */
    private int[] betweenMarkers(String text) throws LabException {
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin >= 0 && end > begin) return new int[] {begin + BEGIN.length(), end};
        throw new LabException("--markdown " + markdown + ": no markers: put these lines around the tables: "
                + BEGIN.trim() + " and " + END.trim());
    }
}
