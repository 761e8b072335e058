// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.Phaser;
import org.apache.commons.math3.stat.StatUtils;
import org.taskclock.TaskClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures the CPU time of a scrape of Prometheus with taskclock-micrometer, and of a collection with
 * taskclock-opentelemetry, on the thread that does it: all of the program, nothing else is started. Between scrapes,
 * none, some, or all of the threads use CPU time. At one scrape each 15 s, 7.5 ms is 0.05 % of a processor.
 */
@Command(
        name = "scrape benchmark",
        mixinStandardHelpOptions = true,
        description = "Measure the CPU time of scrapes and collections.")
public final class ScrapeBenchmark extends MeasuringProgram {
    private static final int POOLS = 50;
    /** More than the 1 ms after which wait times and switches are read. */
    private static final long ACTIVE_NANOS = 1_200_000;

    private static final long PAUSE_MILLIS = 150;
    private static final double INTERVAL_SECONDS = 15;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Start N threads (default: 1000).")
    private int threads;

    @Option(
            names = "--scrapes",
            paramLabel = "N",
            defaultValue = "40",
            description = "Measure N scrapes after as many unmeasured ones (default: 40).")
    private int scrapes;

    /** The threads wait for each other and for the main thread before and after they work. */
    private final Phaser phaser = new Phaser(1);

    private volatile int active;

    public static void main(String[] args) {
        new ScrapeBenchmark().run(args);
    }

    @Override
    public Integer call() throws InterruptedException {
        requireNativeLibrary("scrape benchmark");
        for (int i = 0; i < threads; i++) start(i);
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new org.taskclock.micrometer.TaskClockMetrics().bindTo(registry);
        InMemoryMetricReader reader = InMemoryMetricReader.create();
        OpenTelemetrySdk sdk = OpenTelemetrySdk.builder()
                .setMeterProvider(
                        SdkMeterProvider.builder().registerMetricReader(reader).build())
                .build();
        TextTable table = new TextTable(
                "library", "active threads", "first, ms", "median, ms", "max, ms", "of a processor at one each 15 s");
        try (var metrics = org.taskclock.opentelemetry.TaskClockMetrics.create(sdk)) {
            for (int count : List.of(0, threads / 10, threads)) {
                active = count;
                table.add(row("Micrometer, Prometheus", registry::scrape));
                table.add(row("OpenTelemetry", reader::collectAllMetrics));
            }
            if (metrics == null) throw new AssertionError();
        }
        System.out.print("JDK " + Runtime.version() + ", " + threads + " threads in " + POOLS + " pools, medians of "
                + scrapes + " scrapes after " + scrapes + ".\n\n" + table.text(markdown));
        phaser.forceTermination();
        return 0;
    }

    private void start(int number) {
        phaser.register();
        String pool = "pool " + (char) ('A' + number % POOLS % 26) + (char) ('a' + number % POOLS / 26);
        Thread thread = new Thread(null, () -> serve(number), pool + "-" + number, 64 << 10);
        thread.setDaemon(true);
        thread.start();
    }

    private void serve(int number) {
        while (phaser.arriveAndAwaitAdvance() >= 0) {
            if (number < active) {
                long end = TaskClock.cpuNanos() + ACTIVE_NANOS;
                while (TaskClock.cpuNanos() < end) Thread.onSpinWait();
            }
            if (phaser.arriveAndAwaitAdvance() < 0) return;
        }
    }

    private List<String> row(String library, Callable<?> scrape) throws InterruptedException {
        double[] millis = new double[scrapes];
        double first = 0;
        for (int i = -scrapes; i < scrapes; i++) {
            if (active > 0) {
                phaser.arriveAndAwaitAdvance();
                phaser.arriveAndAwaitAdvance();
            }
            Thread.sleep(PAUSE_MILLIS);
            double cost = cpuMillis(scrape);
            if (i == -scrapes) first = cost;
            if (i >= 0) millis[i] = cost;
        }
        double median = StatUtils.percentile(millis, 50);
        return List.of(
                library,
                Integer.toString(active),
                String.format(Locale.ROOT, "%.2f", first),
                String.format(Locale.ROOT, "%.2f", median),
                String.format(Locale.ROOT, "%.2f", StatUtils.max(millis)),
                String.format(Locale.ROOT, "%.4f %%", median / 10 / INTERVAL_SECONDS));
    }

    private static double cpuMillis(Callable<?> scrape) {
        long before = TaskClock.cpuNanos();
        try {
            if (scrape.call() == null) throw new AssertionError();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return (TaskClock.cpuNanos() - before) / 1e6;
    }
}
