// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;

/**
 * When a counter that reads ThreadMXBean before and after a call bills a query properly, and when not, beside a named
 * account and the kernel's clocks of all threads that work for the query. JDK 25:
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp taskclock.jar -javaagent:taskclock-agent.jar=vthreads=on ReadCpu.java
 * java --enable-native-access=ALL-UNNAMED -cp taskclock.jar ReadCpu.java costs   # without the agent
 * </pre>
 */
public final class ReadCpu {
    private static final int REPETITIONS = 9;
    private static final int PAGES = 25;
    private static final int LOOPS = 4_000_000;
    private static final int CALLS = 200_000;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle CLOCK_GETTIME = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("clock_gettime"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS),
            Linker.Option.critical(true));

    private static final AccountType QUERIES = CpuAccounts.type("query");
    private static volatile long blackhole;

    /** Counts the CPU time of calls on the calling thread; a call within a call counts once. */
    private static final class Counter {
        final LongAdder nanos = new LongAdder();
        private final ThreadLocal<Boolean> isCounting = new ThreadLocal<>();

        void count(Runnable work) {
            if (isCounting.get() != null) {
                work.run();
                return;
            }
            long start = THREADS.getCurrentThreadCpuTime();
            isCounting.set(true);
            try {
                work.run();
            } finally {
                isCounting.remove();
                if (start >= 0) nanos.add(THREADS.getCurrentThreadCpuTime() - start);
            }
        }
    }

    /** A query with both kinds of counting. */
    private static final class Query {
        final Counter counter = new Counter();
        final LongAdder kernel = new LongAdder();
        final CpuAccount account;
        private final long before;

        Query(String name) {
            account = QUERIES.of(name);
            before = account.cpuNanos();
        }

        /** Reads a page where the counter and the account are told about it. */
        void counted(Runnable work) {
            counter.count(() -> inAccount(work));
        }

        @SuppressWarnings("try") // the section only needs to be open
        void inAccount(Runnable work) {
            try (CpuSection section = account.enter()) {
                work.run();
            }
        }

        /** The work of one page, and the kernel's figure for it. */
        void work() {
            long start = kernelNanos();
            long sum = 0;
            for (int i = 0; i < LOOPS; i++) sum += Long.numberOfTrailingZeros(sum + i * 31L);
            blackhole = sum;
            kernel.add(kernelNanos() - start);
        }

        long counterNanos() {
            return counter.nanos.sum();
        }

        long accountNanos() {
            return account.cpuNanos() - before;
        }
    }

    private interface Case {
        void run(Query query) throws Exception;
    }

    public static void main(String[] args) throws Exception {
        if (args.length > 0) printCosts();
        else measure();
    }

    private static void measure() throws Exception {
        System.out.printf(
                "JDK %s, load %.1f, medians of %d repetitions, lowest to highest in parentheses%n%n"
                        + "| case | counter / kernel | account / kernel |%n|---|---:|---:|%n",
                System.getProperty("java.runtime.version"),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                REPETITIONS);
        try (ExecutorService pool = Executors.newFixedThreadPool(2)) {
            measure("reads and parses on the thread that counts", query -> {
                for (int i = 0; i < PAGES; i++) query.counted(query::work);
            });
            measure("decompresses on a pool's thread as well", query -> {
                ExecutorService wrapped = query.account.wrap(pool);
                for (int i = 0; i < PAGES; i++) {
                    query.counted(() -> {
                        CompletableFuture<Void> block = CompletableFuture.runAsync(query::work, wrapped);
                        query.work();
                        block.join();
                    });
                }
            });
            measure("decodes in a continuation of an asynchronous read", query -> {
                ExecutorService wrapped = query.account.wrap(pool);
                for (int i = 0; i < PAGES; i++) {
                    CompletableFuture<Void> read = new CompletableFuture<>();
                    CompletableFuture<?>[] decoded = new CompletableFuture<?>[1];
                    query.counted(() -> decoded[0] = read.thenRunAsync(query::work, wrapped));
                    read.complete(null);
                    decoded[0].join();
                }
            });
            measure("runs on a virtual thread", query -> {
                Thread.startVirtualThread(() -> {
                            for (int i = 0; i < PAGES; i++) query.counted(query::work);
                        })
                        .join();
            });
            measureBorrowed();
            measureRunning();
        }
    }

    private static void measure(String name, Case test) throws Exception {
        double[] counter = new double[REPETITIONS];
        double[] account = new double[REPETITIONS];
        for (int i = -1; i < REPETITIONS; i++) {
            Query query = new Query("measured");
            test.run(query);
            Thread.sleep(10); // the last section of a pool's thread may still be closing
            if (i < 0) continue;
            counter[i] = (double) query.counterNanos() / query.kernel.sum();
            account[i] = (double) query.accountNanos() / query.kernel.sum();
        }
        print(name, counter, account);
    }

    /** A thread of one query does the work of another one, as with a shared cache or an executor that runs inline. */
    private static void measureBorrowed() {
        double[] counter = new double[REPETITIONS];
        double[] account = new double[REPETITIONS];
        for (int i = -1; i < REPETITIONS; i++) {
            Query outer = new Query("outer");
            Query inner = new Query("inner");
            for (int page = 0; page < PAGES; page++) outer.counted(() -> inner.counted(inner::work));
            if (i < 0) continue;
            counter[i] = (double) (outer.counterNanos() + inner.counterNanos()) / inner.kernel.sum();
            account[i] = (double) (outer.accountNanos() + inner.accountNanos()) / inner.kernel.sum();
        }
        print("works for another query within its call: both queries", counter, account);
    }

    /** The status of a query is read while a call runs. */
    private static void measureRunning() throws InterruptedException {
        double[] counter = new double[REPETITIONS];
        double[] account = new double[REPETITIONS];
        for (int i = 0; i < REPETITIONS; i++) {
            Query query = new Query("measured");
            CountDownLatch worked = new CountDownLatch(1);
            CountDownLatch read = new CountDownLatch(1);
            Thread thread = new Thread(() -> query.counted(() -> {
                for (int page = 0; page < PAGES; page++) query.work();
                worked.countDown();
                await(read);
            }));
            thread.start();
            worked.await();
            counter[i] = (double) query.counterNanos() / query.kernel.sum();
            account[i] = (double) query.accountNanos() / query.kernel.sum();
            read.countDown();
            thread.join();
        }
        print("is asked for its status while a call runs", counter, account);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void print(String name, double[] counter, double[] account) {
        System.out.printf(Locale.ROOT, "| %s | %s | %s |%n", name, range(counter, 3), range(account, 3));
    }

    private static String range(double[] values, int digits) {
        Arrays.sort(values);
        String number = "%." + digits + "f";
        return String.format(
                Locale.ROOT,
                number + " (" + number + " to " + number + ")",
                values[values.length / 2],
                values[0],
                values[values.length - 1]);
    }

    /** The CPU time of counting an empty call, in a loop. */
    private static void printCosts() {
        Query query = new Query("cost");
        Runnable empty = () -> {};
        double[] counter = new double[REPETITIONS];
        double[] account = new double[REPETITIONS];
        for (int i = -2; i < REPETITIONS; i++) {
            double counterNanos = perCall(() -> query.counter.count(empty));
            double accountNanos = perCall(() -> query.inAccount(empty));
            if (i < 0) continue;
            counter[i] = counterNanos;
            account[i] = accountNanos;
        }
        System.out.printf(
                Locale.ROOT,
                "CPU time of counting an empty call, ns: counter %s, account %s%n",
                range(counter, 0),
                range(account, 0));
    }

    private static double perCall(Runnable call) {
        long start = kernelNanos();
        for (int i = 0; i < CALLS; i++) call.run();
        return (double) (kernelNanos() - start) / CALLS;
    }

    /** Returns the kernel's CPU time of the current kernel thread, CLOCK_THREAD_CPUTIME_ID. */
    private static long kernelNanos() {
        long[] time = new long[2];
        try {
            int failed = (int) CLOCK_GETTIME.invokeExact(3, MemorySegment.ofArray(time));
            if (failed != 0) throw new IllegalStateException("clock_gettime: " + failed);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
        return time[0] * 1_000_000_000 + time[1];
    }
}
