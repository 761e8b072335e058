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
import org.taskclock.benchmarks.Accuracy;
import org.taskclock.benchmarks.Outcome;
import org.taskclock.benchmarks.Workload;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "accuracy",
        mixinStandardHelpOptions = true,
        description = {
            "How far readers of user and system time are from the truth, on workloads whose bursts are measured one by one.",
            "Needs the native library."
        })
final class AccuracyExperiment extends ExperimentCommand {
    static final String BEGIN = "<!-- accuracy: written by taskclock experiment accuracy --markdown -->\n";
    static final String END = "<!-- accuracy: end -->\n";

    private static final Gson GSON = new Gson();

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "3",
            description = "How long each of the nine workloads runs (default: 3).")
    private double seconds;

    @Option(
            names = "--markdown",
            paramLabel = "FILE",
            description = "Also write the tables anew in a file that has the marks of docs/accuracy.md. Needs -o.")
    private Path markdown;

    private final Map<String, List<Outcome>> byJdk = new LinkedHashMap<>();

    @Override
    int steps(List<Jdk> homes) {
        return homes.size();
    }

    @Override
    List<String> options() {
        return List.of("--seconds", Double.toString(seconds));
    }

    @Override
    void measure(List<Jdk> homes) throws LabException, Interruption.Cut, IOException, InterruptedException {
        atLeast(0.1, seconds);
        if (markdown != null) {
            if (output() == null) throw new LabException("--markdown: no -o FILE: documents quote what is in a file");
            marked(Files.readString(markdown));
        }
        for (Jdk home : homes) {
            progress(home + ": " + Workload.values().length + " workloads");
            List<Outcome> outcomes = new ArrayList<>();
            byJdk.put(home.version(), outcomes);
            new Jvm(home)
                    .run(
                            interruption(),
                            line -> outcomes.add(GSON.fromJson(line, Outcome.class)),
                            Accuracy.class,
                            "--json",
                            "--seconds",
                            Double.toString(seconds));
        }
        if (markdown != null) refresh();
    }

    @Override
    void report(Report report) {
        report.method.add("Each workload runs for " + seconds
                + " s, after others to warm up. Its bursts of user and of system time are bracketed by readings of the precise clock,"
                + " whose sums are the truth. All readers read at its start and at its end.");
        report.tables.add(AccuracyTables.userErrors(byJdk));
        report.tables.add(AccuracyTables.systemErrors(byJdk));
        report.tables.add(AccuracyTables.least(byJdk));
        byJdk.forEach((jdk, outcomes) -> report.bars.add(AccuracyTables.bars(jdk, outcomes)));
        report.findings.addAll(AccuracyTables.findings(byJdk, TaskClock.status().tickNanos()));
    }

    private void refresh() throws LabException, IOException {
        String text = Files.readString(markdown);
        Path folder = markdown.toAbsolutePath().normalize().getParent();
        Path result = folder.relativize(output().toAbsolutePath().normalize());
        String tables = "From [" + result.getFileName() + "](" + result + "): " + seconds
                + " s each. The error of user time, in percent of the CPU time used; that of system time is its mirror image. Stock is"
                + " `ThreadMXBean`.\n" + AccuracyTables.markdown(byJdk);
        int[] marks = marked(text);
        Files.writeString(markdown, text.substring(0, marks[0]) + tables + text.substring(marks[1]));
    }

    /** What lies between the marks. */
    private int[] marked(String text) throws LabException {
        int begin = text.indexOf(BEGIN);
        int end = text.indexOf(END);
        if (begin >= 0 && end > begin) return new int[] {begin + BEGIN.length(), end};
        throw new LabException("--markdown " + markdown + ": has no marks: put these lines around the tables: "
                + BEGIN.trim() + " and " + END.trim());
    }
}
