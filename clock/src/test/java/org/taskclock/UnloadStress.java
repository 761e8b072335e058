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

/**
 * Main class of child JVMs: repeatedly loads a copy of the library, uses it on long-running threads, and drops it. The
 * copy's class loader must be collected.
 */
final class UnloadStress {
    private static final int THREADS = 4;
    private static final int ROUNDS = 60;
    /** These rounds fill the JDK's buffers and caches and start JVM threads, which happens only once. */
    private static final int WARMUP_ROUNDS = 20;

    private static final long COLLECT_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);
    /** The JVM itself may temporarily open files or start threads. A leak in each round would add 60. */
    private static final int MAX_TEMPORARY = 5;

    /** A copy's code stays mapped (-z nodelete), because threads may be executing it: at least seven pages. */
    private static final long MAX_KB_PER_COPY = 64;

    private static final Path JAR = Path.of(System.getProperty("test.jar"));

    private final List<ExecutorService> threads = Stream.generate(
                    () -> Executors.newSingleThreadExecutor(UnloadStress::daemon))
            .limit(THREADS)
            .toList();
    private final CpuTime[] last = new CpuTime[THREADS];
    private int copies;
    /** What all copies have counted for an account. */
    private long namedNanos;

    public static void main(String[] arguments) throws Exception {
        UnloadStress test = new UnloadStress();
        for (WeakReference<ClassLoader> loader : test.loadConcurrently()) awaitCollected(loader);
        for (int round = 0; round < WARMUP_ROUNDS; round++) awaitCollected(test.useAndDrop());
        Footprint before = Footprint.take();
        for (int round = 0; round < ROUNDS; round++) awaitCollected(test.useAndDrop());
        Footprint after = Footprint.take();

        check(
                after.files.size() <= before.files.size() + MAX_TEMPORARY,
                "file descriptors: " + before + " then " + after);
        check(after.threads <= before.threads + MAX_TEMPORARY, "threads: " + before + " then " + after);
        double kb = (after.mappedKb - before.mappedKb) / (double) ROUNDS;
        check(kb <= MAX_KB_PER_COPY, kb + " KB of mappings per copy");
        System.out.println("collected " + ROUNDS + " copies; each left " + kb + " KB mapped");
    }

    /** Loads copies at the same time. They must find each other and use the same functions. */
    private List<WeakReference<ClassLoader>> loadConcurrently() throws Exception {
        List<LibraryCopy> copies = onAllThreads(thread -> new LibraryCopy(JAR, LibraryCopy.PACKAGE));
        for (LibraryCopy copy : copies) {
            check(copy.status("backend").equals(System.getProperty("taskclock.backend")), copy.status("backends"));
            if (isNative()) {
                check(copy.status("state").startsWith("shared"), copy.status("state"));
                check(copy.functions()[0] == copies.get(0).functions()[0], "different functions");
            }
            copy.close();
        }
        return copies.stream().map(LibraryCopy::loader).toList();
    }

    private WeakReference<ClassLoader> useAndDrop() throws Exception {
        try (LibraryCopy copy = new LibraryCopy(JAR, LibraryCopy.PACKAGE)) {
            onAllThreads(thread -> last[thread] = read(copy, last[thread]));
            useNamedAccounts(copy);
            // Waits for the copy's startup thread, which refers to its class loader.
            check(copy.status("backend").equals(System.getProperty("taskclock.backend")), "wrong backend");
            return copy.loader();
        }
    }

    /** Earlier copies are gone, but not what they counted. A thread that has ended refers to the class loader. */
    private void useNamedAccounts(LibraryCopy copy) throws Exception {
        Object type = copy.accountType("test");
        Object account = copy.account(type, "acme");
        onAllThreads(thread -> {
            copy.enterAndClose(account);
            return null;
        });
        Thread thread = new Thread(() -> copy.enterAndClose(account));
        thread.setContextClassLoader(copy.loader().get());
        thread.start();
        thread.join();
        // Not each copy reads, because a reading forgets threads that have ended.
        if (++copies % 4 != 0) return;
        long sum = copy.rows(type).get("acme");
        check(sum > (isNative() ? namedNanos : 0), "named: " + namedNanos + " then " + sum);
        namedNanos = sum;
    }

    private static CpuTime read(LibraryCopy copy, CpuTime last) {
        check(copy.accountNanos() > 0, "the account counted nothing");
        CpuTime now = copy.now();
        check(now.isKnown() && now.userNanos() + now.systemNanos() == now.cpuNanos(), now + "");
        if (last == null) return now;
        check(now.cpuNanos() >= last.cpuNanos(), last + " then " + now);
        // ThreadMXBean's user time grows in steps, and each copy corrects it separately.
        if (isNative()) check(now.userNanos() >= last.userNanos(), last + " then " + now);
        if (isNative()) check(now.systemNanos() >= last.systemNanos(), last + " then " + now);
        return now;
    }

    private interface Task<T> {
        T run(int thread) throws Exception;
    }

    private <T> List<T> onAllThreads(Task<T> task) throws Exception {
        List<Future<T>> futures = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            Callable<T> call = () -> task.run(thread);
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
            check(System.nanoTime() - start < COLLECT_LIMIT_NANOS, "the class loader is still reachable");
        }
    }

    private record Footprint(List<String> files, int threads, long mappedKb) {
        static Footprint take() {
            return new Footprint(openFiles(), new File("/proc/self/task").list().length, librarySizeKb());
        }

        /**
         * Returns the open files, except the other jars of the class path, which the JVM opens when it searches one.
         */
        private static List<String> openFiles() {
            List<String> files = new ArrayList<>();
            for (File descriptor : new File("/proc/self/fd").listFiles()) {
                try {
                    Path file = Files.readSymbolicLink(descriptor.toPath());
                    if (!file.toString().endsWith(".jar") || file.equals(JAR)) files.add(file.toString());
                } catch (IOException e) {
                    // closed since it was listed
                }
            }
            return files;
        }

        private static long librarySizeKb() {
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
        return System.getProperty("taskclock.backend").equals("syscall");
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
