// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The operator calls of each quantum of each split. Every block runs the same plan, so that blocks differ only in the
 * clock they read. The calls of a quantum take 1 ms in total, and 2 to 200 us each, distributed log-uniformly.
 */
final class QueryPlan {
    private static final double QUANTUM_MICROS = 1_000;
    private static final double SHORTEST_MICROS = 2;
    private static final double LONGEST_MICROS = 200;
    private static final long SEED = 1;

    private final int[][][] rows;

    QueryPlan(int splits, int quanta, double rowsPerMicro) {
        SplittableRandom random = new SplittableRandom(SEED);
        rows = new int[splits][quanta][];
        for (int[][] split : rows) Arrays.setAll(split, unused -> quantum(random, rowsPerMicro));
    }

    private static int[] quantum(SplittableRandom random, double rowsPerMicro) {
        int[] calls = new int[(int) (QUANTUM_MICROS / SHORTEST_MICROS) + 1];
        int count = 0;
        for (double left = QUANTUM_MICROS; left > 0; ) {
            double micros = SHORTEST_MICROS * Math.pow(LONGEST_MICROS / SHORTEST_MICROS, random.nextDouble());
            double taken = Math.max(Math.min(micros, left), SHORTEST_MICROS);
            calls[count++] = (int) (taken * rowsPerMicro);
            left -= taken;
        }
        return Arrays.copyOf(calls, count);
    }

    int splits() {
        return rows.length;
    }

    int quanta() {
        return rows[0].length;
    }

    /** Returns the number of rows that each operator call of a quantum processes. */
    int[] calls(int split, int quantum) {
        return rows[split][quantum];
    }

    /** Returns the number of operator calls in all quanta. */
    int calls() {
        return Arrays.stream(rows)
                .flatMap(Arrays::stream)
                .mapToInt(calls -> calls.length)
                .sum();
    }
}
