// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/**
 * What a reading costs by what lies before it: work, or a switch to another thread. Time-stamps bracket one or more readings;
 * what empty brackets take, measured in turn with the others, is deducted. Arguments: {@code --settle N}, the most seconds
 * to read until bases live as long as they ever do, {@code --markdown}.
 */
public final class Intervals {
    private static final int ROUNDS = 5;
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

    /** What is done before each bracket, and how many readings are in one. */
    record Row(String text, int reads, int brackets, Runnable before) {}

    /** Written, so that no reading is compiled away. */
    private static volatile long unusedSink;

    private final boolean counting = TaskClock.status().rung().compareTo(Rung.SYSCALL) < 0;
    /** Half a system call: a bracket that took so much longer than counting does asked the kernel. */
    private double askedNanos;

    private Intervals() {}

    public static void main(String[] args) {
        List<String> options = new ArrayList<>(List.of(args));
        boolean markdown = options.remove("--markdown");
        double seconds = 30;
        if (options.size() == 2 && options.get(0).equals("--settle")) {
            seconds = Double.parseDouble(options.get(1));
            options.clear();
        }
        if (!options.isEmpty()) {
            System.err.println("taskclock: intervals: arguments " + options + ": known are --settle N, --markdown");
            System.exit(2);
        }
        new Intervals().print(markdown, (long) (seconds * 1e9));
    }

    private void print(boolean markdown, long settleNanos) {
        System.out.println("JDK " + Runtime.version() + ", rung "
                + TaskClock.status().rung() + ": ns for each reading, by what the thread did before it.\n");
        for (Row row : BY_WORK) measure(new Row(row.text, row.reads, row.brackets / 10, row.before), 1);
        calibrate();
        System.out.println(byWork(ROUNDS, markdown));
        if (counting) System.out.println(whenSettled(settleNanos, markdown));
        System.out.println("The thread is switched out once before so many readings.\n\n" + bySwitches(markdown));
        System.out.print(
                "clock_gettime is the system call that cpuNanos makes where it asks the kernel. Middle: the mean of the"
                        + " middle half,\nas the steps of System.nanoTime are too wide for a median. Work is a loop over it, so the caches stay"
                        + " warm.\n");
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
    private String whenSettled(long nanos, boolean markdown) {
        long start = System.nanoTime();
        long lifetime = lifetimeNanos();
        while (lifetime < SETTLED_NANOS && System.nanoTime() - start < nanos) {
            unusedSink = Contender.CPU_NANOS.read(READS_AT_A_TIME);
            lifetime = lifetimeNanos();
        }
        return Goal.format("After %.0f s of reading. ", (System.nanoTime() - start) / 1e9)
                + byWork(3 * ROUNDS, markdown);
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

    private static List<String> cells(Row row, Map<Contender, Samples> all) {
        List<String> cells = new ArrayList<>(List.of(row.text));
        double empty = all.get(Contender.NOTHING).middle();
        for (Contender contender : Contender.values()) {
            if (contender == Contender.NOTHING) continue;
            Samples samples = all.get(contender);
            cells.add(Goal.format("%,.1f", (samples.mean() - empty) / row.reads));
            cells.add(Goal.format("%,.1f", (samples.middle() - empty) / row.reads));
        }
        return cells;
    }

    private String byWork(int rounds, boolean markdown) {
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
            List<String> cells = cells(row, all);
            cells.add(counting ? Goal.format("%.2f %%", 100 * asked / samples.count() / row.reads) : "all");
            table.add(cells);
        }
        String bases = counting ? "A base lives " + before + ", and in the end " + lifetime() + ".\n\n" : "";
        return bases + (markdown ? table.markdown() : table.aligned());
    }

    private static String bySwitches(boolean markdown) {
        Table table = table("readings after each switch", "switches each time");
        Runnable handOver = handOver();
        for (int reads : READS_BY_SWITCH) {
            Row row = new Row(Integer.toString(reads), reads, SWITCHES, handOver);
            measure(row, 1);
            long before = Scheduling.switches();
            Map<Contender, Samples> all = measure(row, ROUNDS);
            double switches = Scheduling.switches() - before;
            List<String> cells = cells(row, all);
            int times = ROUNDS * Contender.values().length * (SWITCHES + SWITCHES / 10);
            cells.add(Goal.format("%.2f", switches / times));
            table.add(cells);
        }
        return markdown ? table.markdown() : table.aligned();
    }
}
