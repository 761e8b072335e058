// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab.options;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.internal.JdkVersions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

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
public final class BenchOptions {
    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PROFILE",
            defaultValue = "quick",
            description = "Profile to run (default: quick).")
    public String profile;

    @Option(
            names = "--jdk",
            paramLabel = "PATH",
            description = "JDK to measure, " + JdkVersions.OLDEST
                    + " or later; repeatable (default: all JDKs in /usr/lib/jvm).")
    public List<Path> jdks = new ArrayList<>();

    @Option(
            names = "--contender",
            split = ",",
            paramLabel = "NAME",
            description =
                    "Measure only contenders whose names start with NAME; repeatable. Contenders: nothing, nanotime,"
                            + " stock-cpu, stock-user, proc, own-id, id-0, getrusage, taskclock-cpu, taskclock-user,"
                            + " taskclock-system, taskclock-now, agent-cpu, agent-user.")
    public List<String> contenders = new ArrayList<>();

    @Option(
            names = "--backend",
            split = ",",
            paramLabel = "BACKEND",
            description =
                    "Measure only this backend: rseq, rseq-own, rseq-take, syscall, or mxbean; repeatable (default:"
                            + " all usable ones).")
    public List<String> backends = new ArrayList<>();

    @Option(
            names = "--scale",
            paramLabel = "FACTOR",
            defaultValue = "1",
            description = "Multiply warm-up and measurement times by FACTOR. The result records it.")
    public double scale;

    @Option(
            names = "--profile",
            description = "Also record flame graphs with async-profiler: before, after, id 0, ours.")
    public boolean flames;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the result to FILE, for taskclock report and --compare.")
    public Path file;

    @Option(names = "--json", description = "Print only the result, as a JSON object.")
    public boolean json;

    @Option(
            names = "--raw",
            description = "Keep all output of JMH, with its histograms, and the narrowest frames of flame graphs, which"
                    + " makes the result a hundred times larger.")
    public boolean raw;

    @Option(names = "--verbose", description = "Print the output of JMH to standard error.")
    public boolean verbose;

    @Option(
            names = "--compare",
            arity = "2",
            paramLabel = "RESULT",
            description = "Do not measure: compare two results, and list what is significantly faster or slower in the "
                    + "second one.")
    public List<Path> compared;
}
