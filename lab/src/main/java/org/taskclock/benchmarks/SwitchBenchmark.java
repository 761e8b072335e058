// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import org.taskclock.Backend;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures the cost of reading for a program that does little but switch threads: two threads alternate on one
 * processor and read once per turn. Each backend has its own JVM. The JVMs measure in alternation, and are replaced
 * after some rounds because the speed of JVMs differs.
 */
@Command(
        name = "switches",
        mixinStandardHelpOptions = true,
        description = {
            "Measure the cost of reading for a program that does little but switch threads.",
            "With --json, prints one result per line, and measures only turns with arithmetic."
        })
public final class SwitchBenchmark extends MeasuringProgram {
    private static final int ROUNDS_PER_JVM = 5;
    private static final int SOME_ARITHMETIC = 10_000;
    private static final double BUSY_TURN_NANOS = 10_000;
    private static final double MAX_PERCENT = 3;
    private static final Gson GSON = new Gson();

    private static final List<Backend> BACKENDS =
            List.of(Backend.SYSCALL, Backend.RSEQ, Backend.RSEQ_OWN, Backend.RSEQ_TAKE);
    static final List<ReadingLoop> CONTENDERS =
            List.of(ReadingLoop.NOTHING, ReadingLoop.SYSTEM_CALL, ReadingLoop.CPU_NANOS);

    /**
     * The CPU time of a turn in one round.
     *
     * @param reads the clock that each turn reads
     * @param refusal why the backend cannot be used; null if it can
     */
    public record SwitchCost(String backend, String reads, int round, double nanos, String refusal) {}

    private enum Load {
        BARE("nothing else"),
        BUSY("arithmetic, for 100,000 switches a second");

        final String text;

        Load(String text) {
            this.text = text;
        }
    }

    private record Key(Load load, Backend backend, ReadingLoop contender) {}

    private final Map<Key, double[]> nanos = new LinkedHashMap<>();
    private final Map<Backend, String> refusals = new EnumMap<>(Backend.class);
    private RoundStatistics rounds;
    private int arithmetic;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "30",
            description = "Measure everything N times (default: 30).")
    private int count;

    @Option(names = "--json", description = "Print only the results, as JSON.")
    private boolean json;

    private SwitchBenchmark() {}

    public static void main(String[] args) {
        new SwitchBenchmark().run(args);
    }

    @Override
    public Integer call() throws IOException {
        rounds = new RoundStatistics(count);
        for (int round = 0; round < count; round += ROUNDS_PER_JVM) {
            measure(round, Math.min(round + ROUNDS_PER_JVM, count));
        }
        if (!json) System.out.print(text());
        return 0;
    }

    // ---- measuring

    private void measure(int fromRound, int toRound) throws IOException {
        Map<Backend, SwitchingJvm> jvms = new EnumMap<>(Backend.class);
        try {
            for (Backend backend : BACKENDS) {
                SwitchingJvm jvm = new SwitchingJvm(backend);
                if (jvm.refusal() == null) jvms.put(backend, jvm);
                else if (fromRound == 0) refuse(backend, jvm.refusal());
                else throw new IOException(backend + " is no longer usable: " + jvm.refusal());
            }
            if (refusals.containsKey(Backend.SYSCALL)) throw new IOException(refusals.get(Backend.SYSCALL));
            if (arithmetic == 0) arithmetic = arithmeticOfBusyTurn(jvms.get(Backend.SYSCALL));
            for (int round = fromRound; round < toRound; round++) measure(round, jvms);
        } finally {
            for (SwitchingJvm jvm : jvms.values()) jvm.close();
        }
    }

    private void refuse(Backend backend, String why) {
        refusals.put(backend, why);
        if (json) print(new SwitchCost(backend.toString(), null, 0, 0, why));
    }

    private static void print(SwitchCost cost) {
        System.out.println(GSON.toJson(cost));
    }

    private void measure(int round, Map<Backend, SwitchingJvm> jvms) throws IOException {
        for (Load load : Load.values()) {
            if (json && load == Load.BARE) continue;
            for (ReadingLoop contender : CONTENDERS) {
                for (Map.Entry<Backend, SwitchingJvm> jvm : jvms.entrySet()) {
                    double nanosPerTurn = jvm.getValue().turnNanos(contender, load == Load.BARE ? 0 : arithmetic);
                    of(load, jvm.getKey(), contender)[round] = nanosPerTurn;
                    if (json) print(new SwitchCost(jvm.getKey().toString(), contender.text, round, nanosPerTurn, null));
                }
            }
        }
    }

    private static int arithmeticOfBusyTurn(SwitchingJvm jvm) throws IOException {
        double bare = jvm.turnNanos(ReadingLoop.NOTHING, 0);
        double some = jvm.turnNanos(ReadingLoop.NOTHING, SOME_ARITHMETIC);
        return (int) (SOME_ARITHMETIC * (BUSY_TURN_NANOS - bare) / (some - bare));
    }

    private double[] of(Load load, Backend backend, ReadingLoop contender) {
        return nanos.computeIfAbsent(new Key(load, backend, contender), unused -> new double[rounds.count()]);
    }

    // ---- report

    private String text() {
        StringBuilder text = new StringBuilder("JDK " + Runtime.version()
                + ": two threads alternate on one processor. " + rounds.count() + " rounds of "
                + 2 * SwitchingJvm.TURNS + " turns: CPU time, medians (quartiles).\n");
        for (Load load : Load.values()) {
            TextTable costs = new TextTable(
                    "reads per turn", "backend", "ns per turn", "turns per second", "over nothing, ns", "%");
            TextTable markers = new TextTable(
                    "cpuNanos on", "over clock_gettime, ns", "%", "over backend syscall, ns", "%", "below 3 %");
            for (Backend backend : BACKENDS) {
                if (refusals.containsKey(backend)) continue;
                for (ReadingLoop contender : CONTENDERS) costs.add(cost(load, backend, contender));
                markers.add(marker(load, backend));
            }
            text.append("\nBesides reading, a turn does ").append(load.text).append(":\n\n");
            text.append(costs.text(markdown)).append('\n');
            text.append(markers.text(markdown));
        }
        text.append("\nEvery reading follows a switch, so it makes one system call on every backend. The difference to "
                + "clock_gettime in the same\nJVM is the cost of the marker: taking a base, and the kernel's work to "
                + "clear it.\n");
        refusals.forEach((backend, why) ->
                text.append(backend).append(": not measured: ").append(why).append('\n'));
        return text.toString();
    }

    private List<String> cost(Load load, Backend backend, ReadingLoop contender) {
        double[] some = of(load, backend, contender);
        double[] none = of(load, backend, ReadingLoop.NOTHING);
        return List.of(
                contender.text,
                backend.toString(),
                rounds.spread("%,.0f", round -> some[round]),
                Goal.format("%,.0f", 1e9 / rounds.quantile(0.5, round -> some[round])),
                contender == ReadingLoop.NOTHING ? "" : rounds.spread("%,.0f", round -> some[round] - none[round]),
                contender == ReadingLoop.NOTHING
                        ? ""
                        : rounds.spread("%.1f", round -> 100 * (some[round] / none[round] - 1)));
    }

    private List<String> marker(Load load, Backend backend) {
        double[] some = of(load, backend, ReadingLoop.CPU_NANOS);
        double[] asking = of(load, backend, ReadingLoop.SYSTEM_CALL);
        double[] syscall = of(load, Backend.SYSCALL, ReadingLoop.CPU_NANOS);
        boolean control = backend == Backend.SYSCALL;
        IntToDoubleFunction percent = round -> 100 * (some[round] / syscall[round] - 1);
        return List.of(
                backend.toString(),
                rounds.spread("%,.0f", round -> some[round] - asking[round]),
                rounds.spread("%.1f", round -> 100 * (some[round] / asking[round] - 1)),
                control ? "" : rounds.spread("%,.0f", round -> some[round] - syscall[round]),
                control ? "" : rounds.spread("%.1f", percent),
                control ? "" : rounds.quantile(0.5, percent) < MAX_PERCENT ? "yes" : "**no**");
    }
}
