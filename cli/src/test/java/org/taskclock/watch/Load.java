// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * A program with known loads, which tells on request what they used: a line for each thread and one for the process. Arguments: what to
 * run. Commands on standard input, a line each: "truth", "churn N". Answers end with a line "done".
 */
public final class Load {
    static volatile Object sink;

    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    private static final Map<String, Thread> THREADS = new TreeMap<>();

    private Load() {}

    public static void main(String[] args) throws Exception {
        for (String arg : args) {
            String[] parts = arg.split("=", 2);
            int count = parts.length > 1 ? Integer.parseInt(parts[1]) : 1;
            for (int i = 1; i <= count; i++) start(parts[0], i);
        }
        say("done");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; say("done")) {
            if (line.equals("truth")) truth();
            else if (line.startsWith("churn ")) churn(Integer.parseInt(line.substring("churn ".length())));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void start(String what, int number) throws ReflectiveOperationException {
        switch (what) {
            case "busy" -> thread("a busy thread with a long name, number " + number, () -> busy(20, 10));
            case "lightly" -> thread("lightly-" + number, () -> busy(1, 100));
            case "carrier" -> thread("ForkJoinPool-1-worker-" + number, () -> busy(20, 10));
            case "kernel" -> thread("kernel-calls", Load::kernel);
            case "idle" -> thread("pool-7-thread-" + number, () -> sleep(1_000_000));
            case "yield" -> thread("yielder", Load::giveWay);
            case "garbage" -> thread("garbage", Load::garbage);
            case "virtual" -> virtual("request-" + number, () -> busy(5, 30));
            case "virtual-yield" -> virtual("virtual-yielder-" + number, Load::giveWay);
            case "virtual-hog" -> virtual("hog", () -> busy(1_000, 0));
            default -> throw new IllegalArgumentException(what);
        }
    }

    private static void thread(String name, Runnable what) {
        Thread thread = new Thread(what, name);
        thread.setDaemon(true);
        THREADS.put(name, thread);
        thread.start();
    }

    private static void virtual(String name, Runnable what) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Method named = type.getMethod("name", String.class);
        type.getMethod("start", Runnable.class).invoke(named.invoke(builder, name), what);
    }

    /** Times in ns: when, then of each thread, then of the process. */
    private static void truth() {
        long before = System.nanoTime();
        StringBuilder text = new StringBuilder();
        THREADS.forEach((name, thread) -> text.append(name)
                .append('\t')
                .append(BEAN.getThreadCpuTime(thread.getId()))
                .append('\t')
                .append(BEAN.getThreadUserTime(thread.getId()))
                .append('\n'));
        long process = ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
        text.append("(process)\t").append(process).append("\t-1\n");
        System.out.print(text);
        say("(time)\t" + before + "\t" + System.nanoTime());
    }

    /** Threads that live for some milliseconds, one after another; tells what they used. */
    private static void churn(int count) throws InterruptedException {
        long[] used = new long[1];
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(
                    () -> {
                        burn(20);
                        used[0] += BEAN.getCurrentThreadCpuTime();
                    },
                    "short-" + i);
            thread.start();
            thread.join();
        }
        say("(churn)\t" + used[0] + "\t-1");
    }

    private static void busy(long millis, long pause) {
        while (true) {
            burn(millis);
            if (pause > 0) sleep(pause);
        }
    }

    private static void burn(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        long sum = 0;
        while (System.nanoTime() < end) for (int i = 0; i < 1_000; i++) sum += i ^ sum;
        sink = sum;
    }

    private static void kernel() {
        byte[] one = new byte[1];
        try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
            while (true) {
                long end = System.nanoTime() + 10_000_000;
                while (System.nanoTime() < end) for (int i = 0; i < 100; i++) sink = zeros.read(one);
                sleep(30);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // that is what is to be found
    private static void giveWay() {
        while (true) Thread.yield();
    }

    /** Of which a part lives for some time, so that the collector has something to do. */
    private static void garbage() {
        Object[] kept = new Object[8_000];
        for (int i = 0; ; i = (i + 1) % kept.length) kept[i] = new byte[1_000];
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
