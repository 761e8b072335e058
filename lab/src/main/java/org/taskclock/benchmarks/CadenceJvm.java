// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import org.taskclock.Backend;
import org.taskclock.TaskClock;

/**
 * Measures one row of {@link CadenceBenchmark} and prints the result as a line of JSON. Starts measuring one second
 * after the first reading of the process. Arguments: the row, the number of the fork, the number of rounds.
 */
final class CadenceJvm {
    private static final long WARM_UP_NANOS = 1_000_000_000;

    private CadenceJvm() {}

    public static void main(String[] args) throws Exception {
        // If one thread failed, the others would wait for it forever.
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            e.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        try {
            TaskClock.cpuNanos();
        } catch (IllegalArgumentException | IllegalStateException e) {
            fail(e.getMessage());
        }
        long from = System.nanoTime() + WARM_UP_NANOS;
        CadenceResult.Environment environment = CadenceResult.Environment.current();
        if (environment.backend().equals(Backend.MXBEAN.toString()))
            fail("the native library is not in use: run taskclock doctor");
        CadenceRow row = CadenceRow.named(args[0]).get(0);
        int fork = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        CadenceResult result =
                switch (row.group()) {
                    case CADENCE, SWITCHES ->
                        CadenceResult.of(row, fork, environment, ReadingCosts.measure(row, rounds, from));
                    case THREADS ->
                        CadenceResult.of(
                                row, fork, environment, ConcurrentReadings.measure(row.amount(), rounds, from));
                    case ENGINE ->
                        CadenceResult.of(row, fork, environment, QueryEngine.measure(row.amount(), rounds, from));
                    case FIRST -> throw new IllegalArgumentException(row.name() + ": each reading needs its own JVM");
                };
        System.out.println(result.json());
    }

    private static void fail(String message) {
        System.err.println("taskclock: cadence: " + message);
        System.exit(1);
    }
}
