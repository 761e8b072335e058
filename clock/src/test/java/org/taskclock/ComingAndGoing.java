// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.File;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.UndeclaredThrowableException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Main class of child JVMs: copies are loaded, used by threads that stay, dropped, and must then be collected. */
final class ComingAndGoing {
    private static final int THREADS = 4;
    private static final int ROUNDS = 200;
    /** What the first rounds leave behind is once and for all: buffers, the JDK's own caches, threads of the JVM. */
    private static final int FIRST_ROUNDS = 20;

    private static final long COLLECT_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** The JVM opens a file for a moment now and then, or starts a thread; what each round left would be 200. */
    private static final int PASSING = 5;

    /** A copy's code stays mapped (-z nodelete), as threads may be in it: seven pages, and then some. */
    private static final long MAX_KB_A_COPY = 64;

    private static final Path JAR = Path.of(System.getProperty("test.jar"));

    private final List<ExecutorService> threads = Stream.generate(
                    () -> Executors.newSingleThreadExecutor(ComingAndGoing::daemon))
            .limit(THREADS)
            .toList();
    private final CpuTime[] least = new CpuTime[THREADS];

    public static void main(String[] arguments) throws Exception {
        ComingAndGoing test = new ComingAndGoing();
        for (WeakReference<ClassLoader> loader : test.manyAtOnce()) awaitCollected(loader);
        for (int round = 0; round < FIRST_ROUNDS; round++) awaitCollected(test.useAndDrop());
        Footprint before = Footprint.take();
        for (int round = 0; round < ROUNDS; round++) awaitCollected(test.useAndDrop());
        Footprint after = Footprint.take();

        check(after.files <= before.files + PASSING, "file descriptors: " + before + " then " + after);
        check(after.threads <= before.threads + PASSING, "threads: " + before + " then " + after);
        double kb = (after.mappedKb - before.mappedKb) / (double) ROUNDS;
        check(kb <= MAX_KB_A_COPY, kb + " KB of mappings a copy");
        System.out.println("collected " + ROUNDS + " copies; each left " + kb + " KB mapped");
    }

    /** Copies that are loaded at the same moment still find each other; all later ones use the first one's code. */
    private List<WeakReference<ClassLoader>> manyAtOnce() throws Exception {
        List<Copy> copies = onAllThreads(thread -> new Copy(JAR, Copy.PACKAGE));
        for (Copy copy : copies) {
            check(copy.status("rung").equals(System.getProperty("taskclock.rung")), copy.status("rungs"));
            if (isNative()) {
                check(copy.status("state").startsWith("shared"), copy.status("state"));
                check(copy.functions()[0] == copies.get(0).functions()[0], "functions");
            }
            copy.close();
        }
        return copies.stream().map(Copy::loader).toList();
    }

    private WeakReference<ClassLoader> useAndDrop() throws Exception {
        try (Copy copy = new Copy(JAR, Copy.PACKAGE)) {
            onAllThreads(thread -> least[thread] = read(copy, least[thread]));
            // Waits for the thread that makes the copy ready, which holds its class loader.
            check(copy.status("rung").equals(System.getProperty("taskclock.rung")), "rung");
            return copy.loader();
        }
    }

    private static CpuTime read(Copy copy, CpuTime least) {
        check(copy.account() > 0, "an account");
        CpuTime now = copy.now();
        check(now.isKnown() && now.userNanos() + now.systemNanos() == now.cpuNanos(), now + "");
        if (least == null) return now;
        check(now.cpuNanos() >= least.cpuNanos(), least + " then " + now);
        // ThreadMXBean's user time is in steps, so how far it was steered is each copy's own memory.
        if (isNative()) check(now.userNanos() >= least.userNanos(), least + " then " + now);
        if (isNative()) check(now.systemNanos() >= least.systemNanos(), least + " then " + now);
        return now;
    }

    private interface Task<T> {
        T on(int thread) throws Exception;
    }

    private <T> List<T> onAllThreads(Task<T> task) throws Exception {
        List<Future<T>> futures = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            Callable<T> call = () -> task.on(thread);
            futures.add(threads.get(i).submit(call));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> future : futures) results.add(future.get());
        return results;
    }

    private static void awaitCollected(WeakReference<ClassLoader> loader) {
        long start = System.nanoTime();
        while (loader.get() != null) {
            System.gc();
            check(System.nanoTime() - start < COLLECT_LIMIT_NANOS, "something holds the class loader");
        }
    }

    private record Footprint(int files, int threads, long mappedKb) {
        static Footprint take() {
            return new Footprint(
                    new File("/proc/self/fd").list().length, new File("/proc/self/task").list().length, mappings());
        }

        private static long mappings() {
            try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
                return maps.filter(line -> line.contains("libtaskclock-"))
                                .map(line ->
                                        line.substring(0, line.indexOf(' ')).split("-"))
                                .mapToLong(range -> Long.parseLong(range[1], 16) - Long.parseLong(range[0], 16))
                                .sum()
                        / 1024;
            } catch (IOException e) {
                throw new UndeclaredThrowableException(e);
            }
        }
    }

    private static boolean isNative() {
        return System.getProperty("taskclock.rung").equals("syscall");
    }

    private static Thread daemon(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    }

    private static void check(boolean condition, String what) {
        if (!condition) throw new AssertionError(what);
    }
}
