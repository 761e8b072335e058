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
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = {
            "Measures by JMH what reading CPU time costs here, stock and ours, and puts every published figure beside it.",
            "One JMH runs at a time on a machine. Keep the machine quiet meanwhile."
        },
        footerHeading = "%nProfiles:%n",
        footer = {
            "  quick    a little of each, rough, below three minutes on two JDKs",
            "  post-us  the blog post's first table: SampleTime, us, 16 threads",
            "  post-ns  its second one: SampleTime, ns, 1 thread, 3 forks; hours",
            "  pr-ms    the pull request's: SampleTime, ms, 1 thread",
            "  threads  1, 2, 4, 8, 16 threads: does the gap widen?",
            "",
            "Exit codes: 0 done, or, with --compare, nothing is slower; 1 something failed or is slower; 2 wrong usage;"
                    + " 130 interrupted: what was measured is kept."
        })
final class Bench implements Callable<Integer> {
    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PROFILE",
            defaultValue = "quick",
            description = "See below; quick if none is named.")
    private String profile;

    @Option(
            names = "--jdk",
            paramLabel = "PATH",
            description = "A JDK 17 or later to measure on; may be repeated. Without it, all under /usr/lib/jvm.")
    private List<Path> jdks = new ArrayList<>();

    @Option(
            names = "--contender",
            split = ",",
            paramLabel = "NAME",
            description =
                    "Only those whose name starts so; may be repeated. Known are nothing, nanotime, stock-cpu, stock-user,"
                            + " proc, own-id, id-0, getrusage, taskclock-cpu, taskclock-user, taskclock-system, taskclock-now,"
                            + " agent-cpu, agent-user.")
    private List<String> contenders = new ArrayList<>();

    @Option(
            names = "--rung",
            split = ",",
            paramLabel = "RUNG",
            description =
                    "Only on these of rseq, rseq-own, syscall, mxbean; may be repeated. Without it, on each that is usable.")
    private List<String> rungs = new ArrayList<>();

    @Option(
            names = "--scale",
            paramLabel = "FACTOR",
            defaultValue = "1",
            description = "Multiplies the times to warm up and to measure. The result says so.")
    private double scale;

    @Option(names = "--profile", description = "Also flame graphs by async-profiler: before, after, id 0, ours.")
    private boolean flames;

    @Option(
            names = "-o",
            paramLabel = "FILE",
            description = "Where to keep the result, for taskclock report and --compare.")
    private Path file;

    @Option(names = "--json", description = "Print the result as one JSON object and nothing else.")
    private boolean json;

    @Option(names = "--raw", description = "Keep JMH's histograms in the result too: a hundred times as large.")
    private boolean raw;

    @Option(names = "--verbose", description = "Show all that JMH says, on standard error.")
    private boolean verbose;

    @Option(
            names = "--compare",
            arity = "2",
            paramLabel = "RESULT",
            description =
                    "Measure nothing: say what is faster in the second of two results, and whether that can be told.")
    private List<Path> compared;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (compared != null) return compare();
        if (!(scale > 0 && scale <= 100)) {
            throw new IllegalArgumentException("scale: " + scale + " is not above 0 and at most 100");
        }
        // Better now than after hours.
        if (file != null && !Files.isWritable(file.toAbsolutePath().getParent())) {
            throw new IllegalArgumentException("-o: cannot write to the folder of " + file);
        }
        BenchRun run = new BenchRun(
                Profile.named(profile),
                found(),
                contenders.isEmpty() ? List.of(Contender.values()) : Contender.named(contenders),
                rungs,
                scale,
                flames,
                verbose,
                raw,
                json,
                file,
                command());
        return run.run();
    }

    private List<Jdk> found() {
        try {
            return Jdk.find(jdks);
        } catch (LabException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    /** How to repeat it, without paths of this machine. */
    private List<String> command() {
        List<String> command = new ArrayList<>(List.of("./taskclock", "bench", profile));
        jdks.forEach(jdk -> command.addAll(List.of("--jdk", "PATH")));
        contenders.forEach(name -> command.addAll(List.of("--contender", name)));
        rungs.forEach(rung -> command.addAll(List.of("--rung", rung)));
        if (scale != 1) command.addAll(List.of("--scale", Double.toString(scale)));
        if (flames) command.add("--profile");
        return command;
    }

    private int compare() throws IOException {
        List<Comparison.Row> rows = Comparison.compare(
                Measurements.of(Result.read(compared.get(0)).jmh()),
                Measurements.of(Result.read(compared.get(1)).jmh()));
        if (rows.isEmpty()) {
            return Lab.complain(
                    "bench: compare: nothing was measured in both alike: name two results of one profile and JDK",
                    Lab.FAILED);
        }
        System.out.print(Text.table(Comparison.table(rows)));
        for (String verdict : List.of(Comparison.FASTER, Comparison.SLOWER, Comparison.NO_DIFFERENCE)) {
            long count =
                    rows.stream().filter(row -> row.verdict().equals(verdict)).count();
            System.out.println(verdict + ": " + count + " of " + rows.size());
        }
        boolean slower = rows.stream().anyMatch(row -> row.verdict().equals(Comparison.SLOWER));
        return slower ? Lab.FAILED : Lab.OK;
    }
}
