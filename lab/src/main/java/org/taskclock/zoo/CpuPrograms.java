// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.zoo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/** Programs whose threads use CPU time for nothing. */
final class CpuPrograms {
    private static final int DEPTH = 60;
    private static final long NORMAL_PERIOD_NANOS = 20_000_000;
    /** Refers to a group, so that Pattern does not remember where it failed. */
    private static final Pattern ADDRESS = Pattern.compile("((a+)+)\\2?@");

    private static volatile boolean hasArrived;
    private static volatile Object unusedSink;

    private CpuPrograms() {}

    static void busyWait() {
        Threads.start("event-loop", CpuPrograms::awaitEvent);
    }

    @SuppressWarnings("EmptyBlock") // that is the problem
    private static void awaitEvent() {
        while (!hasArrived) {}
    }

    static void yieldStorm() {
        Threads.start("consumer", CpuPrograms::awaitMessage);
    }

    @SuppressWarnings("ThreadPriorityCheck") // that is the problem
    private static void awaitMessage() {
        while (!hasArrived) Thread.yield();
    }

    static void timerStorm() {
        Threads.start("poller", CpuPrograms::pollDevice);
    }

    private static void pollDevice() {
        LockSupport.parkNanos(1);
        if (hasArrived) Threads.request();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the tasks run until the JVM exits
    static void scheduler() {
        ScheduledExecutorService executor =
                Executors.newScheduledThreadPool(1, task -> Threads.daemon("scheduler-1", task));
        executor.scheduleAtFixedRate(
                () -> {
                    Threads.compute(1_000);
                    if (!Threads.isMisbehaving()) return;
                    executor.scheduleAtFixedRate(() -> unusedSink = true, 0, 1, TimeUnit.NANOSECONDS);
                    throw new IllegalStateException(); // ends this task
                },
                0,
                NORMAL_PERIOD_NANOS,
                TimeUnit.NANOSECONDS);
    }

    static void regex() {
        for (int i = 1; i <= 2; i++) Threads.start("http-exec-" + i, Threads::request);
        Threads.start("http-exec-3", () -> unusedSink = isAddress("a".repeat(60)));
    }

    static void manyMatches() {
        Threads.start("parser-1", () -> {
            for (int i = 0; i < 1_000; i++) unusedSink = isAddress("aaaa" + i);
        });
    }

    private static boolean isAddress(String text) {
        return ADDRESS.matcher(text).matches();
    }

    static void hashMap() {
        for (int i = 1; i <= 2; i++) Threads.start("session-" + i, () -> unusedSink = Sessions.find("unknown"));
    }

    /** What is left of a hash table after two threads have enlarged it at the same time: a chain with a cycle. */
    private static final class Sessions {
        private static final class Entry {
            private final String key;
            private Entry next;

            Entry(String key) {
                this.key = key;
            }
        }

        private static final Entry first = new Entry("one");

        static {
            first.next = new Entry("two");
            first.next.next = first;
        }

        static Entry find(String key) {
            Entry entry = first;
            while (entry != null && !entry.key.equals(key)) entry = entry.next;
            return entry;
        }
    }

    static void exceptions() {
        Threads.start("parser-1", () -> {
            try {
                unusedSink = parseNested("12x", DEPTH);
            } catch (NumberFormatException e) {
                unusedSink = e;
            }
        });
    }

    static void fewExceptions() {
        String[] texts = new String[100];
        Arrays.setAll(texts, Integer::toString);
        texts[0] = "12x";
        Threads.start("parser-1", () -> {
            for (String text : texts) {
                Threads.compute(10_000);
                try {
                    unusedSink = parseNested(text, DEPTH);
                } catch (NumberFormatException e) {
                    unusedSink = e;
                }
            }
        });
    }

    private static int parseNested(String text, int depth) {
        return depth == 0 ? Integer.parseInt(text) : 1 + parseNested(text, depth - 1);
    }

    static void systemCalls() {
        Threads.start("file-scanner", CpuPrograms::readStatus);
    }

    private static void readStatus() throws IOException {
        unusedSink = Files.readAllBytes(Path.of("/proc/self/status"));
    }
}
