// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.report.Result;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the cost of reading CPU time with JMH, and compare it with every published figure.",
            "Measure on an idle machine. Only one JMH can run at a time."
        },
        footerHeading = "%nProfiles:%n",
        footer = {
            "  quick    rough figures for everything; less than three minutes on two JDKs",
            "  post-us  the blog post's first table: SampleTime, us, 16 threads",
            "  post-ns  the blog post's second table: SampleTime, ns, 1 thread, 3 forks; takes hours",
            "  pr-ms    the pull request's table: SampleTime, ms, 1 thread",
            "  threads  1, 2, 4, 8, and 16 threads: does the gap widen?",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 3 something is slower (with --compare), 130 interrupted"
                    + " (the measurements so far are kept)."
        })
public final class Bench implements Callable<Integer> {
    private static final int OK = 0;
    private static final int THRESHOLD = 3;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PROFILE",
            defaultValue = "quick",
            description = "Profile to run (default: quick).")
    private String profile;

    @Option(
            names = "--jdk",
            paramLabel = "PATH",
            description = "JDK to measure, 17 or later; repeatable (default: all JDKs in /usr/lib/jvm).")
    private List<Path> jdks = new ArrayList<>();

    @Option(
            names = "--contender",
            split = ",",
            paramLabel = "NAME",
            description =
                    "Measure only contenders whose names start with NAME; repeatable. Contenders: nothing, nanotime,"
                            + " stock-cpu, stock-user, proc, own-id, id-0, getrusage, taskclock-cpu, taskclock-user,"
                            + " taskclock-system, taskclock-now, agent-cpu, agent-user.")
    private List<String> contenders = new ArrayList<>();

    @Option(
            names = "--backend",
            split = ",",
            paramLabel = "BACKEND",
            description =
                    "Measure only this backend: rseq, rseq-own, syscall, or mxbean; repeatable (default: all usable "
                            + "ones).")
    private List<String> backends = new ArrayList<>();

    @Option(
            names = "--scale",
            paramLabel = "FACTOR",
            defaultValue = "1",
            description = "Multiply warm-up and measurement times by FACTOR. The result records it.")
    private double scale;

    @Option(
            names = "--profile",
            description = "Also record flame graphs with async-profiler: before, after, id 0, ours.")
    private boolean flames;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the result to FILE, for taskclock report and --compare.")
    private Path file;

    @Option(names = "--json", description = "Print only the result, as a JSON object.")
    private boolean json;

    @Option(
            names = "--raw",
            description = "Keep all output of JMH, with its histograms, and the narrowest frames of flame graphs, which"
                    + " makes the result a hundred times larger.")
    private boolean raw;

    @Option(names = "--verbose", description = "Print the output of JMH to standard error.")
    private boolean verbose;

    @Option(
            names = "--compare",
            arity = "2",
            paramLabel = "RESULT",
            description = "Do not measure: compare two results, and list what is significantly faster or slower in the "
                    + "second one.")
    private List<Path> compared;

    @Spec
    private CommandSpec spec;

    /** Constructed by picocli. */
    public Bench() {}

    @Override
    public Integer call() throws IOException, InterruptedException, LabException {
        try {
            return compared != null ? compare() : measure();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private int measure() throws IOException, InterruptedException, LabException {
        if (!(scale > 0 && scale <= 100)) {
            throw new IllegalArgumentException("scale " + scale + ": must be greater than 0 and at most 100");
        }
        // Fail now rather than after hours.
        if (file != null && !Files.isWritable(file.toAbsolutePath().getParent())) {
            throw new IllegalArgumentException("-o " + file + ": cannot write to its directory");
        }
        BenchRun run = new BenchRun(
                BenchProfile.named(profile),
                findJdks(),
                contenders.isEmpty() ? List.of(Contender.values()) : Contender.named(contenders),
                backends,
                scale,
                flames,
                verbose,
                raw,
                json,
                file,
                command());
        return run.run();
    }

    private List<Jdk> findJdks() {
        try {
            return Jdk.find(jdks);
        } catch (LabException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** Returns the command that repeats this run, without paths of this machine. */
    private List<String> command() {
        List<String> command = new ArrayList<>(List.of("./taskclock", "bench", profile));
        jdks.forEach(jdk -> command.addAll(List.of("--jdk", "PATH")));
        contenders.forEach(name -> command.addAll(List.of("--contender", name)));
        backends.forEach(backend -> command.addAll(List.of("--backend", backend)));
        if (scale != 1) command.addAll(List.of("--scale", Double.toString(scale)));
        if (flames) command.add("--profile");
        return command;
    }

    private int compare() throws IOException, LabException {
        List<ResultComparison.Row> rows = ResultComparison.compare(
                Measurements.of(Result.read(compared.get(0)).jmh()),
                Measurements.of(Result.read(compared.get(1)).jmh()));
        if (rows.isEmpty()) {
            throw new LabException(
                    "--compare: the results have no measurement in common: use two runs of the same profile on the "
                            + "same JDK");
        }
        System.out.print(ResultText.table(ResultComparison.table(rows)));
        for (String verdict :
                List.of(ResultComparison.FASTER, ResultComparison.SLOWER, ResultComparison.NO_DIFFERENCE)) {
            long count =
                    rows.stream().filter(row -> row.verdict().equals(verdict)).count();
            System.out.println(verdict + ": " + count + " of " + rows.size());
        }
        boolean slower = rows.stream().anyMatch(row -> row.verdict().equals(ResultComparison.SLOWER));
        return slower ? THRESHOLD : OK;
    }
}
