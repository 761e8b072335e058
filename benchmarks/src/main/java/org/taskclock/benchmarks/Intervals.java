// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/**
 * What a reading costs by what lies before it: work, or a switch to another thread. Time-stamps bracket one or more readings;
 * what empty brackets take, measured in turn with the others, is deducted. Arguments: {@code --settle N}, the most seconds
 * to read until bases live as long as they ever do, {@code --rounds N}, {@code --markdown}, or {@code --json} for one {@link
 * Cost} a line.
 */
public final class Intervals {
    private static final int ROUNDS = 5;
    private static final Gson GSON = new Gson();
    private static final long SETTLED_NANOS = 1_000_000;
    private static final int LIFETIMES = 51;
    private static final int READS_AT_A_TIME = 1_000_000;

    /** So few that all rows together take less than the 20,000 bases after which the clock lets one live twice as long. */
    private static final List<Row> BY_WORK = List.of(
            new Row("nothing: a tight loop", 100, 2_000, () -> {}),
            new Row("1 us", 1, 4_000, () -> work(1_000)),
            new Row("10 us", 1, 1_000, () -> work(10_000)),
            new Row("100 us", 1, 300, () -> work(100_000)),
            new Row("1 ms", 1, 100, () -> work(1_000_000)));

    private static final List<Integer> READS_BY_SWITCH = List.of(1, 2, 5, 10, 100, 1000);
    private static final int SWITCHES = 2_000;

    /**
     * What readings cost, in ns.
     *
     * @param phase what the rows of one table have in common
     * @param before what the thread did before each reading, or how often it read
     * @param mean by what was read
     * @param middle the mean of the middle half
     * @param last what is in the last column: percent of those that asked the kernel, or switches; -1 if that is not known
     */
    public record Cost(
            String phase, String before, Map<String, Double> mean, Map<String, Double> middle, double last) {}

    /** What is done before each bracket, and how many readings are in one. */
    record Row(String text, int reads, int brackets, Runnable before) {}

    /** Phases: bases that live as long as in a process that has just started, and as long as they come to live. */
    public static final String NEW = "new";

    public static final String SETTLED = "settled";
    public static final String SWITCHED = "switched";

    /** Written, so that no reading is compiled away. */
    private static volatile long unusedSink;

    private final boolean counting = TaskClock.status().rung().compareTo(Rung.SYSCALL) < 0;
    /** Half a system call: a bracket that took so much longer than counting does asked the kernel. */
    private double askedNanos;

    private final int rounds;
    private final boolean markdown;
    private final boolean json;

    private Intervals(int rounds, boolean markdown, boolean json) {
        this.rounds = rounds;
        this.markdown = markdown;
        this.json = json;
    }

    public static void main(String[] args) {
        List<String> options = new ArrayList<>(List.of(args));
        boolean markdown = options.remove("--markdown");
        boolean json = options.remove("--json");
        double seconds = Double.parseDouble(value(options, "--settle", "30"));
        int rounds = Integer.parseInt(value(options, "--rounds", Integer.toString(ROUNDS)));
        if (!options.isEmpty()) {
            System.err.println("taskclock: intervals: arguments " + options
                    + ": known are --settle N, --rounds N, --markdown, --json");
            System.exit(2);
        }
        new Intervals(rounds, markdown, json).measureAll((long) (seconds * 1e9));
    }

    /** Takes an option and its value out. */
    private static String value(List<String> options, String name, String otherwise) {
        int at = options.indexOf(name);
        if (at < 0 || at + 1 == options.size()) return otherwise;
        options.remove(at);
        return options.remove(at);
    }

    private void print(String text) {
        if (!json) System.out.println(text);
    }

    private void measureAll(long settleNanos) {
        print("JDK " + Runtime.version() + ", rung " + TaskClock.status().rung()
                + ": ns for each reading, by what the thread did before it.\n");
        for (Row row : BY_WORK) measure(new Row(row.text, row.reads, row.brackets / 10, row.before), 1);
        calibrate();
        print(byWork(NEW, rounds));
        if (counting) print(whenSettled(settleNanos));
        print("The thread is switched out once before so many readings.\n\n" + bySwitches());
        print("clock_gettime is the system call that cpuNanos makes where it asks the kernel. Middle: the mean of the"
                + " middle half,\nas the steps of System.nanoTime are too wide for a median. Work is a loop over it, so the caches stay"
                + " warm.");
    }

    // ---- what is before a reading

    private static void work(long nanos) {
        long until = System.nanoTime() + nanos;
        long left;
        do left = until - System.nanoTime();
        while (left > 0);
    }

    /** Gives a token to a thread on the same processor and blocks until it comes back. */
    private static Runnable handOver() {
        int there = Scheduling.newToken();
        int back = Scheduling.newToken();
        Thread partner = new Thread(
                () -> {
                    Scheduling.keepOnProcessor(0);
                    boolean going = true;
                    while (going) going = Scheduling.take(there) && Scheduling.give(back);
                },
                "partner");
        partner.setDaemon(true);
        partner.start();
        Scheduling.keepOnProcessor(0);
        return () -> {
            if (!Scheduling.give(there) || !Scheduling.take(back)) throw new IllegalStateException("a token was lost");
        };
    }

    // ---- measuring

    /** In blocks, round by round, so that what disturbs the machine for a while hits all contenders alike. */
    private static Map<Contender, Samples> measure(Row row, int rounds) {
        Map<Contender, Samples> all = new EnumMap<>(Contender.class);
        for (Contender contender : Contender.values()) all.put(contender, new Samples(rounds * row.brackets));
        for (int round = 0; round < rounds; round++) {
            for (Contender contender : Contender.values()) {
                block(row, contender, new Samples(row.brackets / 10), row.brackets / 10);
                block(row, contender, all.get(contender), row.brackets);
            }
        }
        return all;
    }

    private static void block(Row row, Contender contender, Samples into, int brackets) {
        for (int i = 0; i < brackets; i++) {
            row.before.run();
            long start = System.nanoTime();
            long value = contender.read(row.reads);
            into.add(System.nanoTime() - start);
            unusedSink = value;
        }
    }

    private void calibrate() {
        Map<Contender, Samples> tight = measure(BY_WORK.get(0), 1);
        long empty = tight.get(Contender.NOTHING).median();
        askedNanos = (tight.get(Contender.SYSTEM_CALL).median() - empty) / (2.0 * BY_WORK.get(0).reads);
    }

    /** The median of the times from one reading that asked the kernel to the next, in a tight loop. */
    private long lifetimeNanos() {
        Samples lifetimes = new Samples(LIFETIMES);
        long last = 0;
        while (lifetimes.count() < LIFETIMES) {
            long start = System.nanoTime();
            unusedSink = TaskClock.cpuNanos();
            if (System.nanoTime() - start < 2 * askedNanos) continue;
            if (last != 0) lifetimes.add(start - last);
            last = start;
        }
        return lifetimes.median();
    }

    private String lifetime() {
        return Goal.format("%,.0f us", lifetimeNanos() / 1e3);
    }

    // ---- tables

    /** Bases live longer the longer there was nothing wrong with them: up to a millisecond, where nothing ever is. */
    private String whenSettled(long nanos) {
        long start = System.nanoTime();
        long lifetime = lifetimeNanos();
        while (lifetime < SETTLED_NANOS && System.nanoTime() - start < nanos) {
            unusedSink = Contender.CPU_NANOS.read(READS_AT_A_TIME);
            lifetime = lifetimeNanos();
        }
        return Goal.format("After %.0f s of reading. ", (System.nanoTime() - start) / 1e9)
                + byWork(SETTLED, 3 * rounds);
    }

    private static Table table(String first, String last) {
        List<String> headings = new ArrayList<>(List.of(first));
        for (Contender contender : Contender.values()) {
            if (contender == Contender.NOTHING) continue;
            headings.add(contender.text + " mean");
            headings.add("middle");
        }
        headings.add(last);
        return new Table(headings.toArray(String[]::new));
    }

    private List<String> cells(String phase, Row row, Map<Contender, Samples> all, double last, String lastCell) {
        Cost cost = new Cost(phase, row.text, new LinkedHashMap<>(), new LinkedHashMap<>(), last);
        List<String> cells = new ArrayList<>(List.of(row.text));
        double empty = all.get(Contender.NOTHING).middle();
        for (Contender contender : Contender.values()) {
            if (contender == Contender.NOTHING) continue;
            Samples samples = all.get(contender);
            cost.mean.put(contender.text, (samples.mean() - empty) / row.reads);
            cost.middle.put(contender.text, (samples.middle() - empty) / row.reads);
            cells.add(Goal.format("%,.1f", cost.mean.get(contender.text)));
            cells.add(Goal.format("%,.1f", cost.middle.get(contender.text)));
        }
        cells.add(lastCell);
        if (json) System.out.println(GSON.toJson(cost));
        return cells;
    }

    private String byWork(String phase, int rounds) {
        Table table = table("work before each", "asked the kernel");
        String before = counting ? lifetime() : "";
        double counted = 0;
        for (Row row : BY_WORK) {
            Map<Contender, Samples> all = measure(row, rounds);
            Samples samples = all.get(Contender.CPU_NANOS);
            double empty = all.get(Contender.NOTHING).middle();
            // The lowest tenth of the tight loop asked nobody.
            if (row.reads > 1) counted = (samples.quantile(0.1) - empty) / row.reads;
            double asked = samples.countAbove(empty + row.reads * counted + askedNanos);
            double percent = counting ? 100 * asked / samples.count() / row.reads : 100;
            table.add(cells(phase, row, all, percent, counting ? Goal.format("%.2f %%", percent) : "all"));
        }
        String bases = counting ? "A base lives " + before + ", and in the end " + lifetime() + ".\n\n" : "";
        return bases + (markdown ? table.markdown() : table.aligned());
    }

    private String bySwitches() {
        Table table = table("readings after each switch", "switches each time");
        Runnable handOver = handOver();
        for (int reads : READS_BY_SWITCH) {
            Row row = new Row(Integer.toString(reads), reads, SWITCHES, handOver);
            measure(row, 1);
            long before = Scheduling.switches();
            Map<Contender, Samples> all = measure(row, rounds);
            double switches = Scheduling.switches() - before;
            double times = switches / (rounds * Contender.values().length * (SWITCHES + SWITCHES / 10));
            table.add(cells(SWITCHED, row, all, times, Goal.format("%.2f", times)));
        }
        return markdown ? table.markdown() : table.aligned();
    }
}
