// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import java.io.FileInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A program with several thread pools: {@code java FleetLoad.java NAME PERCENT}. Its pools compute, allocate, make
 * system calls, and start short-lived threads. Together, they try to use PERCENT of a core, so machines with other load
 * slow it down, but do not change what is measured. Prints "ready", and ends when its standard input does. Each line
 * there starts a thread that keeps calling Thread.yield.
 */
public final class FleetLoad {
    private static volatile long sink;

    private FleetLoad() {}

    public static void main(String[] args) throws IOException {
        double share = Integer.parseInt(args[1]) / 100.0;
        start("http-nio-8080-exec-", 4, share * 0.5 / 4, FleetLoad::compute);
        start("kafka-consumer-", 2, share * 0.2 / 2, FleetLoad::readFile);
        start("batch-", 2, share * 0.2 / 2, FleetLoad::allocate);
        start("starter-", 1, share * 0.1, FleetLoad::startThread);
        System.out.println("ready");
        for (int c = System.in.read(); c >= 0; c = System.in.read())
            if (c == '\n') start("yielder-", 1, 0.5, Thread::yield);
        System.exit(0);
    }

    private static void start(String name, int threads, double share, Runnable work) {
        AtomicInteger number = new AtomicInteger();
        ThreadFactory factory = task -> new Thread(task, name + number.incrementAndGet());
        ExecutorService pool = Executors.newFixedThreadPool(threads, factory);
        for (int i = 0; i < threads; i++) pool.execute(() -> repeat(share, work));
    }

    /** Works for this share of the time. */
    private static void repeat(double share, Runnable work) {
        try {
            while (true) {
                long start = System.nanoTime();
                while (System.nanoTime() - start < 5_000_000) work.run();
                long worked = System.nanoTime() - start;
                Thread.sleep((long) (worked * (1 - share) / share / 1e6));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void compute() {
        long sum = 0;
        for (int i = 0; i < 10_000; i++) sum += sum * 31 + i;
        sink = sum;
    }

    private static void readFile() {
        try (FileInputStream in = new FileInputStream("/proc/self/stat")) {
            sink = in.readAllBytes().length;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void allocate() {
        List<byte[]> list = new ArrayList<>();
        for (int i = 0; i < 200; i++) list.add(new byte[1_000]);
        sink = list.size();
    }

    private static void startThread() {
        Thread thread = new Thread(FleetLoad::compute, "short-" + System.nanoTime());
        thread.start();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
