// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.lang.reflect.Method;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** Programs with virtual threads. */
final class VirtualPrograms {
    private static final long SECOND = 1_000_000_000;
    private static final long MILLI = 1_000_000;
    private static final int REQUESTS = 20;

    private VirtualPrograms() {}

    /** A class that asks another server for its configuration when it is initialized. */
    private static final class Configuration {
        private static final Object value = fetch();

        private static Object fetch() {
            for (int i = 0; i < 1_000; i++) Threads.pause(SECOND);
            return "unknown";
        }

        static Object value() {
            return value;
        }
    }

    private static volatile Object unusedSink;

    static void pinned() {
        startAll("request-", () -> unusedSink = Configuration.value());
    }

    static void monopolized() {
        startAll("report-", VirtualPrograms::computeReport);
    }

    private static void computeReport() {
        while (true) Threads.compute(SECOND / 2);
    }

    /** Requests that take long keep all carriers busy. */
    static void starvation() {
        for (int i = 1; i <= REQUESTS; i++) startLoop("request-" + i, Threads::request, VirtualPrograms::searchCatalog);
    }

    private static void searchCatalog() {
        Threads.compute(20 * MILLI);
        Threads.pause(MILLI);
    }

    /** Many requests wait for another server. */
    static void waiting() {
        for (int i = 1; i <= 100 * REQUESTS; i++)
            startLoop("request-" + i, () -> Threads.pause(SECOND), () -> Threads.pause(SECOND));
    }

    /** Two threads pass each value on as soon as they have it. */
    static void handOver() {
        pipeline(1);
    }

    /** Two threads pass on only what took a while. */
    static void batches() {
        pipeline(MILLI);
    }

    private static void pipeline(long iterations) {
        BlockingQueue<Long> there = new ArrayBlockingQueue<>(1);
        BlockingQueue<Long> back = new ArrayBlockingQueue<>(1);
        startLoop("parser", Threads::request, () -> {
            there.put(iterations);
            Threads.compute(back.take());
        });
        startLoop("printer", Threads::request, () -> {
            Threads.compute(there.take());
            back.put(iterations);
        });
    }

    private static void startLoop(String name, Threads.Step normal, Threads.Step wrong) {
        start(name, () -> {
            while (true) Threads.run(Threads.isMisbehaving() ? wrong : normal);
        });
    }

    /** Starts some virtual threads that answer requests, the first of which misbehaves. */
    private static void startAll(String name, Runnable wrong) {
        for (int i = 1; i <= 4; i++) {
            boolean isFirst = i == 1;
            start(name + i, () -> {
                while (!isFirst || !Threads.isMisbehaving()) Threads.request();
                wrong.run();
            });
        }
    }

    /** Uses reflection, because this class is compiled for JDK 17. */
    private static void start(String name, Runnable task) {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> type = Class.forName("java.lang.Thread$Builder");
            Method named = type.getMethod("name", String.class);
            type.getMethod("start", Runnable.class).invoke(named.invoke(builder, name), task);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException("no virtual threads", e);
        }
    }
}
