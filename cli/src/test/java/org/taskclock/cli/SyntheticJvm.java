// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.Throttled;
import org.taskclock.monitor.finding.YieldStorm;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** A synthetic JVM with known figures. The main method shows it in the terminal interface. */
class SyntheticJvm implements IntervalSource {
    static final long SECOND = 1_000_000_000;
    static final String WIDE = "データ処理-1";
    static final String EVIL = "evil\u001b[2J\u202ename";

    private final int pid;
    private int number;

    SyntheticJvm(int pid) {
        this.pid = pid;
    }

    /**
     * Shows the JVM until the file named by the argument exists. Writes the id of this process to a file with that name
     * and the suffix .pid, and does not begin while there is one with the suffix .wait. While there is one with the
     * suffix .idle, worker-1 is idle. While there is one with the suffix .open, no other JVM can be opened.
     */
    public static void main(String[] args) throws Exception {
        Path ended = Path.of(args[0]);
        Files.writeString(
                Path.of(args[0] + ".pid"), Long.toString(ProcessHandle.current().pid()));
        IntervalSource jvm = new SyntheticJvm(4711) {
            @Override
            public Interval next() throws IOException {
                if (Files.exists(ended)) throw new IOException("process 4711 has exited");
                Interval next = super.next();
                return Files.exists(Path.of(args[0] + ".idle")) ? idle(next, 101) : next;
            }

            @Override
            public IntervalSource open(int other) {
                awaitDeletion(Path.of(args[0] + ".open"));
                return super.open(other);
            }
        };
        if (!Tty.isUsable()) {
            System.out.println("no terminal");
            return;
        }
        Tty.keepKeys();
        System.out.println("slow start");
        awaitDeletion(Path.of(args[0] + ".wait"));
        System.out.println(TerminalUi.run(
                List.of(jvm),
                new TerminalUi.Options(0.2, 0, true, ThreadColumn.CPU, "", 0, false),
                SavedSettings.none(),
                !Boolean.getBoolean("no-mouse")));
    }

    private static void awaitDeletion(Path file) {
        try {
            while (Files.exists(file)) Thread.sleep(10);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Interval next() throws IOException {
        return interval(pid, number++);
    }

    @Override
    public String stacks(ThreadUsage thread) {
        return "\"" + thread.name() + "\" tid=" + thread.tid()
                + "\n\tat example.Busy.spin(Busy.java:7)\n\tat example.Busy.run(Busy.java:3)";
    }

    @Override
    public List<Jvm> jvms() {
        return List.of(new Jvm(4711, "org.example.Main", 150), new Jvm(4712, "other.jar", 1));
    }

    @Override
    public IntervalSource open(int other) {
        return new SyntheticJvm(other);
    }

    /** Returns the interval as it would be if a thread had used no CPU time. */
    static Interval idle(Interval interval, int tid) {
        List<ThreadUsage> threads = new ArrayList<>(interval.threads());
        threads.replaceAll(t ->
                t.tid() == tid ? thread(t.pid(), tid, t.javaId(), t.name(), t.kind(), t.pool(), 0, 0, 0, 0, 'S') : t);
        threads.sort((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
        return new Interval(
                interval.end(),
                interval.intervalNanos(),
                interval.pid(),
                interval.name(),
                interval.source(),
                threads,
                interval.totals(),
                interval.findings(),
                interval.notes());
    }

    static Interval interval(int pid, int number) {
        List<ThreadUsage> threads = new ArrayList<>();
        threads.add(thread(pid, 101, 31, "worker-1", ThreadKind.JAVA, "worker-#", 98, 10, 0, 9876, 'R'));
        threads.add(thread(pid, 102, 32, "worker-2", ThreadKind.JAVA, "worker-#", 40, 40, 1, 5, 'R'));
        threads.add(thread(pid, 103, 33, "worker-3", ThreadKind.JAVA, "worker-#", 2, 1, 100, 0, 'S')
                .change()
                .java(new JavaStatus(
                        Thread.State.BLOCKED,
                        "org.example.Cache",
                        "0x7117f6b38",
                        true,
                        101,
                        "worker-1",
                        SECOND * 9 / 10,
                        SECOND / 20,
                        1_536 * 1_024))
                .build());
        for (int i = 1; i <= 30; i++) {
            threads.add(thread(pid, 200 + i, 50 + i, "http-" + i, ThreadKind.JAVA, "http-#", 0, 0, i, 0, 'S'));
        }
        threads.add(thread(pid, 300, 90, WIDE, ThreadKind.JAVA, "データ処理-#", 12, 12, 3, 1, 'S'));
        threads.add(thread(pid, 301, 91, EVIL, ThreadKind.JAVA, EVIL, 11, 11, 3, 1, 'S'));
        threads.add(thread(
                pid,
                400,
                95,
                "ForkJoinPool-1-worker-1",
                ThreadKind.CARRIER,
                "ForkJoinPool-#-worker-#",
                30,
                20,
                3,
                1,
                'S'));
        threads.add(ThreadUsage.of(pid, 0, "query-#", ThreadKind.VIRTUAL)
                .threads(500)
                .cpu(SECOND / 5, -1)
                .state('S')
                .build());
        threads.add(thread(pid, 500, 0, "GC Thread#0", ThreadKind.GC, "GC Thread#", 7, 6, 2, 2, 'S'));
        threads.add(thread(pid, 501, 0, "C2 CompilerThre", ThreadKind.JIT, "C# CompilerThre", 5, 5, 2, 2, 'S'));
        threads.replaceAll(thread -> withTotal(thread, number));
        threads.sort((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
        ProcessUsage totals = new ProcessUsage(
                205 * SECOND / 100,
                105 * SECOND / 100,
                210 * SECOND / 100,
                3,
                SECOND / 50,
                300 * SECOND / 100,
                4,
                SECOND / 200,
                220 * SECOND / 100,
                null,
                VirtualThreadCounts.UNKNOWN);
        Finding storm = new Finding(
                new YieldStorm(),
                101,
                "thread worker-1 uses 98 % of a processor, 90 % of that in the kernel",
                List.of("9876 involuntary switches a second", "java.lang.Thread.yield0 in 5 of 5 stacks"));
        Finding throttled = new Finding(new Throttled(), 0, "The container is throttled", List.of("2 % of the time"));
        return new Interval(
                Instant.ofEpochSecond(1_800_000_000L + number),
                SECOND,
                pid,
                pid == 4711 ? "org.example.Main" : "other.jar",
                "proc",
                threads,
                totals,
                List.of(storm, throttled),
                List.of("thread names are from Java"),
                List.of(new EndedPool("worker-#", ThreadKind.JAVA, 2, 30 * SECOND, 5 * SECOND)),
                List.of());
    }

    /** Each thread used 100 seconds before watching began at interval 0, and the same in each interval since then. */
    private static ThreadUsage withTotal(ThreadUsage thread, int number) {
        long watched = (number + 1) * thread.cpuNanos();
        return ThreadUsage.of(thread.pid(), thread.tid(), thread.name(), thread.kind())
                .javaId(thread.javaId())
                .truncated(thread.truncated())
                .pool(thread.pool())
                .threads(thread.threads())
                .cpu(thread.cpuNanos(), thread.userNanos())
                .waited(thread.waitNanos())
                .switches(thread.voluntary(), thread.involuntary())
                .state(thread.state())
                .total(100 * SECOND + watched, watched)
                .java(thread.java())
                .build();
    }

    private static ThreadUsage thread(
            int pid,
            int tid,
            long javaId,
            String name,
            ThreadKind kind,
            String pool,
            long cpuPercent,
            long userPercent,
            long voluntary,
            long involuntary,
            char state) {
        boolean truncated = kind == ThreadKind.JIT;
        return ThreadUsage.of(pid, tid, name, kind)
                .javaId(javaId)
                .truncated(truncated)
                .pool(pool)
                .cpu(cpuPercent * SECOND / 100, userPercent * SECOND / 100)
                .waited(SECOND / 1000)
                .switches(voluntary, involuntary)
                .state(state)
                .build();
    }
}
