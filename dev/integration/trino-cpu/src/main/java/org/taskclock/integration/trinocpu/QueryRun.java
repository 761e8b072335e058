// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import io.trino.execution.QueryInfo;
import io.trino.execution.StageInfo;
import io.trino.execution.StagesInfo;
import io.trino.operator.OperatorStats;
import io.trino.plugin.base.metrics.DurationTiming;
import io.trino.plugin.base.metrics.LongCount;
import io.trino.spi.metrics.Metric;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;

/**
 * Runs the queries in one JVM, undisturbed and beside busy processes, and prints a line for each query, stage, and
 * operator: {@code QueryRun SCHEMA REPETITIONS THREADS}, where the drivers run on kernel threads whose names start with
 * THREADS. The times are nanoseconds, -1 if unknown.
 */
public final class QueryRun {
    private static final int WARM_UP = 3;
    private static final int BUSY_PER_PROCESSOR = 2;

    /** Trino replaces System.out. */
    private static final PrintStream OUT = System.out;

    private QueryRun() {}

    public static void main(String[] args) throws Exception {
        int repetitions = Integer.parseInt(args[1]);
        TrinoServer trino = new TrinoServer(args[0]);
        Clocks.compare(true); // before the warm-up, because the first reading takes milliseconds
        for (int i = 0; i < WARM_UP; i++) {
            for (String sql : TrinoServer.QUERIES) trino.run(sql);
        }
        run(trino, "idle", repetitions, args[2]);
        List<Process> busy = new ArrayList<>();
        try {
            int count = BUSY_PER_PROCESSOR * Runtime.getRuntime().availableProcessors();
            for (int i = 0; i < count; i++) {
                busy.add(new ProcessBuilder("timeout", "300", "sh", "-c", "while :; do :; done").start());
            }
            run(trino, "busy", repetitions, args[2]);
        } finally {
            busy.forEach(Process::destroy);
        }
        OUT.flush();
        System.exit(0); // some of Trino's threads are not daemons
    }

    private static void run(TrinoServer trino, String machine, int repetitions, String threads) throws Exception {
        for (int i = 0; i < repetitions; i++) {
            for (int q = 0; q < TrinoServer.QUERIES.size(); q++) {
                long kernel = TrinoServer.kernelNanos(threads);
                long mounted = DriverThreads.allMountedNanos();
                long mountedKernel = DriverThreads.allKernelNanos();
                long operators = operatorNanos();
                QueryInfo query = trino.run(TrinoServer.QUERIES.get(q));
                Thread.sleep(50); // the last drivers may still be unmounting
                kernel = TrinoServer.kernelNanos(threads) - kernel;
                mounted = DriverThreads.allMountedNanos() - mounted;
                mountedKernel = DriverThreads.allKernelNanos() - mountedKernel;
                String place = machine + "\t" + TrinoServer.NAMES.get(q) + "\t" + i;
                print(query, place, kernel, mounted, mountedKernel, operatorNanos() - operators);
            }
        }
    }

    /** Returns the CPU time of the accounts of all operators, 0 without accounts.patch. */
    private static long operatorNanos() {
        return CpuAccounts.type("operator").read().accounts().stream()
                .mapToLong(AccountUsage::cpuNanos)
                .sum();
    }

    private static void print(
            QueryInfo query, String place, long kernel, long mounted, long mountedKernel, long operators) {
        long cpu = TrinoServer.nanos(query.getQueryStats().getTotalCpuTime());
        long scheduled = TrinoServer.nanos(query.getQueryStats().getTotalScheduledTime());
        long account =
                CpuAccounts.type("query").of(query.getQueryId().toString()).cpuNanos();
        print("query", place, "query", cpu, scheduled, kernel, mounted, mountedKernel, account, operators);
        for (StageInfo stage : StagesInfo.getAllStages(query.getStages())) {
            String number = stage.getStageId().toString();
            long[] sums = new long[6];
            for (OperatorStats operator : stage.getStageStats().getOperatorSummaries()) {
                long[] times = times(operator);
                for (int i = 0; i < sums.length; i++) sums[i] += times[i];
                print("operator", place, operator.getOperatorType(), times);
            }
            long stageCpu = TrinoServer.nanos(stage.getStageStats().getTotalCpuTime());
            long stageScheduled = TrinoServer.nanos(stage.getStageStats().getTotalScheduledTime());
            number = number.substring(number.lastIndexOf('.') + 1);
            print(
                    "stage",
                    place,
                    number,
                    stageCpu,
                    stageScheduled,
                    sums[0],
                    sums[1],
                    sums[2],
                    sums[3],
                    sums[4],
                    sums[5]);
        }
    }

    /** Returns Trino's CPU time and wall time, and from the metrics of the patches user, cpu, kernel, and mounted. */
    private static long[] times(OperatorStats operator) {
        long cpu = TrinoServer.nanos(operator.getAddInputCpu())
                + TrinoServer.nanos(operator.getGetOutputCpu())
                + TrinoServer.nanos(operator.getFinishCpu());
        long wall = TrinoServer.nanos(operator.getAddInputWall())
                + TrinoServer.nanos(operator.getGetOutputWall())
                + TrinoServer.nanos(operator.getFinishWall());
        Map<String, Metric<?>> metrics = operator.getMetrics().getMetrics();
        long user = metrics.get("User CPU time") instanceof DurationTiming timing
                ? timing.getDuration().toNanos()
                : -1;
        return new long[] {
            cpu, wall, user, count(metrics, "test cpu"), count(metrics, "test kernel"), count(metrics, "test mounted")
        };
    }

    private static long count(Map<String, Metric<?>> metrics, String name) {
        return metrics.get(name) instanceof LongCount count ? count.getTotal() : -1;
    }

    private static void print(String kind, String place, String name, long... times) {
        StringBuilder line = new StringBuilder("@" + kind + "\t" + place + "\t" + name);
        for (long time : times) line.append('\t').append(time);
        OUT.println(line);
    }
}
