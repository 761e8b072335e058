// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.internal.JdkVersions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures how much the agent adds to JVM startup: starts a program that does nothing without an agent, with an agent
 * that does nothing, and with ours, in alternation.
 */
@Command(
        name = "start-up",
        mixinStandardHelpOptions = true,
        description = "Measure how much the agent adds to JVM startup. Run it in the directory benchmarks.")
public final class StartUpBenchmark extends MeasuringProgram {
    private static final int WARM_UPS = 3;
    private static final String OURS = "-javaagent:target/taskclock-agent.jar";
    private static final int MAX_MILLIS = 20;

    /** The index of the start with an empty agent. */
    private static final int EMPTY = 1;

    private static final int OURS_WITH_DEFAULTS = 2;

    /**
     * A way to start a program.
     *
     * @param bare the index of the start without an agent to compare with
     */
    private record Start(String text, int bare, Class<?> program, List<String> options) {}

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "30",
            description = "Start each program N times (default: 30).")
    private int count;

    private final List<Start> starts = new ArrayList<>(List.of(
            new Start("no agent", 0, Nothing.class, List.of()),
            new Start("an empty agent", 0, Nothing.class, List.of("-javaagent:target/taskclock-lab.jar")),
            new Start("ours", 0, Nothing.class, List.of(OURS)),
            new Start("ours, vthreads=off", 0, Nothing.class, List.of(OURS + "=vthreads=off"))));
    private double[][] millis;
    private RoundStatistics rounds;

    private StartUpBenchmark() {
        if (Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS) {
            starts.add(new Start("no agent, a virtual thread", 4, Virtual.class, List.of()));
            starts.add(new Start("ours, a virtual thread", 4, Virtual.class, List.of(OURS)));
        }
    }

    public static void main(String[] args) {
        new StartUpBenchmark().run(args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        rounds = new RoundStatistics(count);
        millis = new double[starts.size()][count];
        measure();
        System.out.print(text());
        return 0;
    }

    private void measure() throws IOException, InterruptedException {
        for (int round = -WARM_UPS; round < rounds.count(); round++) {
            for (int s = 0; s < starts.size(); s++) {
                double took = run(starts.get(s));
                if (round >= 0) millis[s][round] = took;
            }
        }
    }

    private static double run(Start started) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(started.options);
        options.add("-Xshare:auto");
        ProcessBuilder builder = FreshJvm.builder(options, started.program).inheritIO();
        long start = System.nanoTime();
        int exitCode = builder.start().waitFor();
        if (exitCode != 0) throw new IOException(builder.command() + ": exit code " + exitCode);
        return (System.nanoTime() - start) / 1e6;
    }

    private String text() {
        TextTable table = new TextTable("started with", "ms", "over no agent, ms", "over an empty agent, ms");
        for (int s = 0; s < starts.size(); s++) {
            int own = s;
            int bare = starts.get(s).bare;
            boolean comparesWithEmpty = bare == 0 && s > EMPTY;
            table.add(List.of(
                    starts.get(s).text,
                    rounds.spread("%.0f", round -> millis[own][round]),
                    s == bare ? "" : difference(s, bare),
                    comparesWithEmpty ? difference(s, EMPTY) : ""));
        }
        boolean met =
                rounds.quantile(0.5, round -> millis[OURS_WITH_DEFAULTS][round] - millis[EMPTY][round]) < MAX_MILLIS;
        return "JDK " + Runtime.version() + ": time from start to end of a program that does nothing. " + rounds.count()
                + " rounds: medians (quartiles).\n\n" + table.text(markdown)
                + "\nOur agent adds less than " + MAX_MILLIS + " ms to an empty one: " + (met ? "yes" : "**no**")
                + "\n";
    }

    private String difference(int start, int reference) {
        return rounds.spread("%.0f", round -> millis[start][round] - millis[reference][round]);
    }

    /** A program that does nothing. */
    static final class Nothing {
        private Nothing() {}

        public static void main(String[] args) {}
    }

    /** A program that uses a virtual thread. */
    static final class Virtual {
        private Virtual() {}

        public static void main(String[] args) throws Exception {
            MountBenchmark.run(() -> {});
        }
    }
}
