// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import org.taskclock.Rung;

/**
 * What reading costs a program that does little but switch: two threads on one processor take turns, and read once in each.
 * A JVM of its own for each rung; they measure in turn, and are replaced by new ones now and then, as no two JVMs are
 * equally fast. Arguments: {@code --rounds N}, {@code --markdown}, or {@code --json} for one {@link Turn} a line, of
 * turns with arithmetic only.
 */
public final class Switches {
    private static final int ROUNDS_OF_A_JVM = 5;
    private static final int SOME_ARITHMETIC = 10_000;
    private static final double BUSY_TURN_NANOS = 10_000;
    private static final double MOST_PERCENT = 3;
    private static final Gson GSON = new Gson();

    private static final List<Rung> RUNGS = List.of(Rung.SYSCALL, Rung.RSEQ, Rung.RSEQ_OWN);
    static final List<Contender> CONTENDERS = List.of(Contender.NOTHING, Contender.SYSTEM_CALL, Contender.CPU_NANOS);

    /**
     * The CPU time of a turn of one round, or why there is none.
     *
     * @param reads what each turn reads
     * @param refusal null where it was measured
     */
    public record Turn(String rung, String reads, int round, double nanos, String refusal) {}

    private enum Load {
        BARE("nothing else"),
        BUSY("arithmetic, for 100,000 switches a second");

        final String text;

        Load(String text) {
            this.text = text;
        }
    }

    private record Key(Load load, Rung rung, Contender contender) {}

    private final Map<Key, double[]> nanos = new LinkedHashMap<>();
    private final Map<Rung, String> refusals = new EnumMap<>(Rung.class);
    private final Rounds rounds;
    private final boolean json;
    private int arithmetic;

    private Switches(int rounds, boolean json) {
        this.rounds = new Rounds(rounds);
        this.json = json;
    }

    public static void main(String[] args) throws IOException {
        List<String> options = new ArrayList<>(List.of(args));
        boolean markdown = options.remove("--markdown");
        boolean json = options.remove("--json");
        int rounds = 30;
        if (options.size() == 2 && options.get(0).equals("--rounds")) {
            rounds = Integer.parseInt(options.get(1));
            options.clear();
        }
        if (!options.isEmpty()) {
            System.err.println(
                    "taskclock: switches: arguments " + options + ": known are --rounds N, --markdown, --json");
            System.exit(2);
        }
        Switches switches = new Switches(rounds, json);
        for (int round = 0; round < rounds; round += ROUNDS_OF_A_JVM) {
            switches.measure(round, Math.min(round + ROUNDS_OF_A_JVM, rounds));
        }
        if (!json) System.out.print(switches.text(markdown));
    }

    // ---- measuring

    private void measure(int fromRound, int toRound) throws IOException {
        Map<Rung, SwitchingJvm> jvms = new EnumMap<>(Rung.class);
        try {
            for (Rung rung : RUNGS) {
                SwitchingJvm jvm = new SwitchingJvm(rung);
                if (jvm.refusal() == null) jvms.put(rung, jvm);
                else if (fromRound == 0) refuse(rung, jvm.refusal());
                else throw new IOException(rung + " could be used at first, and now: " + jvm.refusal());
            }
            if (refusals.containsKey(Rung.SYSCALL)) throw new IOException(refusals.get(Rung.SYSCALL));
            if (arithmetic == 0) arithmetic = arithmeticOfBusyTurn(jvms.get(Rung.SYSCALL));
            for (int round = fromRound; round < toRound; round++) measure(round, jvms);
        } finally {
            for (SwitchingJvm jvm : jvms.values()) jvm.close();
        }
    }

    private void refuse(Rung rung, String why) {
        refusals.put(rung, why);
        if (json) print(new Turn(rung.toString(), null, 0, 0, why));
    }

    private static void print(Turn turn) {
        System.out.println(GSON.toJson(turn));
    }

    private void measure(int round, Map<Rung, SwitchingJvm> jvms) throws IOException {
        for (Load load : Load.values()) {
            if (json && load == Load.BARE) continue;
            for (Contender contender : CONTENDERS) {
                for (Map.Entry<Rung, SwitchingJvm> jvm : jvms.entrySet()) {
                    double took = jvm.getValue().turnNanos(contender, load == Load.BARE ? 0 : arithmetic);
                    of(load, jvm.getKey(), contender)[round] = took;
                    if (json) print(new Turn(jvm.getKey().toString(), contender.text, round, took, null));
                }
            }
        }
    }

    private static int arithmeticOfBusyTurn(SwitchingJvm jvm) throws IOException {
        double bare = jvm.turnNanos(Contender.NOTHING, 0);
        double some = jvm.turnNanos(Contender.NOTHING, SOME_ARITHMETIC);
        return (int) (SOME_ARITHMETIC * (BUSY_TURN_NANOS - bare) / (some - bare));
    }

    private double[] of(Load load, Rung rung, Contender contender) {
        return nanos.computeIfAbsent(new Key(load, rung, contender), unused -> new double[rounds.count()]);
    }

    // ---- what it says

    private String text(boolean markdown) {
        StringBuilder text = new StringBuilder("JDK " + Runtime.version()
                + ": two threads on one processor take turns. " + rounds.count() + " rounds of "
                + 2 * SwitchingJvm.TURNS + " turns: medians (middle half of the rounds) of CPU time.\n");
        for (Load load : Load.values()) {
            Table costs = new Table("each turn reads", "rung", "ns a turn", "a second", "over nothing, ns", "%");
            Table markers = new Table(
                    "cpuNanos on", "over clock_gettime, ns", "%", "over the rung syscall, ns", "%", "below 3 %");
            for (Rung rung : RUNGS) {
                if (refusals.containsKey(rung)) continue;
                for (Contender contender : CONTENDERS) costs.add(cost(load, rung, contender));
                markers.add(marker(load, rung));
            }
            text.append("\nA turn reads and does ").append(load.text).append(":\n\n");
            text.append(markdown ? costs.markdown() : costs.aligned()).append('\n');
            text.append(markdown ? markers.markdown() : markers.aligned());
        }
        text.append(
                "\nEach read comes after a switch, so each is one system call, on every rung. What is over clock_gettime in"
                        + " the same JVM is the\nmarker: taking a base, and the kernel's work to remove it.\n");
        refusals.forEach((rung, why) ->
                text.append(rung).append(": not measured: ").append(why).append('\n'));
        return text.toString();
    }

    private List<String> cost(Load load, Rung rung, Contender contender) {
        double[] some = of(load, rung, contender);
        double[] none = of(load, rung, Contender.NOTHING);
        return List.of(
                contender.text,
                rung.toString(),
                rounds.spread("%,.0f", round -> some[round]),
                Goal.format("%,.0f", 1e9 / rounds.quantile(0.5, round -> some[round])),
                contender == Contender.NOTHING ? "" : rounds.spread("%,.0f", round -> some[round] - none[round]),
                contender == Contender.NOTHING
                        ? ""
                        : rounds.spread("%.1f", round -> 100 * (some[round] / none[round] - 1)));
    }

    private List<String> marker(Load load, Rung rung) {
        double[] some = of(load, rung, Contender.CPU_NANOS);
        double[] asking = of(load, rung, Contender.SYSTEM_CALL);
        double[] syscall = of(load, Rung.SYSCALL, Contender.CPU_NANOS);
        boolean control = rung == Rung.SYSCALL;
        IntToDoubleFunction percent = round -> 100 * (some[round] / syscall[round] - 1);
        return List.of(
                rung.toString(),
                rounds.spread("%,.0f", round -> some[round] - asking[round]),
                rounds.spread("%.1f", round -> 100 * (some[round] / asking[round] - 1)),
                control ? "" : rounds.spread("%,.0f", round -> some[round] - syscall[round]),
                control ? "" : rounds.spread("%.1f", percent),
                control ? "" : rounds.quantile(0.5, percent) < MOST_PERCENT ? "yes" : "**no**");
    }
}
