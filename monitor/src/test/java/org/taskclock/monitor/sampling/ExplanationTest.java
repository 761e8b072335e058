// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingHistory;
import org.taskclock.monitor.finding.LockConvoy;
import org.taskclock.monitor.finding.SystemHeavy;
import org.taskclock.monitor.finding.ThreadChurn;
import org.taskclock.monitor.finding.TimerStorm;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

class ExplanationTest {
    private static final long SECOND = 1_000_000_000;
    private static final long MILLI = 1_000_000;

    private double limit;
    private long throttledNanos = -1;
    private long machineNanos = 4 * SECOND;
    private List<Finding> findings = List.of();
    private List<ThreadUsage> accounts = List.of();

    private static ThreadUsage.Builder thread(int tid, String name, ThreadKind kind, long cpu, long user) {
        return ThreadUsage.of(4711, tid, name, kind)
                .cpu(cpu * MILLI, user * MILLI)
                .waited(0);
    }

    private static JavaStatus blocked(long millis, String owner) {
        return new JavaStatus(Thread.State.BLOCKED, "java.lang.Object", "0x1", true, 7, owner, millis * MILLI, 0, -1);
    }

    private Interval interval(int second, ThreadUsage... threads) {
        List<ThreadUsage> real = List.of(threads).stream()
                .filter(thread -> thread.kind() != ThreadKind.VIRTUAL)
                .toList();
        long cpu = real.stream().mapToLong(ThreadUsage::cpuNanos).sum();
        long user = real.stream().mapToLong(ThreadUsage::userNanos).sum();
        return new Interval(
                Instant.ofEpochSecond(1_000 + second),
                SECOND,
                4711,
                "orders",
                "proc",
                List.of(threads),
                new ProcessUsage(
                        cpu,
                        user,
                        -1,
                        limit,
                        throttledNanos,
                        machineNanos,
                        4,
                        0,
                        -1,
                        null,
                        VirtualThreadCounts.UNKNOWN),
                findings,
                List.of(),
                List.of(),
                accounts);
    }

    private static String second(FindingHistory.Entry problem) {
        return "second " + (problem.begin().getEpochSecond() - 1_000);
    }

    private List<String> explain(ThreadUsage... threads) {
        Explanation explanation = new Explanation();
        for (int i = 1; i <= 10; i++) explanation.add(interval(i, threads));
        return explanation.lines(ExplanationTest::second);
    }

    @Test
    void shouldSayWhatUsesTheCpuTime() {
        machineNanos = SECOND;
        accounts = List.of(ThreadUsage.ofGroup(4711, new PoolKey("tenant=acme", ThreadKind.ACCOUNT), 1)
                .cpu(400 * MILLI, 400 * MILLI)
                .build());
        assertThat(explain(
                        thread(1, "http-1", ThreadKind.JAVA, 600, 540).build(),
                        thread(2, "http-2", ThreadKind.JAVA, 200, 180).build(),
                        thread(3, "main", ThreadKind.JAVA, 100, 50).build(),
                        thread(4, "GC Thread#0", ThreadKind.GC, 100, 100).build()))
                .containsExactly(
                        "orders (4711) used 1.00 of 4 processors for 10.0 s: user 0.87, system 0.13.",
                        "Of that, 80 % by \"http-#\" (2 threads, 10 % of it system time, most of it by \"http-1\"), 10 %"
                                + " by \"main\" (50 % of it system time), 10 % by garbage collection (0 % of it system"
                                + " time). tenant=acme used 40 %.",
                        "No threads waited for a processor or a lock for long.",
                        "No known problem was found.",
                        "Next: taskclock profile 4711 --pool 'http-#' --lines");
    }

    private static ThreadDump dump(String... frames) {
        StringBuilder text = new StringBuilder("""
                "http-1" #11 prio=5 os_prio=0 cpu=1.00ms tid=0x1 nid=1 runnable
                   java.lang.Thread.State: RUNNABLE
                """);
        for (String frame : frames) text.append("\tat ").append(frame).append('\n');
        return ThreadDump.parse(text.append('\n').toString());
    }

    @Test
    void shouldNameTheLineOfTheProgramInWhichTheBusiestThreadWas() {
        ThreadUsage[] threads = {
            thread(1, "http-1", ThreadKind.JAVA, 600, 540).build(),
            thread(4, "GC Thread#0", ThreadKind.GC, 900, 900).build()
        };
        String[][] stacks = {
            {
                "java.util.regex.Pattern.match(Pattern.java:1)",
                "shop.Orders.check(Orders.java:42)",
                "shop.Main.run(M.java:1)"
            },
            {"shop.Orders.check(Orders.java:40)"},
            {"java.util.regex.Pattern.match(Pattern.java:7)", "shop.Orders.check(Orders.java:42)"},
            {"shop.Main.run(Main.java:1)"},
            {}
        };
        Explanation explanation = new Explanation();
        for (int i = 0; i < stacks.length; i++) {
            Interval interval = interval(i, threads);
            explanation.add(interval);
            explanation.add(interval, dump(stacks[i]));
        }
        assertThat(explanation.lines(ExplanationTest::second).get(1))
                .endsWith(
                        " In 3 of 5 thread dumps in which it ran, \"http-1\" was in shop.Orders.check(Orders.java:42).");
        ThreadDump waiting = ThreadDump.parse(dump("shop.Main.run(Main.java:1)")
                .all()
                .iterator()
                .next()
                .text()
                .replace("RUNNABLE", "BLOCKED"));
        for (int i = 0; i < 9; i++) explanation.add(interval(9, threads), waiting);
        assertThat(explanation.lines(ExplanationTest::second).get(1)).contains(" In 3 of 5 thread dumps");
        Interval idle = interval(9, thread(1, "http-1", ThreadKind.JAVA, 1, 1).build());
        explanation.add(idle, dump("shop.Main.run(Main.java:1)"));
        explanation.add(interval(9, threads), dump("shop.Main.run(Main.java:1)"));
        explanation.add(interval(9, threads), dump("shop.Main.run(Main.java:1)"));
        assertThat(explanation.lines(ExplanationTest::second).get(1))
                .as("less than half of the dumps in which it was busy")
                .doesNotContain("thread dumps");
    }

    @Test
    void shouldNotNameALineAfterTwoDumps() {
        Interval interval =
                interval(1, thread(1, "http-1", ThreadKind.JAVA, 600, 540).build());
        Explanation explanation = new Explanation();
        explanation.add(interval);
        for (int i = 0; i < 2; i++) explanation.add(interval, dump("shop.Main.run(Main.java:1)"));
        assertThat(explanation.lines(ExplanationTest::second).get(1)).doesNotContain("shop.Main");
        explanation.add(interval, dump("shop.Main.run(Main.java:1)"));
        assertThat(explanation.lines(ExplanationTest::second).get(1)).contains("was in shop.Main.run(Main.java:1)");
    }

    @Test
    void shouldNameTheLineOfTheCarriedVirtualThread() {
        ThreadDump dump = ThreadDump.parse("""
                "http-1" #11 prio=5 os_prio=0 cpu=1.00ms tid=0x1 nid=1 runnable
                   Carrying virtual thread #30
                \tat java.lang.VirtualThread.run(java.base@25/VirtualThread.java:1)
                \tat shop.Scheduler.run(Scheduler.java:9)

                   Mounted virtual thread #30
                \tat java.util.HashMap.get(java.base@25/HashMap.java:1)
                \tat shop.Cart.sum(Cart.java:7)

                """);
        Interval interval =
                interval(1, thread(1, "http-1", ThreadKind.CARRIER, 600, 540).build());
        Explanation explanation = new Explanation();
        explanation.add(interval);
        for (int i = 0; i < 3; i++) explanation.add(interval, dump);
        assertThat(explanation.lines(ExplanationTest::second).get(1)).contains("was in shop.Cart.sum(Cart.java:7)");
    }

    @Test
    void shouldSayWhyThreadsWait() {
        ThreadUsage thread =
                thread(1, "main", ThreadKind.JAVA, 500, 500).waited(300 * MILLI).build();
        assertThat(explain(thread).get(2))
                .isEqualTo("For a processor, \"main\" waited 3.0 s, because other processes used most of the machine.");
        machineNanos = 2 * SECOND;
        assertThat(explain(thread).get(2))
                .startsWith("For a processor, \"main\" waited 3.0 s, although not all processors were busy");
        limit = 0.5;
        throttledNanos = SECOND / 4;
        List<String> lines = explain(thread);
        assertThat(lines.get(0))
                .startsWith("orders (4711) used 0.50 of 0.5 processors for 10.0 s")
                .endsWith(" Other processes of the machine used 1.50.");
        assertThat(lines.get(2))
                .isEqualTo("For a processor, \"main\" waited 3.0 s, because the limit of the container was used up in"
                        + " 25 % of the periods.");
    }

    @Test
    void shouldNameTheLockAndTheOwner() {
        machineNanos = SECOND;
        List<String> lines = explain(
                thread(1, "http-1", ThreadKind.JAVA, 100, 100)
                        .java(blocked(800, "http-2"))
                        .build(),
                thread(2, "http-2", ThreadKind.JAVA, 200, 200).build());
        assertThat(lines.get(2)).isEqualTo("For a lock that \"http-2\" held, \"http-#\" waited about 8.0 s.");
        assertThat(lines.get(4)).isEqualTo("Next: taskclock dump 4711");
    }

    @Test
    void shouldNameTheMostSevereProblemAndItsBeginning() {
        Finding heavy = new Finding(new SystemHeavy(), 3, "thread \"main\" is heavy", List.of());
        Finding convoy = new Finding(new LockConvoy(), 0, "4 threads wait", List.of());
        ThreadUsage thread = thread(3, "main", ThreadKind.JAVA, 900, 100).build();
        Explanation explanation = new Explanation();
        for (int i = 1; i <= 10; i++) {
            // Once is not enough, although it is more severe.
            if (i == 2) findings = List.of(heavy, convoy);
            else findings = i > 3 ? List.of(heavy) : List.of();
            explanation.add(interval(i, thread));
        }
        List<String> lines = explanation.lines(ExplanationTest::second);
        assertThat(lines.get(3))
                .startsWith("Problem: thread \"main\" is heavy (system-heavy, since second 1). ")
                .endsWith(new SystemHeavy().meaning());
        assertThat(lines.get(4)).isEqualTo("Next: taskclock profile 4711 --thread 3 --lines");
    }

    @Test
    void shouldNameOtherProblems() {
        findings = List.of(
                new Finding(new ThreadChurn(), 0, "90 threads start per second", List.of()),
                new Finding(new TimerStorm(), 3, "thread \"a\" wakes up", List.of()),
                new Finding(new TimerStorm(), 4, "thread \"b\" wakes up", List.of()));
        Explanation explanation = new Explanation();
        for (int i = 1; i <= 5; i++)
            explanation.add(
                    interval(i, thread(3, "a", ThreadKind.JAVA, 900, 100).build()));
        assertThat(explanation.lines(ExplanationTest::second).get(3))
                .startsWith("Problem: thread \"a\" wakes up (timer-storm, since ")
                .endsWith(" Also: 90 threads start per second (thread-churn).");
    }

    @Test
    void shouldSayThatAnIdleJvmIsIdle() {
        machineNanos = 10 * MILLI;
        assertThat(explain(thread(1, "main", ThreadKind.JAVA, 10, 10).build()))
                .containsExactly(
                        "orders (4711) used 0.01 of 4 processors for 10.0 s: user 0.01, system 0.00.",
                        "It is idle.",
                        "No threads waited for a processor or a lock for long.",
                        "No known problem was found.",
                        "Next: nothing to do.");
    }

    @Test
    void shouldCountVirtualThreadsOnce() {
        List<String> lines = explain(
                thread(1, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, 800, 800)
                        .build(),
                ThreadUsage.ofGroup(4711, new PoolKey("order-#", ThreadKind.VIRTUAL), 50)
                        .cpu(600 * MILLI, 600 * MILLI)
                        .build());
        assertThat(lines.get(0)).contains(" used 0.80 of 4 processors");
        assertThat(lines.get(1))
                .startsWith("Of that, 100 % by \"ForkJoinPool-1-worker-1\" (")
                .endsWith(" Virtual threads \"order-#\" used 75 %.");
    }
}
