// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Frames;
import org.taskclock.watch.Row;
import org.taskclock.watch.Row.Kind;
import org.taskclock.watch.Totals;

/** A JVM whose figures are known; as a program: the screen with it. */
class MadeUp implements Frames {
    static final long SECOND = 1_000_000_000;
    static final String WIDE = "データ処理-1";
    static final String EVIL = "evil\u001b[2J\u202ename";

    private final int pid;
    private int number;

    MadeUp(int pid) {
        this.pid = pid;
    }

    /** The argument is a file: when it is there, the JVM has ended. Beside it our process id. */
    public static void main(String[] args) throws Exception {
        Path ended = Path.of(args[0]);
        Files.writeString(
                Path.of(args[0] + ".pid"), Long.toString(ProcessHandle.current().pid()));
        Frames frames = new MadeUp(4711) {
            @Override
            public Frame next() throws IOException {
                if (Files.exists(ended)) throw new IOException("process 4711 has ended");
                return super.next();
            }
        };
        if (!Tty.usable()) {
            System.out.println("no terminal");
            return;
        }
        System.out.println(Screen.run(List.of(frames), new Screen.Options(0.2, 0, true, Column.CPU, "", 0)));
    }

    @Override
    public Frame next() throws IOException {
        return frame(pid, number++);
    }

    @Override
    public String stacks(Row row) {
        return "\"" + row.name() + "\" tid=" + row.tid()
                + "\n\tat example.Busy.spin(Busy.java:7)\n\tat example.Busy.run(Busy.java:3)";
    }

    @Override
    public List<Jvm> jvms() {
        return List.of(new Jvm(4711, "org.example.Main", 150), new Jvm(4712, "other.jar", 1));
    }

    @Override
    public Frames open(int other) {
        return new MadeUp(other);
    }

    static Frame frame(int pid, int number) {
        List<Row> rows = new ArrayList<>();
        rows.add(row(pid, 101, 31, "worker-1", Kind.JAVA, "worker-#", 98, 10, 0, 9876, 'R'));
        rows.add(row(pid, 102, 32, "worker-2", Kind.JAVA, "worker-#", 40, 40, 1, 5, 'R'));
        rows.add(row(pid, 103, 33, "worker-3", Kind.JAVA, "worker-#", 2, 1, 100, 0, 'S'));
        for (int i = 1; i <= 30; i++) {
            rows.add(row(pid, 200 + i, 50 + i, "http-" + i, Kind.JAVA, "http-#", 0, 0, i, 0, 'S'));
        }
        rows.add(row(pid, 300, 90, WIDE, Kind.JAVA, "データ処理-#", 12, 12, 3, 1, 'S'));
        rows.add(row(pid, 301, 91, EVIL, Kind.JAVA, EVIL, 11, 11, 3, 1, 'S'));
        rows.add(row(
                pid, 400, 95, "ForkJoinPool-1-worker-1", Kind.CARRIER, "ForkJoinPool-#-worker-#", 30, 20, 3, 1, 'S'));
        rows.add(new Row(pid, 0, 0, "query-#", false, Kind.VIRTUAL, "query-#", 500, SECOND / 5, -1, -1, -1, -1, 'S'));
        rows.add(row(pid, 500, 0, "GC Thread#0", Kind.GC, "GC Thread#", 7, 6, 2, 2, 'S'));
        rows.add(row(pid, 501, 0, "C2 CompilerThre", Kind.JIT, "C# CompilerThre", 5, 5, 2, 2, 'S'));
        rows.sort((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
        Totals totals = new Totals(
                205 * SECOND / 100,
                105 * SECOND / 100,
                210 * SECOND / 100,
                3,
                SECOND / 50,
                300 * SECOND / 100,
                4,
                SECOND / 200);
        Diagnosis storm = new Diagnosis(
                "yield-storm",
                101,
                "thread worker-1 uses 98 % of a processor, 90 % of that in the kernel",
                List.of("9876 involuntary switches a second", "java.lang.Thread.yield0 in 5 of 5 stacks"));
        Diagnosis throttled = new Diagnosis("throttled", 0, "The container is throttled", List.of("2 % of the time"));
        return new Frame(
                Instant.ofEpochSecond(1_800_000_000L + number),
                SECOND,
                pid,
                pid == 4711 ? "org.example.Main" : "other.jar",
                "proc",
                rows,
                totals,
                List.of(storm, throttled),
                List.of("Names are Java's"));
    }

    private static Row row(
            int pid,
            int tid,
            long javaId,
            String name,
            Kind kind,
            String pool,
            long cpuPercent,
            long userPercent,
            long voluntary,
            long involuntary,
            char state) {
        boolean cut = kind == Kind.JIT;
        return new Row(
                pid,
                tid,
                javaId,
                name,
                cut,
                kind,
                pool,
                1,
                cpuPercent * SECOND / 100,
                userPercent * SECOND / 100,
                SECOND / 1000,
                voluntary,
                involuntary,
                state);
    }
}
