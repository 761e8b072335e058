// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Pattern;

/** A program with one problem that the findings are about, or with what only looks like it. */
final class ProblemProgram {
    private static final Object MONITOR = new java.util.BitSet();
    private static final ReentrantLock LOCK = new ReentrantLock();

    /** Refers to a group, so that Pattern does not remember where it failed. */
    private static final Pattern NESTED = Pattern.compile("((a+)+)\\2?@");

    private static final LongAdder SINK = new LongAdder();
    private static final List<Future<?>> TASKS = new ArrayList<>();

    static volatile boolean isReady;

    private ProblemProgram() {}

    /** Arguments: the problem, and a number of threads. */
    @SuppressWarnings("ThreadPriorityCheck") // one of the problems
    public static void main(String[] args) throws Exception {
        int count = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        switch (args[0]) {
            case "idle" -> start("idle", count, () -> sleepMillis(1_000_000));
            case "monitor-in-turn" -> start("http-exec", count, ProblemProgram::useMonitorInTurn);
            case "lock-in-turn" -> start("http-exec", count, ProblemProgram::useLockInTurn);
            case "in-turn-and-yield" -> {
                start("http-exec", count, ProblemProgram::useMonitorInTurn);
                start("yielder", 1, () -> forever(Thread::yield));
            }
            case "server" -> start("http-exec", count, ProblemProgram::serve);
            case "spin" -> start("spinner", count, ProblemProgram::spin);
            case "compute" -> start("compute", count, ProblemProgram::compute);
            case "leak" ->
                start(
                        "leaker",
                        1,
                        () -> forever(() -> {
                            for (int i = 0; i < count; i++) start("leaked", 1, () -> sleepMillis(1_000_000));
                            sleepMillis(500);
                        }));
            case "leaked" -> start("leaked", count, () -> sleepMillis(1_000_000));
            case "churn" ->
                start(
                        "starter",
                        1,
                        () -> forever(() -> {
                            start("request", 1, () -> burnMicros(200));
                            sleepMillis(10);
                        }));
            case "timer" -> start("poller", count, () -> forever(() -> LockSupport.parkNanos(100_000)));
            case "scheduled" -> {
                ScheduledExecutorService timers = Executors.newScheduledThreadPool(2);
                for (int i = 0; i < count; i++)
                    TASKS.add(timers.scheduleAtFixedRate(SINK::increment, 0, 1, TimeUnit.MILLISECONDS));
            }
            case "exceptions" -> start("parser", count, () -> forever(() -> parseNested(60)));
            case "few-exceptions" ->
                start(
                        "parser",
                        count,
                        () -> forever(() -> {
                            parseNested(60);
                            for (int n = 1; n < 50_000; n++) SINK.add(gcd(n * 7_919L, 104_729L * n + 3));
                        }));
            case "backtracking" -> start("http-exec", count, () -> SINK.add(find("a".repeat(60))));
            case "matching" ->
                start(
                        "parser",
                        count,
                        () -> forever(() -> {
                            for (int i = 0; i < 1_000; i++) SINK.add(find("aaaa" + i));
                        }));
            case "blocked-common-pool" -> {
                for (int i = 0; i < count; i++)
                    TASKS.add(ForkJoinPool.commonPool().submit(() -> sleepMillis(1_000_000)));
            }
            case "busy-common-pool" -> {
                for (int i = 0; i < count; i++)
                    TASKS.add(ForkJoinPool.commonPool().submit(ProblemProgram::compute));
            }
            case "one-of-pool" -> {
                start("loop", 1, ProblemProgram::compute);
                start("loop", count - 1, () -> sleepMillis(1_000_000));
            }
            case "safepoints" -> {
                start("idle", count, () -> sleepMillis(1_000_000));
                start(
                        "dumper",
                        1,
                        () -> forever(() -> {
                            SINK.add(ManagementFactory.getThreadMXBean().dumpAllThreads(true, true).length);
                        }));
            }
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done");
        System.in.read();
        System.exit(0);
    }

    private static int started;

    private static synchronized void start(String name, int count, Runnable run) {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(run, name + "-" + ++started);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private static void forever(Runnable run) {
        while (true) run.run();
    }

    private static void useMonitorInTurn() {
        while (true) {
            synchronized (MONITOR) {
                burnMicros(2_000);
            }
            burnMicros(200);
        }
    }

    private static void useLockInTurn() {
        while (true) {
            LOCK.lock();
            try {
                burnMicros(2_000);
            } finally {
                LOCK.unlock();
            }
            burnMicros(200);
        }
    }

    /** Requests that use a lock for a small part of their time. */
    private static void serve() {
        while (true) {
            burnMicros(500);
            synchronized (MONITOR) {
                burnMicros(50);
            }
            sleepMillis(5);
        }
    }

    private static void spin() {
        while (!isReady) {
            // what a program should not do
        }
    }

    private static void compute() {
        while (true) {
            for (int n = 1; n < 5_000; n++) SINK.add(gcd(n * 7_919L, 104_729L * n + 3));
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 1_000; i++) text.append(i);
            SINK.add(text.toString().hashCode());
        }
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    private static long find(String text) {
        return NESTED.matcher(text).matches() ? 1 : 0;
    }

    private static void parseNested(int depth) {
        if (depth > 0) {
            parseNested(depth - 1);
            return;
        }
        try {
            SINK.add(Integer.parseInt("12x"));
        } catch (NumberFormatException e) {
            SINK.increment();
        }
    }

    private static void burnMicros(long micros) {
        long end = System.nanoTime() + micros * 1_000;
        while (System.nanoTime() < end) for (int i = 0; i < 100; i++) SINK.add(i);
    }

    private static void sleepMillis(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
