// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.Backend;

/**
 * Measures the cost of readings after work, or after a switch to another thread. Time stamps bracket one or more
 * readings. The time of an empty bracket, measured in alternation with the others, is subtracted.
 */
final class ReadingCosts {
    private static final int COMPILED_AFTER = 20_000;
    private static final int SLICES = 20;
    /** Small enough that a system call stands out from the noise. */
    private static final int READS_IN_TIGHT_LOOP = 10;

    private static final List<ReadingLoop> CONTENDERS = List.of(
            ReadingLoop.NOTHING,
            ReadingLoop.COUNTER_CALL,
            ReadingLoop.COUNTER,
            ReadingLoop.EMPTY_CALL,
            ReadingLoop.NANO_TIME,
            ReadingLoop.SYSTEM_CALL,
            ReadingLoop.STOCK_CPU,
            ReadingLoop.CPU_NANOS);

    /** Keeps the JIT compiler from removing the readings. */
    private static volatile long unusedSink;

    private final CadenceRow row;
    private final int reads;
    private final Runnable before;
    private final Map<ReadingLoop, BracketSamples> samples = new EnumMap<>(ReadingLoop.class);
    /** Brackets with fewer readings of TaskClock, to count system calls. */
    private final BracketSamples smaller;

    private final int smallerReads;

    private ReadingCosts(CadenceRow row, int rounds) {
        this.row = row;
        reads = row.reads();
        boolean switching = row.group() == CadenceRow.Group.SWITCHES;
        before = switching ? handOver() : row.amount() == 0 ? () -> {} : () -> work(row.amount());
        for (ReadingLoop contender : CONTENDERS) {
            samples.put(contender, new BracketSamples(rounds * row.brackets()));
        }
        smallerReads = switching ? 1 : READS_IN_TIGHT_LOOP;
        smaller = new BracketSamples(reads > 1 ? rounds * row.brackets() * reads / smallerReads : 0);
    }

    /** Warms up until {@code from}, by {@link System#nanoTime}, and then measures on the calling thread. */
    static CadenceResult.ReadingCost measure(CadenceRow row, int rounds, long from) {
        ReadingCosts costs = new ReadingCosts(row, rounds);
        costs.warmUp(from);
        double switches = 0;
        int brackets = 0;
        for (int round = 0; round < rounds; round++) {
            long switchesBefore = NativeScheduling.switches();
            for (ReadingLoop contender : CONTENDERS) {
                brackets += costs.block(contender, null, costs.discarded());
                brackets += costs.block(contender, costs.samples.get(contender), row.brackets());
            }
            switches += NativeScheduling.switches() - switchesBefore;
            if (costs.reads > 1) costs.smallerBlock();
        }
        return costs.cost(switches / brackets);
    }

    // ---- before a reading

    private static void work(long nanos) {
        long until = System.nanoTime() + nanos;
        long left;
        do left = until - System.nanoTime();
        while (left > 0);
    }

    /** Gives a token to a thread on the same processor and blocks until it comes back. */
    private static Runnable handOver() {
        int request = NativeScheduling.newToken();
        int response = NativeScheduling.newToken();
        Thread partner = new Thread(
                () -> {
                    NativeScheduling.keepOnProcessor(0);
                    boolean going = true;
                    while (going) going = NativeScheduling.take(request) && NativeScheduling.give(response);
                },
                "partner");
        partner.setDaemon(true);
        partner.start();
        NativeScheduling.keepOnProcessor(0);
        return () -> {
            if (!NativeScheduling.give(request) || !NativeScheduling.take(response))
                throw new IllegalStateException("lost a token");
        };
    }

    // ---- measuring

    /** Runs each contender for a few ms until it is compiled, and then all of them at the row's cadence. */
    private void warmUp(long until) {
        int brackets = Math.max(COMPILED_AFTER / SLICES / reads, 1);
        for (int slice = 0; slice < SLICES; slice++) {
            for (ReadingLoop contender : CONTENDERS) {
                for (int i = 0; i < brackets; i++) bracketNanos(contender, reads);
            }
        }
        while (System.nanoTime() - until < 0) {
            for (ReadingLoop contender : CONTENDERS) block(contender, null, discarded());
        }
    }

    /**
     * Returns the number of brackets to discard at the start of a block, because TaskClock was not read during the
     * other blocks.
     */
    private int discarded() {
        return row.brackets() / 10;
    }

    private int block(ReadingLoop contender, BracketSamples into, int brackets) {
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
                smaller.add(bracketNanos(ReadingLoop.CPU_NANOS, smallerReads));
        }
    }

    private static long bracketNanos(ReadingLoop contender, int reads) {
        long start = System.nanoTime();
        long value = contender.read(reads);
        long nanos = System.nanoTime() - start;
        unusedSink = value;
        return nanos;
    }

    // ---- results

    private CadenceResult.ReadingCost cost(double switches) {
        Map<String, Double> mean = new LinkedHashMap<>();
        Map<String, Double> middle = new LinkedHashMap<>();
        samples.forEach((contender, all) -> {
            if (contender == ReadingLoop.NOTHING || contender == ReadingLoop.COUNTER_CALL) return;
            double empty = samples.get(contender.deducted()).middle();
            mean.put(contender.text, (all.mean() - empty) / reads);
            middle.put(contender.text, (all.middle() - empty) / reads);
        });
        boolean counting = Backend.inUse().compareTo(Backend.SYSCALL) < 0;
        double askedPercent = counting ? 100 * askedShare(middle.get(ReadingLoop.SYSTEM_CALL.text)) : 100;
        return new CadenceResult.ReadingCost(mean, middle, askedPercent, switches);
    }

    /** Returns the share of readings that made a system call: those that took longer by at least half of one. */
    private double askedShare(double systemCallNanos) {
        BracketSamples all = reads == 1 ? samples.get(ReadingLoop.CPU_NANOS) : smaller;
        boolean single = reads == 1 || smallerReads == 1;
        if (single) return all.shareAbove(samples.get(ReadingLoop.NOTHING).middle() + systemCallNanos / 2);
        // In a tight loop, at least a tenth of the brackets made no system call, and almost none made two.
        return all.shareAbove(all.quantile(0.1) + systemCallNanos / 2) / smallerReads;
    }
}
