// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.flink;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;

/** Compares jobs with and without the reporter, in turns in one JVM. The start of Flink is included. */
final class TaskCpuCost {
    private static final int ROUNDS = 5;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private TaskCpuCost() {}

    static String measure() throws Exception {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "%nWhat a record costs, medians of %d jobs of each kind in turns. The ratios are of pairs of jobs: median,"
                        + " from the lowest to the highest.%n%n"
                        + "| job | reporter | elapsed, us/record | CPU time of the JVM, us/record | with / without: elapsed"
                        + " | CPU time |%n|---|---|---:|---:|---:|---:|%n",
                ROUNDS));
        measure(text, "a map that adds 0", false, 6_000_000);
        measure(text, "async, a pool thread that adds 0", true, 300_000);
        return text.toString();
    }

    private static void measure(StringBuilder text, String name, boolean isAsync, long records) throws Exception {
        double[][] elapsed = new double[3][ROUNDS];
        double[][] cpu = new double[3][ROUNDS];
        run(true, isAsync, records);
        run(false, isAsync, records);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < 2; i++) {
                int variant = (round + i) % 2;
                double[] result = run(variant == 1, isAsync, records);
                elapsed[variant][round] = result[0];
                cpu[variant][round] = result[1];
            }
            elapsed[2][round] = elapsed[1][round] / elapsed[0][round];
            cpu[2][round] = cpu[1][round] / cpu[0][round];
        }
        for (double[][] figures : new double[][][] {elapsed, cpu}) for (double[] each : figures) Arrays.sort(each);
        for (int variant = 0; variant < 2; variant++) {
            text.append(String.format(
                    Locale.ROOT,
                    "| %s | %s | %.3f | %.3f | %s | %s |%n",
                    name,
                    variant == 0 ? "no" : "yes",
                    elapsed[variant][ROUNDS / 2],
                    cpu[variant][ROUNDS / 2],
                    variant == 0 ? "" : range(elapsed[2]),
                    variant == 0 ? "" : range(cpu[2])));
        }
    }

    private static String range(double[] sorted) {
        return String.format(
                Locale.ROOT, "%.3f (%.3f to %.3f)", sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1]);
    }

    /** Returns elapsed time and CPU time per record, in microseconds. */
    private static double[] run(boolean hasReporter, boolean isAsync, long records) throws Exception {
        long start = System.nanoTime();
        long process = SYSTEM.getProcessCpuTime();
        TestJob.runWithoutWork(hasReporter, isAsync, records);
        return new double[] {
            (System.nanoTime() - start) / 1e3 / records, (SYSTEM.getProcessCpuTime() - process) / 1e3 / records
        };
    }
}
