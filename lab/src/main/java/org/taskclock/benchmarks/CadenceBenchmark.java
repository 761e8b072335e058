// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures the cost of a reading at the cadences of real programs: in a tight loop, with work between two readings,
 * after a switch to another thread, on many threads, in a program shaped like a query engine, and as the first reading
 * of a process. Each row runs in its own JVM per fork, with the options of this one.
 */
@Command(
        name = "cadence",
        mixinStandardHelpOptions = true,
        description = "Measure the cost of a reading at the cadences of real programs.",
        footer = {"", "Exit codes: 0 success, 1 a measurement failed, 2 usage error."})
public final class CadenceBenchmark extends MeasuringProgram {
    @Option(
            names = "--forks",
            paramLabel = "N",
            defaultValue = "5",
            description = "Start N JVMs for each row (default: 5).")
    int forks;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "Measure N times in each JVM (default: 5).")
    int rounds;

    @Option(
            names = "--only",
            paramLabel = "ROW",
            split = ",",
            description = "Measure only these rows or groups of rows; repeatable.")
    private List<String> only = List.of();

    @Option(names = "--json", description = "Print only the results, one per line, as JSON.")
    boolean json;

    @Option(
            names = "--from",
            paramLabel = "FILE",
            description = "Do not measure: show results that --json has printed.")
    Path from;

    @Spec
    private CommandSpec spec;

    public static void main(String[] args) {
        // Measuring JVMs must not outlive this one.
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> ProcessHandle.current().children().forEach(ProcessHandle::destroy), "end children"));
        new CadenceBenchmark().run(args);
    }

    /** Returns the rows to measure, in the order of {@link CadenceRow#ALL}. */
    List<CadenceRow> rows() {
        Set<CadenceRow> rows = new HashSet<>();
        for (String name : only) {
            List<CadenceRow> named = CadenceRow.named(name);
            if (named.isEmpty()) throw usageError("--only " + name + ": unknown row: " + CadenceRow.names());
            rows.addAll(named);
        }
        return CadenceRow.ALL.stream()
                .filter(row -> rows.isEmpty() || rows.contains(row))
                .toList();
    }

    void checkOptions() {
        rows();
        if (json && markdown) throw usageError("--markdown and --json cannot be combined");
        for (String option : List.of("--forks", "--rounds", "--only", "--json")) {
            if (from != null && spec.commandLine().getParseResult().hasMatchedOption(option))
                throw usageError(option + ": cannot be combined with --from");
        }
    }

    private ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        checkOptions();
        List<CadenceResult> results = from != null ? read() : measure();
        if (!json) System.out.print(CadenceReport.text(results, markdown));
        return 0;
    }

    private List<CadenceResult> read() throws IOException {
        List<CadenceResult> results = new ArrayList<>();
        try {
            for (String line : Files.readAllLines(from)) results.add(CadenceResult.parse(line));
        } catch (IOException e) {
            throw new IOException("--from " + from + ": cannot be read: " + e, e);
        } catch (IllegalArgumentException e) {
            throw usageError("--from " + from + ": line " + (results.size() + 1) + ": " + e.getMessage());
        }
        if (results.isEmpty()) throw usageError("--from " + from + ": the file is empty");
        return results;
    }

    private List<CadenceResult> measure() throws IOException, InterruptedException {
        List<CadenceResult> results = new ArrayList<>();
        for (int fork = 1; fork <= forks; fork++) {
            for (CadenceRow row : rows()) {
                if (!json && !markdown) System.err.println("fork " + fork + " of " + forks + ": " + row.name());
                CadenceResult result =
                        row.group() == CadenceRow.Group.FIRST ? firstReadings(row, fork) : measure(row, fork);
                results.add(result);
                if (json) System.out.println(result.json());
            }
        }
        return results;
    }

    private CadenceResult measure(CadenceRow row, int fork) throws IOException, InterruptedException {
        List<String> lines = FreshJvm.runAlike(CadenceJvm.class, row.name(), fork, rounds);
        return CadenceResult.parse(lines.get(lines.size() - 1));
    }

    private CadenceResult firstReadings(CadenceRow row, int fork) throws IOException, InterruptedException {
        List<Long> nanos = new ArrayList<>();
        List<String> lines = List.of();
        for (int i = 0; i < rounds; i++) {
            lines = FreshJvm.runAlike(FirstReading.class);
            nanos.add(Long.parseLong(lines.get(1)));
        }
        CadenceResult.Environment environment = new CadenceResult.Environment(
                Runtime.version().toString(),
                lines.get(2),
                lines.get(3),
                Runtime.getRuntime().availableProcessors());
        return CadenceResult.of(row, fork, environment, nanos);
    }
}
