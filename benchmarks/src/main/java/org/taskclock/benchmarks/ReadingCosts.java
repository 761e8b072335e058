// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.taskclock.Rung;

/**
 * What readings cost after work, or after a switch to another thread. Time-stamps bracket one or more readings; the time of an
 * empty bracket, measured in turn with the others, is subtracted.
 */
final class ReadingCosts {
    private static final int COMPILED_AFTER = 20_000;
    private static final int SLICES = 20;
    /** Few enough that a system call stands out from the noise. */
    private static final int READS_IN_TIGHT_LOOP = 10;

    /** Written, so that no reading is compiled away. */
    private static volatile long unusedSink;

    private final CadenceRow row;
    private final int reads;
    private final Runnable before;
    private final Map<Contender, Samples> samples = new EnumMap<>(Contender.class);
    /** TaskClock in brackets of fewer readings, which show how many made a system call. */
    private final Samples smaller;

    private final int smallerReads;

    private ReadingCosts(CadenceRow row, int rounds) {
        this.row = row;
        reads = row.reads();
        boolean switching = row.group() == CadenceRow.Group.SWITCHES;
        before = switching ? handOver() : row.amount() == 0 ? () -> {} : () -> work(row.amount());
        for (Contender contender : Contender.values()) {
            samples.put(contender, new Samples(rounds * row.brackets()));
        }
        smallerReads = switching ? 1 : READS_IN_TIGHT_LOOP;
        smaller = new Samples(reads > 1 ? rounds * row.brackets() * reads / smallerReads : 0);
    }

    /** Warms up until {@code from}, by {@link System#nanoTime}, then measures on the calling thread. */
    static CadenceResult.ReadingCost measure(CadenceRow row, int rounds, long from) {
        ReadingCosts costs = new ReadingCosts(row, rounds);
        costs.warmUp(from);
        double switches = 0;
        int brackets = 0;
        for (int round = 0; round < rounds; round++) {
            long switchesBefore = Scheduling.switches();
            for (Contender contender : Contender.values()) {
                brackets += costs.block(contender, null, costs.lead());
                brackets += costs.block(contender, costs.samples.get(contender), row.brackets());
            }
            switches += Scheduling.switches() - switchesBefore;
            if (costs.reads > 1) costs.smallerBlock();
        }
        return costs.cost(switches / brackets);
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

    /** A few ms per contender until the JIT has compiled it, the rest of the time at the row's cadence. */
    private void warmUp(long until) {
        int brackets = Math.max(COMPILED_AFTER / SLICES / reads, 1);
        for (int slice = 0; slice < SLICES; slice++) {
            for (Contender contender : Contender.values()) {
                for (int i = 0; i < brackets; i++) bracketNanos(contender, reads);
            }
        }
        while (System.nanoTime() - until < 0) {
            for (Contender contender : Contender.values()) block(contender, null, lead());
        }
    }

    /** Brackets to discard at the start of a block: TaskClock was not read while the other contenders had their turn. */
    private int lead() {
        return row.brackets() / 10;
    }

    private int block(Contender contender, Samples into, int brackets) {
        for (int i = 0; i < brackets; i++) {
            before.run();
            long nanos = bracketNanos(contender, reads);
            if (into != null) into.add(nanos);
        }
        return brackets;
    }

    private void smallerBlock() {
        for (int i = 0; i < row.brackets(); i++) {
            before.run();
            for (int read = 0; read < reads; read += smallerReads)
                smaller.add(bracketNanos(Contender.CPU_NANOS, smallerReads));
        }
    }

    private static long bracketNanos(Contender contender, int reads) {
        long start = System.nanoTime();
        long value = contender.read(reads);
        long nanos = System.nanoTime() - start;
        unusedSink = value;
        return nanos;
    }

    // ---- what was measured

    private CadenceResult.ReadingCost cost(double switches) {
        Map<String, Double> mean = new LinkedHashMap<>();
        Map<String, Double> middle = new LinkedHashMap<>();
        samples.forEach((contender, all) -> {
            if (contender == Contender.NOTHING || contender == Contender.COUNTER_CALL) return;
            double empty = samples.get(contender.deducted()).middle();
            mean.put(contender.text, (all.mean() - empty) / reads);
            middle.put(contender.text, (all.middle() - empty) / reads);
        });
        boolean counting = Rung.inUse().compareTo(Rung.SYSCALL) < 0;
        double askedPercent = counting ? 100 * asked(middle.get(Contender.SYSTEM_CALL.text)) : 100;
        return new CadenceResult.ReadingCost(mean, middle, askedPercent, switches);
    }

    /** The share of readings that made a system call: those that took at least half of one longer than the others. */
    private double asked(double systemCallNanos) {
        Samples all = reads == 1 ? samples.get(Contender.CPU_NANOS) : smaller;
        boolean single = reads == 1 || smallerReads == 1;
        if (single) return all.partAbove(samples.get(Contender.NOTHING).middle() + systemCallNanos / 2);
        // In a tight loop at least a tenth of the brackets made no system call, and hardly any made two.
        return all.partAbove(all.quantile(0.1) + systemCallNanos / 2) / smallerReads;
    }
}
