// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.taskclock.integration.trinocpu.TrinoJvm.Row;

/** Compares Trino's CPU times with mounted time and the kernel's: {@code TrinoCpuTest FILE}. */
public final class TrinoCpuTest {
    /** With a number of drivers, the test is short. */
    private static final boolean IS_SHORT = System.getProperty("workers") != null;

    private static final String SCHEMA = IS_SHORT ? "tiny" : "sf0.1";
    private static final int REPETITIONS = IS_SHORT ? 5 : 3;
    /** In short queries, more of the time is in the code around the drivers. */
    private static final double LEAST_CPU = IS_SHORT ? 0.7 : 0.9;
    private static final int ROUNDS = 25;
    private static final String PLATFORM = "SplitRunner";
    private static final String CARRIERS = "ForkJoinPool-1-";

    // Columns of QueryRun's lines: queries, and stages and operators.
    private static final int CPU = 0;
    private static final int WALL = 1;
    private static final int KERNEL = 2;
    private static final int MOUNTED = 3;
    private static final int QUERY_ACCOUNTS = 5;
    private static final int OPERATOR_ACCOUNTS = 6;
    private static final int TEST_USER = 0;
    private static final int TEST_CPU = 1;
    private static final int TEST_KERNEL = 2;
    private static final int TEST_MOUNTED = 3;

    private final StringBuilder text = new StringBuilder();
    private final List<String> failures = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        TrinoCpuTest test = new TrinoCpuTest();
        test.measure();
        Files.writeString(Path.of(args[0]), test.text);
        System.out.println(test.text);
        test.failures.forEach(failure -> System.err.println("trino-cpu.sh: " + failure));
        System.exit(test.failures.isEmpty() ? 0 : 1);
    }

    private void measure() throws IOException, InterruptedException {
        append(
                "# CPU time in Trino%n%nTrino 478 with a thread for each driver; TPC-H, %s; JDK %s; kernel %s; %d"
                        + " processors; load average %.1f before the test. %d repetitions of three queries. Busy: beside"
                        + " two busy processes per processor, at the same priority.%n%n",
                SCHEMA,
                System.getProperty("java.runtime.version"),
                System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                load(),
                REPETITIONS);
        measureQueries();
        if (IS_SHORT) return;
        compareClocks("Virtual", "vthreads=on", "-Dplatform=false", CARRIERS);
        compareClocks("Platform", null, "-Dplatform=true", PLATFORM);
        measureCost();
        append("%nThe load average after the test was %.1f.%n", load());
    }

    private void measureQueries() throws IOException, InterruptedException {
        append(
                "## Trino's own figures%n%nSums over all queries, in seconds. *Kernel* is the clock of the drivers'"
                        + " kernel threads or of the carriers, from the scheduler's statistics. It includes Trino's code"
                        + " around the drivers, which `totalCpuTime` does not. *Queries* and *operators* are the"
                        + " accounts of accounts.patch. At most %d drivers run at a time.%n%n"
                        + "| drivers | operators read | agent | machine | `totalScheduledTime` | `totalCpuTime` | kernel |"
                        + " `totalScheduledTime` / kernel | `totalCpuTime` / kernel | queries / kernel |"
                        + " operators / kernel |%n|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|%n",
                TrinoServer.WORKERS);
        double platform = queries("platform", "ThreadMXBean", "platform", null, PLATFORM);
        double virtual = queries("virtual", "ThreadMXBean", "virtual", null, CARRIERS);
        double agent = queries("virtual", "ThreadMXBean", "virtual", "virtual=mxbean", CARRIERS);
        double taskClock = queries("virtual", "TaskClock", "taskclock", "vthreads=on", CARRIERS);
        double accounts = queries("virtual", "accounts", "accounts", "virtual=mxbean", CARRIERS);
        check(virtual == 0, "Trino has CPU times of virtual drivers without TaskClock: " + virtual);
        for (double ratio : new double[] {platform, agent, taskClock, accounts}) {
            check(ratio > LEAST_CPU && ratio < 1.01, "Trino's CPU time is %.3f of the kernel's".formatted(ratio));
        }
    }

    /** Returns Trino's CPU time relative to the kernel's when the machine is busy. */
    private double queries(String drivers, String clock, String patches, String agentOptions, String threads)
            throws IOException, InterruptedException {
        List<Row> rows = TrinoJvm.run(
                QueryRun.class, patches, agentOptions, "-Dplatform=false", SCHEMA, "" + REPETITIONS, threads);
        double ratio = -1;
        for (String machine : List.of("idle", "busy")) {
            long[] sums =
                    sum(rows, row -> row.kind().equals("query") && row.machine().equals(machine));
            ratio = (double) sums[CPU] / sums[KERNEL];
            append(
                    "| %s | %s | %s | %s | %.2f | %.2f | %.2f | %.2f | %.3f | %.3f | %.3f |%n",
                    drivers,
                    clock,
                    agentOptions == null ? "no" : "`" + agentOptions + "`",
                    machine,
                    sums[WALL] / 1e9,
                    sums[CPU] / 1e9,
                    sums[KERNEL] / 1e9,
                    (double) sums[WALL] / sums[KERNEL],
                    ratio,
                    (double) sums[QUERY_ACCOUNTS] / sums[KERNEL],
                    (double) sums[OPERATOR_ACCOUNTS] / sums[KERNEL]);
        }
        return ratio;
    }

    private void compareClocks(String drivers, String agentOptions, String property, String threads)
            throws IOException, InterruptedException {
        List<Row> rows =
                TrinoJvm.run(QueryRun.class, "measure", agentOptions, property, SCHEMA, "" + REPETITIONS, threads);
        boolean isVirtual = agentOptions != null;
        append(
                "%n## %s drivers: three clocks, read at the same points%n%nMilliseconds of all operators, sums over the"
                        + " repetitions; operators with less than 10 ms are left out. *Kernel* is the clock of the"
                        + " %s, %s is the wall time%s.%n%n"
                        + "| machine | query | | user | TaskClock | kernel | %s | TaskClock / kernel | %s / kernel |%n"
                        + "|---|---|---|---:|---:|---:|---:|---:|---:|%n",
                drivers,
                isVirtual ? "carrier during each mount" : "thread",
                isVirtual ? "*mounted*" : "*wall*",
                isVirtual ? " of the mounts" : " of the calls",
                isVirtual ? "mounted" : "wall",
                isVirtual ? "mounted" : "wall");
        for (String machine : List.of("idle", "busy")) {
            for (String query : TrinoServer.NAMES) {
                List<Row> own = rows.stream()
                        .filter(row ->
                                row.machine().equals(machine) && row.query().equals(query))
                        .toList();
                long[] all = test(own, "operator", null);
                check(
                        Math.abs(all[TEST_CPU] - all[TEST_KERNEL]) < 0.02 * all[TEST_KERNEL],
                        "%s drivers, %s, %s: TaskClock and the kernel differ".formatted(drivers, machine, query));
                check(
                        all[TEST_USER] > 0 && all[TEST_USER] <= all[TEST_CPU],
                        "%s drivers, %s, %s: user time is wrong".formatted(drivers, machine, query));
                row(machine, query, "**query**", all);
                if (machine.equals("idle")) continue;
                for (String kind : List.of("stage", "operator")) {
                    LinkedHashSet<String> names = new LinkedHashSet<>();
                    own.stream().filter(row -> row.kind().equals(kind)).forEach(row -> names.add(row.name()));
                    for (String name : names) {
                        long[] times = test(own, kind, name);
                        String label = kind.equals("stage") ? "stage " + name : "`" + name + "`";
                        if (times[TEST_KERNEL] >= 10_000_000) row(machine, query, label, times);
                    }
                }
            }
        }
        long[] queries = sum(rows, row -> row.kind().equals("query"));
        if (isVirtual) {
            append(
                    "%n`totalScheduledTime` of all queries was %.3f times the time for which the drivers were mounted.%n",
                    (double) queries[WALL] / queries[MOUNTED]);
        }
    }

    /** Returns user, TaskClock's, the kernel's, and mounted time. */
    private static long[] test(List<Row> rows, String kind, String name) {
        long[] sums = sum(
                rows,
                row -> row.kind().equals(kind) && (name == null || row.name().equals(name)));
        int user = kind.equals("stage") ? 4 : 2;
        return Arrays.copyOfRange(sums, user, user + 4);
    }

    private void row(String machine, String query, String name, long[] times) {
        append(
                "| %s | %s | %s | %.1f | %.1f | %.1f | %.1f | %.4f | %.2f |%n",
                machine,
                query,
                name,
                times[TEST_USER] / 1e6,
                times[TEST_CPU] / 1e6,
                times[TEST_KERNEL] / 1e6,
                times[TEST_MOUNTED] / 1e6,
                (double) times[TEST_CPU] / times[TEST_KERNEL],
                (double) times[TEST_MOUNTED] / times[TEST_KERNEL]);
    }

    private void measureCost() throws IOException, InterruptedException {
        List<Row> rows = TrinoJvm.run(CostRun.class, "measure", null, "-Dplatform=true", SCHEMA, "" + ROUNDS, PLATFORM);
        Map<String, List<long[]>> modes = new LinkedHashMap<>();
        for (Row row : rows)
            modes.computeIfAbsent(row.name(), name -> new ArrayList<>()).add(row.times());
        List<long[]> none = modes.get(Clocks.Mode.NONE.name());
        append(
                "%n## What the readings cost%n%nPlatform drivers in one JVM, %d rounds of the three queries with each"
                        + " clock in turns. The ratios are medians over the rounds, relative to no clock in the same"
                        + " round, with the quartiles.%n%n"
                        + "| operators read | elapsed, s | CPU time of drivers, s | readings | us of CPU time per reading |"
                        + " elapsed | CPU time of drivers | CPU time of the JVM |%n"
                        + "|---|---:|---:|---:|---:|---:|---:|---:|%n",
                ROUNDS);
        modes.forEach((mode, times) -> append(
                "| %s | %.2f | %.2f | %.0f | %.0f | %s | %s | %s |%n",
                Clocks.Mode.valueOf(mode).label,
                median(times, 0) / 1e9,
                median(times, 1) / 1e9,
                median(times, 3),
                median(times, 1) / 1e3 / median(times, 3),
                ratios(times, none, 0),
                ratios(times, none, 1),
                ratios(times, none, 2)));
    }

    private static double median(List<long[]> times, int column) {
        return times.stream().mapToLong(each -> each[column]).sorted().toArray()[times.size() / 2];
    }

    private static String ratios(List<long[]> times, List<long[]> base, int column) {
        double[] ratios = new double[times.size()];
        for (int i = 0; i < ratios.length; i++) ratios[i] = (double) times.get(i)[column] / base.get(i)[column];
        Arrays.sort(ratios);
        int n = ratios.length;
        return String.format(Locale.ROOT, "%.3f (%.3f to %.3f)", ratios[n / 2], ratios[n / 4], ratios[n - 1 - n / 4]);
    }

    private static long[] sum(List<Row> rows, Predicate<Row> condition) {
        long[] sums = new long[8];
        for (Row row : rows) {
            if (!condition.test(row)) continue;
            for (int i = 0; i < row.times().length; i++) sums[i] += row.times()[i];
        }
        return sums;
    }

    private void check(boolean condition, String failure) {
        if (!condition) failures.add(failure);
    }

    private static double load() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }

    private void append(String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments));
    }
}
