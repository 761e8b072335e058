// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Results and recordings with everything that a page can show. The figures are made up. */
final class Samples {
    /** A hostile thread name. If any of it became markup or script, it would set window.injected. */
    static final String HOSTILE = "</script><script>window.injected=1</script><img src=x onerror=\"window.injected=1\">"
            + "'\"`${window.injected=1}\u2028\u2029\u0000\uD800 {a|b} &lt; <!-- \u202Eabc --> ]]>";

    private static final double[] PERCENTILES = {0, 50, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999, 100};

    private Samples() {}

    /** Returns a result without figures. */
    static Result empty(String kind, Map<String, String> machine, Result.Load... load) {
        return new Result(
                Result.FORMAT,
                kind,
                "quick",
                "2026-11-21T12:00:00Z",
                "2026-11-21T12:02:51Z",
                true,
                List.of(),
                machine,
                List.of(load),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of(),
                List.of(),
                Map.of());
    }

    /** @param factor multiplies all measured values */
    static Result result(String name, double factor, String cpu) {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("cpu", cpu);
        machine.put("processors", "2");
        machine.put("kernel", "6.18.5");
        machine.put("backend", "rseq");
        return new Result(
                Result.FORMAT,
                "bench",
                name,
                "2026-11-21T12:00:00Z",
                "2026-11-21T12:02:51Z",
                factor == 1,
                List.of("taskclock", "bench", name, "--jdk", "/opt/a jdk's"),
                machine,
                List.of(
                        new Result.Load("JDK 17.0.15, rseq: 1 thread", 60, factor == 1 ? 0.8 : 41.25, 0.1),
                        new Result.Load("JDK 25.0.3, rseq: 1 thread", 60, 1.2, factor == 1 ? 0 : 3.5)),
                List.of(
                        new Result.Jdk("17.0.15", "Debian", List.of()),
                        new Result.Jdk("25.0.3", "Temurin", List.of("-XX:+UseSerialGC"))),
                List.of(
                        "JMH, forked: 2 warm-ups of 5 s, 5 measurements of 5 s.",
                        "Sampling cannot resolve 10 ns.\n\nSee the means instead."),
                List.of(
                        new Result.Finding(
                                "13 % by id 0",
                                "the blog post", "contradicted", "We measured 4 %, with a spread of 2 points."),
                        new Result.Finding("30x to 400x", "JDK-8210452", "confirmed", "494 x on JDK 17."),
                        new Result.Finding(
                                "The gap widens under concurrency",
                                "the blog post",
                                "not measured",
                                "Run the profile with several threads."),
                        new Result.Finding("Odd: " + HOSTILE, HOSTILE, "confirmed", HOSTILE)),
                List.of(new Result.Table(
                        "Published and measured",
                        "Each row of the source, and the measured value.",
                        List.of(
                                new Result.Column("row", ""),
                                new Result.Column("published", "us"),
                                new Result.Column("measured", "us"),
                                new Result.Column("ratio", "")),
                        List.of(
                                row("p0.50, before", 10.272, 9.222 * factor, 0.898),
                                row("p0.99, before", 17.984, 21.536 * factor, 1.198),
                                row("p1.00, before", 1235.968, 4321.123456789 * factor, 3.496),
                                row("p0.50, after", 0.28, null, null),
                                row(HOSTILE, null, 0.5 * factor, HOSTILE)))),
                List.of(new Result.Bars(
                        "User time of the calling thread",
                        "Median, and the range of the forks.",
                        "ns",
                        List.of(
                                new Result.Bar(
                                        "stock getCurrentThreadUserTime(), JDK 17",
                                        9222.0 * factor,
                                        9100.0 * factor,
                                        9400.0 * factor,
                                        false),
                                new Result.Bar(
                                        "stock getCurrentThreadUserTime(), JDK 25.0.3",
                                        9437.0 * factor,
                                        9180.0 * factor,
                                        9690.0 * factor,
                                        false),
                                new Result.Bar("the blog post: before", 10272, null, null, true),
                                new Result.Bar("the blog post: after", 280, null, null, true),
                                new Result.Bar(
                                        "clock_gettime by the constant id",
                                        511.25 * factor,
                                        420.0 * factor,
                                        790.0 * factor,
                                        false),
                                new Result.Bar(
                                        "TaskClock.userNanos(), backend rseq",
                                        18.61 * factor,
                                        18.4 * factor,
                                        19.2 * factor,
                                        false),
                                new Result.Bar(HOSTILE, 24.13 * factor, null, null, false)))),
                List.of(new Result.Percentiles(
                        "Reading user time",
                        "16 threads, JMH SampleTime.",
                        "us",
                        List.of(
                                new Result.Series("stock, JDK 17", false, curve(8.9 * factor, 1.5)),
                                new Result.Series("TaskClock, rseq", false, curve(0, 0.02)),
                                new Result.Series("the blog post: before", true, curve(10.2, 1.2)),
                                new Result.Series(HOSTILE, false, curve(0.4, 0.3))))),
                List.of(
                        new Result.Timeline(
                                "Two threads, yielding",
                                "Per second.",
                                "% of a core",
                                true,
                                List.of(
                                        new Result.Series("thread 0 user", false, wave(20, 34 * factor, 1)),
                                        new Result.Series("thread 0 system", false, wave(20, 60, 2)),
                                        new Result.Series("thread 1 user", false, wave(20, 31, 3)),
                                        new Result.Series("thread 1 system", false, wave(20, 55, 4)))),
                        new Result.Timeline(
                                "Progress",
                                "",
                                "numbers/s",
                                false,
                                List.of(
                                        new Result.Series("yield", false, wave(20, 120_000 * factor, 1)),
                                        new Result.Series(HOSTILE, false, wave(20, 900_000, 2)),
                                        new Result.Series("the newsletter", true, wave(20, 500_000, 0))))),
                Map.of(),
                List.of(
                        new Result.FlameGraph("Before", "Kernel frames too.", STACKS),
                        new Result.FlameGraph("Nothing sampled", "", "")),
                Map.of());
    }

    private static final String STACKS = String.join(
            "\n",
            "main;Bench.run_[j];sun/management/ThreadImpl.getThreadUserCpuTime_[j];fopen64;do_sys_open_[k] 120",
            "main;Bench.run_[j];sun/management/ThreadImpl.getThreadUserCpuTime_[j];fgets;proc_tgid_stat_[k];do_task_stat_[k] 310",
            "main;Bench.run_[j];sun/management/ThreadImpl.getThreadUserCpuTime_[j];fgets;proc_tgid_stat_[k];pid_nr_ns_[k] 44",
            "main;Bench.run_[j];sun/management/ThreadImpl.getThreadUserCpuTime_[j];sscanf 207",
            "main;Bench.run_[j];" + "p.a".repeat(40) + ".first_[i] 9",
            "main;Bench.run_[j];" + "p.a".repeat(40) + ".second_[j] 8",
            "main;Bench.run_[j];" + HOSTILE.replace(";", ",") + ";again recursion;again recursion 25",
            "this line is not a stack",
            "");

    private static List<Object> row(Object... cells) {
        return Arrays.asList(cells);
    }

    private static List<double[]> curve(double from, double grow) {
        List<double[]> points = new ArrayList<>();
        for (int i = 0; i < PERCENTILES.length; i++) {
            points.add(new double[] {PERCENTILES[i], from * (1 + i * 0.03) + grow * (Math.pow(2.4, i) - 1) / 40});
        }
        return points;
    }

    private static List<double[]> wave(int seconds, double height, int phase) {
        List<double[]> points = new ArrayList<>();
        for (int i = 1; i <= seconds; i++) {
            points.add(new double[] {i, Math.round(height * (1 + 0.15 * Math.sin(i * 0.7 + phase)) * 100) / 100.0});
        }
        return points;
    }

    /** Returns what {@code record --evidence} kept of the yield storm. */
    static Evidence evidence() {
        Instant since = Instant.parse("2026-11-21T12:00:30Z");
        return new Evidence(
                "yield-storm",
                "\"yielder </script>\" calls Thread.yield",
                since,
                since.plusSeconds(7),
                Map.of(Evidence.PROFILE, "Orders.run;java.lang.Thread.yield 4000\n"));
    }

    /** Returns one interval per second, with a gap of a minute in the middle and a yield storm in two parts. */
    static List<Interval> intervals(int count) {
        List<Interval> intervals = new ArrayList<>();
        Instant end = Instant.parse("2026-11-21T12:00:00Z");
        for (int i = 0; i < count; i++) {
            end = end.plusSeconds(i == count / 2 ? 60 : 1);
            boolean storm = (i >= count / 4 && i < count / 3) || i >= count * 3 / 4;
            List<ThreadUsage> threads = new ArrayList<>();
            threads.add(
                    thread(101, "http-nio-8080-exec-1", "http-nio-#-exec-#", ThreadKind.JAVA, 300 + i % 40 * 5, 240));
            threads.add(thread(102, "http-nio-8080-exec-2", "http-nio-#-exec-#", ThreadKind.JAVA, 200, 150));
            threads.add(thread(103, HOSTILE, HOSTILE, ThreadKind.JAVA, storm ? 900 : 20, storm ? 110 : 15));
            threads.add(
                    thread(104, "ForkJoinPool-1-worker-1", "ForkJoinPool-#-worker-#", ThreadKind.CARRIER, 420, 400));
            threads.add(
                    thread(105, "G1 Conc#0", "G1 Conc#", ThreadKind.GC, i % 30 == 0 ? 600 : 5, i % 30 == 0 ? 580 : 5));
            threads.add(thread(
                    106, "C2 CompilerThre", "C# CompilerThread#", ThreadKind.JIT, 1000 / (i + 1), 950 / (i + 1)));
            for (int k = 0; k < 12; k++) {
                threads.add(thread(
                        200 + k,
                        "scheduler-" + (char) ('a' + k),
                        "scheduler-" + (char) ('a' + k),
                        ThreadKind.JAVA,
                        3 + k,
                        2));
            }
            threads.add(ThreadUsage.of(4711, 0, "query-#", ThreadKind.VIRTUAL)
                    .threads(1000)
                    .cpu(380_000_000L, 370_000_000L)
                    .state('R')
                    .build());
            long cpu = 0;
            long user = 0;
            for (ThreadUsage thread : threads) {
                if (thread.kind() == ThreadKind.VIRTUAL) continue;
                cpu += thread.cpuNanos();
                user += thread.userNanos();
            }
            // Threads that have ended used 30 ms, including 20 ms of user time.
            ProcessUsage totals = new ProcessUsage(
                    cpu + 30_000_000,
                    user + 20_000_000,
                    cpu + 50_000_000,
                    4,
                    storm ? 40_000_000 : 0,
                    cpu + 400_000_000,
                    8,
                    2_000_000);
            List<Finding> findings = storm
                    ? List.of(new Finding(
                            new YieldStorm(),
                            103,
                            "Thread 103 yields 9,000 times a second: " + HOSTILE,
                            List.of("88 % system", "in Thread.yield0")))
                    : List.of();
            intervals.add(new Interval(
                    end,
                    1_000_000_000,
                    4711,
                    "com.example.Server",
                    i == 0 ? "proc" : "agent",
                    threads,
                    totals,
                    findings,
                    List.of("No kernel stacks.")));
        }
        return intervals;
    }

    /** Returns the intervals of {@link #intervals} with the accounts of two types. */
    static List<Interval> withAccounts(int count) {
        List<ThreadUsage> accounts = new ArrayList<>();
        accounts.add(account("endpoint", "/orders", 500));
        accounts.add(account("tenant", "(unaccounted)", 700));
        accounts.add(account("tenant", HOSTILE, 300));
        for (int i = 0; i < 12; i++) accounts.add(account("tenant", "t" + i, 100 - i));
        return intervals(count).stream()
                .map(interval -> new Interval(
                        interval.end(),
                        interval.intervalNanos(),
                        interval.pid(),
                        interval.name(),
                        interval.source(),
                        interval.threads(),
                        interval.totals(),
                        interval.findings(),
                        interval.notes(),
                        interval.endedPools(),
                        accounts))
                .toList();
    }

    private static ThreadUsage account(String type, String name, long millis) {
        return ThreadUsage.ofGroup(4711, new PoolKey(new AccountKey(type, name).pool(), ThreadKind.ACCOUNT), 0)
                .cpu(millis * 1_000_000, millis * 750_000)
                .build();
    }

    /**
     * Returns one interval per second of a process with many threads. Thread k of n uses about 90 / (k + 1) percent of
     * a core, one quarter of it in the kernel; the last thread uses none. Another 1 ms belongs to threads that ended.
     */
    static List<Interval> manyThreads(int count, int threadCount) {
        List<Interval> intervals = new ArrayList<>();
        Instant end = Instant.parse("2026-11-21T12:00:00Z");
        for (int i = 0; i < count; i++) {
            end = end.plusSeconds(1);
            List<ThreadUsage> threads = new ArrayList<>();
            long cpu = 0;
            for (int k = 0; k < threadCount; k++) {
                boolean works = (i / 10 + k) % 3 != 0 && k < threadCount - 1;
                long micros = works ? 900_000L / (k + 1) : 0;
                cpu += micros * 1000;
                threads.add(ThreadUsage.of(4711, 1000 + k, "http-nio-8080-exec-" + k, ThreadKind.JAVA)
                        .javaId(k + 1)
                        .pool("http-nio-#-exec-#")
                        .cpu(micros * 1000, micros * 750)
                        .waited(0)
                        .switches(0, 0)
                        .state('S')
                        .build());
            }
            ProcessUsage totals = new ProcessUsage(
                    cpu + 1_000_000, cpu * 3 / 4 + 1_000_000, -1, 0, -1, cpu + 100_000_000, 8, 2_000_000);
            intervals.add(new Interval(
                    end, 1_000_000_000, 4711, "com.example.Server", "proc", threads, totals, List.of(), List.of()));
        }
        return intervals;
    }

    private static ThreadUsage thread(
            int tid, String name, String pool, ThreadKind kind, long cpuMillis, long userMillis) {
        return ThreadUsage.of(4711, tid, name, kind)
                .javaId(tid)
                .pool(pool)
                .cpu(cpuMillis * 1_000_000, userMillis * 1_000_000)
                .waited(1_000_000)
                .switches(40, 3)
                .state('S')
                .build();
    }
}
