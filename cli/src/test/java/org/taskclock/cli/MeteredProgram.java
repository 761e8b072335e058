// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;
import org.taskclock.micrometer.TaskClockMetrics;

/**
 * A program with Micrometer and OpenTelemetry. It reads commands from standard input, one per line: "start" starts
 * threads, "work" lets each of them use some CPU time, and "read" prints the metrics. Each reply ends with "done".
 */
final class MeteredProgram {
    static final String CPU = "taskclock.thread.cpu.time";
    static final String POOL = "taskclock.pool.name";
    static final String KIND = "taskclock.pool.kind";
    static final String MODE = "cpu.mode";

    /** Longer than the name of a pool may be. */
    static final String LONG_NAME = "request 17 " + "of a client with a long name, ".repeat(10);

    private static final int WORK_MILLIS = 200;

    private static final Semaphore DONE = new Semaphore(0);
    private static final List<Semaphore> WORKERS = new ArrayList<>();
    private static volatile long unusedSink;

    private MeteredProgram() {}

    public static void main(String[] args) throws Exception {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new TaskClockMetrics().bindTo(registry);
        InMemoryMetricReader reader = InMemoryMetricReader.create();
        OpenTelemetrySdk sdk = OpenTelemetrySdk.builder()
                .setMeterProvider(
                        SdkMeterProvider.builder().registerMetricReader(reader).build())
                .build();
        var metrics = org.taskclock.opentelemetry.TaskClockMetrics.create(sdk);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("done");
        for (String line; (line = in.readLine()) != null; System.out.println("done")) {
            if (line.equals("start")) startAll();
            else if (line.equals("work")) work();
            else read(registry, reader);
        }
        metrics.close();
    }

    private static void startAll() throws ReflectiveOperationException {
        // The program's, although it has the name of a collector's.
        start(false, "GC Thread#7", MeteredProgram::compute);
        for (int i = 1; i <= 3; i++) start(false, "http-nio-8080-exec-" + i, MeteredProgram::compute);
        start(false, LONG_NAME, MeteredProgram::compute);
        start(false, "kernel-1", MeteredProgram::callKernel);
        if (Runtime.version().feature() < JdkVersions.VIRTUAL_THREADS) return;
        start(true, "virtual-1", MeteredProgram::compute);
        start(true, LONG_NAME + "virtual", MeteredProgram::compute);
        startHosted();
    }

    /** Starts a virtual thread whose carrier is a thread of the program, as some libraries do. */
    private static void startHosted() throws ReflectiveOperationException {
        Executor carrier = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "event-loop-1");
            thread.setDaemon(true);
            return thread;
        });
        Method create = Class.forName("java.lang.ThreadBuilders")
                .getDeclaredMethod("newVirtualThread", Executor.class, String.class, int.class, Runnable.class);
        create.setAccessible(true);
        ((Thread) create.invoke(null, carrier, "hosted-1", 0, newWorker(MeteredProgram::compute))).start();
    }

    private static void start(boolean isVirtual, String name, Runnable work) throws ReflectiveOperationException {
        Runnable loop = newWorker(work);
        if (isVirtual) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            type.getMethod("name", String.class).invoke(builder, name);
            type.getMethod("start", Runnable.class).invoke(builder, loop);
            return;
        }
        Thread thread = new Thread(loop, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns what a new thread does: the work, each time that the program is told to. */
    private static Runnable newWorker(Runnable work) {
        Semaphore begin = new Semaphore(0);
        WORKERS.add(begin);
        return () -> {
            while (true) {
                begin.acquireUninterruptibly();
                try {
                    work.run();
                } finally {
                    DONE.release();
                }
            }
        };
    }

    private static void work() throws InterruptedException {
        for (Semaphore worker : WORKERS) worker.release();
        DONE.acquire(WORKERS.size());
    }

    private static void compute() {
        long start = TaskClock.cpuNanos();
        if (start < 0) throw new IllegalStateException("no agent accounts for virtual threads");
        while (TaskClock.cpuNanos() - start < WORK_MILLIS * 1_000_000L) unusedSink = start;
    }

    private static void callKernel() {
        byte[] buffer = new byte[1 << 16];
        long end = TaskClock.cpuNanos() + WORK_MILLIS * 1_000_000L;
        try (FileInputStream zero = new FileInputStream("/dev/zero")) {
            while (TaskClock.cpuNanos() < end) unusedSink = zero.read(buffer);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void read(SimpleMeterRegistry registry, InMemoryMetricReader reader) {
        for (FunctionCounter counter : registry.find(CPU).functionCounters()) {
            var id = counter.getId();
            print("Micrometer", id.getTag(POOL), id.getTag(KIND), id.getTag(MODE), counter.count());
        }
        for (var metric : reader.collectAllMetrics()) {
            if (!metric.getName().equals(CPU)) continue;
            for (var point : metric.getDoubleSumData().getPoints())
                print(
                        "OpenTelemetry",
                        point.getAttributes().get(AttributeKey.stringKey(POOL)),
                        point.getAttributes().get(AttributeKey.stringKey(KIND)),
                        point.getAttributes().get(AttributeKey.stringKey(MODE)),
                        point.getValue());
        }
    }

    private static void print(String source, String pool, String kind, String mode, double seconds) {
        System.out.println(String.join("\t", source, pool, kind, mode, Double.toString(seconds)));
    }
}
