// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.regex.Pattern;
import org.taskclock.ThreadSnapshot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures how long the JVM takes to reach a safepoint while one thread repeatedly reads the CPU time of 10,000 others.
 * Each reader runs in its own JVM, which logs its safepoints.
 */
@Command(
        name = "safepoints",
        mixinStandardHelpOptions = true,
        description = "Measure how long the JVM takes to reach a safepoint while a thread reads 10,000 others.")
public final class SafepointBenchmark extends MeasuringProgram {
    private static final int THREADS = 10_000;
    private static final int ROOM_FOR_JVM = 200;
    private static final long WARM_UP_NANOS = 1_000_000_000;
    private static final String START = "measuring";
    private static final Pattern REACHING = Pattern.compile("Reaching safepoint: +(\\d+) ns");

    /** The work of the thread. NOTHING and ARITHMETIC are for comparison. */
    enum Load {
        NOTHING("nothing"),
        ARITHMETIC("arithmetic"),
        SNAPSHOT("ThreadSnapshot.read"),
        STOCK_CPU("ThreadMXBean.getThreadCpuTime(long[])"),
        STOCK_USER("ThreadMXBean.getThreadUserTime(long[])");

        final String text;

        Load(String text) {
            this.text = text;
        }
    }

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "3",
            description = "Run each reader for N seconds (default: 3).")
    private double seconds;

    @Option(names = "--load", hidden = true, description = "Run only this reader, in this JVM.")
    private Load only;

    private SafepointBenchmark() {}

    public static void main(String[] args) {
        new SafepointBenchmark().run(args);
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        long nanos = (long) (seconds * 1e9);
        if (only != null) {
            measure(only, nanos);
            return 0;
        }
        TextTable table = new TextTable("work of one thread", "safepoints", "median us", "99 % us", "max us");
        for (Load load : Load.values()) table.add(row(load, runChild(load)));
        System.out.print("JDK " + Runtime.version() + ", " + THREADS
                + " parked threads: time from requesting a safepoint to reaching it.\n\n"
                + table.text(markdown));
        return 0;
    }

    private static List<String> row(Load load, double[] nanos) {
        if (nanos.length == 0) throw new IllegalStateException("no safepoint was logged with " + load.text);
        return List.of(
                load.text,
                Goal.format("%d", nanos.length),
                micros(RoundStatistics.quantile(0.5, nanos)),
                micros(RoundStatistics.quantile(0.99, nanos)),
                micros(RoundStatistics.quantile(1, nanos)));
    }

    private static String micros(double nanos) {
        return Goal.format("%,.0f", nanos / 1e3);
    }

    private double[] runChild(Load load) throws IOException, InterruptedException {
        List<String> options = List.of(FreshJvm.ALLOWED, "-Xlog:safepoint=info:stdout");
        String log = String.join(
                "\n", FreshJvm.run(options, SafepointBenchmark.class, "--load", load.name(), "--seconds", seconds));
        return REACHING.matcher(log.substring(log.indexOf(START)))
                .results()
                .mapToDouble(found -> Long.parseLong(found.group(1)))
                .toArray();
    }

    private static void measure(Load load, long nanos) throws InterruptedException {
        long[] ids = ParkedThreads.start(THREADS);
        Thread loader = new Thread(() -> repeat(load, ids), "load");
        loader.setDaemon(true);
        loader.start();
        forceSafepoints(WARM_UP_NANOS);
        System.out.println(START);
        forceSafepoints(nanos);
    }

    /** Forces safepoints by looking for deadlocks, which is a cheap safepoint operation on every JDK. */
    private static void forceSafepoints(long nanos) throws InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            if (threads.findMonitorDeadlockedThreads() != null) throw new AssertionError("deadlock");
            Thread.sleep(2);
        }
    }

    private static void repeat(Load load, long[] ids) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ThreadSnapshot snapshot = new ThreadSnapshot();
        int room = THREADS + ROOM_FOR_JVM;
        int[] tids = new int[room];
        long[] cpuNanos = new long[room];
        long[] userNanos = new long[room];
        long[] systemNanos = new long[room];
        while (load != Load.NOTHING) {
            switch (load) {
                case SNAPSHOT -> snapshot.read(tids, cpuNanos, userNanos, systemNanos);
                case STOCK_CPU -> cpuNanos = threads.getThreadCpuTime(ids);
                case STOCK_USER -> userNanos = threads.getThreadUserTime(ids);
                default -> Thread.onSpinWait();
            }
        }
    }
}
