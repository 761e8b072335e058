// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.testing;

import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program with known loads. Each argument is the name of a load, or a name and a number of threads, as in "idle=3".
 * The program reads commands from standard input, one per line: "reference" prints the CPU times of its threads and of
 * the process, "allocated" prints the bytes that each thread has allocated, "churn N" runs N short-lived threads, "burn
 * N" uses N milliseconds of CPU time in the main thread, and "start LOAD" starts another load. Each reply ends with a
 * line "done".
 */
public final class LoadProgram {
    /** The name of the thread of the load "hostile", for tests of what shows names. */
    public static final String HOSTILE_NAME = "<img src=x onerror=\"alert(1)\">,=cmd|' /C calc'!A0";

    /** The names of the threads of the load "gc-names": a collector's threads have similar ones. */
    public static final List<String> GC_NAMES =
            List.of("G1 loader", "Zipkin-reporter#2", "ZooKeeper worker #1", "GC Thread#9");

    static volatile Object sink;

    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();
    private static final Object MONITOR = new BitSet();
    private static final ReentrantLock LOCK = new ReentrantLock();
    /** Reaches 0 when the owner has taken the monitor or the lock. */
    private static final CountDownLatch TAKEN = new CountDownLatch(1);

    private static final Map<String, Thread> THREADS = new TreeMap<>();

    private LoadProgram() {}

    public static void main(String[] args) throws Exception {
        for (String arg : args) start(arg);
        awaitAgent();
        print("done");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; print("done")) {
            if (line.equals("reference")) reference();
            else if (line.equals("allocated")) allocated();
            else if (line.startsWith("burn ")) burn(Integer.parseInt(line.substring("burn ".length())));
            else if (line.startsWith("start ")) start(line.substring("start ".length()));
            else if (line.startsWith("churn ")) churn(Integer.parseInt(line.substring("churn ".length())));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Waits until an agent that started with this program reports to tools, 0.2 s after its start. */
    private static void awaitAgent() throws InterruptedException {
        String state = System.getProperty("taskclock.agent", "");
        if (!state.startsWith("version=")) return;
        while (!System.getProperty("taskclock.agent").contains(",backend=")) Thread.sleep(5);
    }

    /** Starts a load such as "idle=3". */
    private static void start(String load) throws ReflectiveOperationException {
        String[] parts = load.split("=", 2);
        int count = parts.length > 1 ? Integer.parseInt(parts[1]) : 1;
        for (int i = 1; i <= count; i++) start(parts[0], i);
    }

    private static void start(String load, int number) throws ReflectiveOperationException {
        switch (load) {
            case "busy" -> startPlatform("a busy thread with a long name, number " + number, () -> runBursts(20, 10));
            case "lightly" -> startPlatform("lightly-" + number, () -> runBursts(1, 100));
            case "carrier" -> startPlatform("ForkJoinPool-1-worker-" + number, () -> runBursts(20, 10));
            case "kernel" -> startPlatform("kernel-calls", LoadProgram::callKernel);
            case "system" -> startPlatform("system-time", LoadProgram::readForever);
            case "hostile" -> startPlatform(HOSTILE_NAME, () -> runBursts(1, 20));
            case "gc-names" -> GC_NAMES.forEach(name -> startPlatform(name, () -> runBursts(20, 5)));
            case "gc-name" -> startPlatform("GC Thread#8", () -> runBursts(20, 5));
            case "idle" -> startPlatform("pool-7-thread-" + number, () -> sleep(1_000_000));
            case "yield" -> startPlatform("yielder", LoadProgram::yieldForever);
            case "garbage" -> startPlatform("garbage", LoadProgram::allocate);
            case "convoy" -> startPlatform(lockUser(number), () -> useMonitor(number == 1));
            case "parked" -> startPlatform(lockUser(number), () -> useLock(number == 1));
            case "allocate" -> startPlatform("allocator", LoadProgram::allocateSteadily);
            case "virtual" -> startVirtual("request-" + number, () -> runBursts(5, 30));
            case "virtual-yield" -> startVirtual("virtual-yielder-" + number, LoadProgram::yieldForever);
            case "virtual-yield-often" -> startVirtual("often-" + number, LoadProgram::yieldOften);
            case "virtual-hog" -> startVirtual("hog", () -> runBursts(1_000, 0));
            case "virtual-pinned" -> startVirtual("pinned", () -> Pinned.sleep());
            default -> throw new IllegalArgumentException(load);
        }
    }

    private static void startPlatform(String name, Runnable load) {
        Thread thread = new Thread(load, name);
        thread.setDaemon(true);
        THREADS.put(name, thread);
        thread.start();
    }

    private static void startVirtual(String name, Runnable load) throws ReflectiveOperationException {
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        Class<?> type = Class.forName("java.lang.Thread$Builder");
        Method named = type.getMethod("name", String.class);
        type.getMethod("start", Runnable.class).invoke(named.invoke(builder, name), load);
    }

    /**
     * Prints the CPU and user time of each thread, the CPU time of the process, and the times before and after the
     * reading, in nanoseconds.
     */
    private static void reference() {
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
        print("(time)\t" + before + "\t" + System.nanoTime());
    }

    /** Blocks its carrier, because a thread that runs a class initializer cannot leave it. */
    private static final class Pinned {
        static {
            LoadProgram.sleep(1_000_000);
        }

        static void sleep() {}
    }

    private static void burn(int millis) {
        long end = BEAN.getCurrentThreadCpuTime() + millis * 1_000_000L;
        while (BEAN.getCurrentThreadCpuTime() < end) Thread.onSpinWait();
    }

    private static void allocated() {
        var bean = (com.sun.management.ThreadMXBean) BEAN;
        THREADS.forEach((name, thread) -> System.out.println(
                name + "\t" + bean.getThreadAllocatedBytes(thread.getId()) + "\t" + System.nanoTime()));
    }

    /** Runs threads of 20 ms one after another and prints their total CPU time. */
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
        print("(churn)\t" + used[0] + "\t-1");
    }

    private static void runBursts(long millis, long pauseMillis) {
        while (true) {
            burn(millis);
            if (pauseMillis > 0) sleep(pauseMillis);
        }
    }

    private static void burn(long millis) {
        long end = System.nanoTime() + millis * 1_000_000;
        long sum = 0;
        while (System.nanoTime() < end) for (int i = 0; i < 1_000; i++) sum += i ^ sum;
        sink = sum;
    }

    private static void callKernel() {
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

    private static void readForever() {
        // The JVM would copy an array.
        ByteBuffer some = ByteBuffer.allocateDirect(65_536);
        try (FileInputStream zeros = new FileInputStream("/dev/zero")) {
            while (true) sink = zeros.getChannel().read(some.clear());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // tests look for this yield storm
    private static void yieldForever() {
        while (true) Thread.yield();
    }

    @SuppressWarnings("ThreadPriorityCheck") // tests look for these yields
    private static void yieldOften() {
        while (true) {
            for (int i = 0; i < 100; i++) Thread.yield();
            sleep(5);
        }
    }

    /** Keeps the newest objects alive, so that the collector has work to do. */
    private static void allocate() {
        Object[] kept = new Object[8_000];
        for (int i = 0; ; i = (i + 1) % kept.length) kept[i] = new byte[1_000];
    }

    /** Allocates about 10 MB per second. */
    private static void allocateSteadily() {
        while (true) {
            sink = new byte[100_000];
            sleep(10);
        }
    }

    private static String lockUser(int number) {
        return number == 1 ? "lock-owner" : "lock-waiter-" + (number - 1);
    }

    /** The first thread takes the monitor and keeps it; the others wait for it. */
    private static void useMonitor(boolean owner) {
        if (!owner) await(TAKEN);
        synchronized (MONITOR) {
            TAKEN.countDown();
            runBursts(2, 50);
        }
    }

    /** The first thread takes the lock and keeps it; the others wait for it. */
    private static void useLock(boolean owner) {
        if (!owner) await(TAKEN);
        LOCK.lock();
        try {
            TAKEN.countDown();
            runBursts(2, 50);
        } finally {
            LOCK.unlock();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void print(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
