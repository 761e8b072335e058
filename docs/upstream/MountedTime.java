// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;

/**
 * A model of Trino's drivers: three times as many as processors do the same work in quanta, at most twice as many at a
 * time, as in Trino's FairScheduler. Within a quantum a driver does not park, so a virtual thread stays mounted on one
 * carrier, and its mounted time is wall time. Compares that with ThreadMXBean, TaskClock, and the kernel's clock of the
 * carrier. On JDK 25:
 *
 * <pre>
 * java --enable-native-access=ALL-UNNAMED -cp taskclock.jar -javaagent:taskclock-agent.jar=vthreads=on
 *     -Djdk.virtualThreadScheduler.parallelism=2 MountedTime.java
 * </pre>
 */
public final class MountedTime {
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();
    private static final int DRIVERS = 3 * PROCESSORS;
    private static final int WORKERS = 2 * PROCESSORS;
    private static final int QUANTA = 20;
    private static final int LOOPS = 6_000_000;
    private static final int WAIT_MICROS = 10_000;
    private static final int REPETITIONS = 7;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final Linker LINKER = Linker.nativeLinker();
    /** A critical call does not unmount the thread, so it reads the clock of the current carrier. */
    private static final MethodHandle CLOCK_GETTIME = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("clock_gettime"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS),
            Linker.Option.critical(true));

    private static final MethodHandle USLEEP = LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("usleep"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));

    private static final CpuAccount QUERY = CpuAccounts.type("query").of("model");

    /** The figures of one repetition, in nanoseconds. */
    private static final class Sums {
        final LongAdder mounted = new LongAdder();
        final LongAdder mxBean = new LongAdder();
        final LongAdder taskClock = new LongAdder();
        final LongAdder kernel = new LongAdder();
        double account;

        /** The mounted time, and the figures of ThreadMXBean, TaskClock, and the account, relative to the kernel's. */
        double ratio(int figure) {
            double nanos =
                    switch (figure) {
                        case 0 -> mounted.sum();
                        case 1 -> mxBean.sum();
                        case 2 -> taskClock.sum();
                        default -> account;
                    };
            return nanos / kernel.sum();
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.printf(
                Locale.ROOT,
                "JDK %s, %d processors, %d drivers, medians of %d repetitions, lowest to highest in parentheses%n%n"
                        + "| drivers | machine | kernel, s | mounted / kernel | `ThreadMXBean` / kernel |"
                        + " `TaskClock` / kernel | `CpuAccount` / kernel | load |%n"
                        + "|---|---|---:|---:|---:|---:|---:|---:|%n",
                System.getProperty("java.runtime.version"),
                PROCESSORS,
                DRIVERS,
                REPETITIONS);
        for (ThreadFactory threads : List.of(
                Thread.ofPlatform().factory(), Thread.ofVirtual().factory())) {
            warmUp(threads);
            measure(threads, "nothing else started", 0, false);
            measure(threads, "beside two busy processes per processor", 2 * PROCESSORS, false);
            measure(threads, "each quantum waits for 10 ms in native code", 0, true);
        }
    }

    @SuppressWarnings("try") // the section only needs to be open
    private static void warmUp(ThreadFactory threads) throws InterruptedException {
        Thread thread = threads.newThread(() -> {
            for (int i = 0; i < 50_000; i++) {
                try (CpuSection section = QUERY.enter()) {
                    TaskClock.cpuNanos();
                    THREADS.getCurrentThreadCpuTime();
                }
            }
        });
        thread.start();
        thread.join();
        for (int i = 0; i < 2; i++) run(threads, false);
    }

    private static void measure(ThreadFactory threads, String machine, int busy, boolean waits) throws Exception {
        List<Process> processes = new ArrayList<>();
        List<Sums> runs = new ArrayList<>();
        try {
            for (int i = 0; i < busy; i++) {
                processes.add(new ProcessBuilder("timeout", "300", "sh", "-c", "while :; do :; done").start());
            }
            for (int i = 0; i < REPETITIONS; i++) runs.add(run(threads, waits));
        } finally {
            processes.forEach(Process::destroy);
        }
        double[] kernel = runs.stream().mapToDouble(run -> run.kernel.sum() / 1e9).sorted().toArray();
        boolean isVirtual = threads.newThread(() -> {}).isVirtual();
        System.out.printf(
                Locale.ROOT,
                "| %s | %s | %.2f | %s | %s | %s | %s | %.1f |%n",
                isVirtual ? "virtual" : "platform",
                machine,
                kernel[REPETITIONS / 2],
                range(runs, 0, 2),
                range(runs, 1, 4),
                range(runs, 2, 4),
                range(runs, 3, 4),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static String range(List<Sums> runs, int figure, int digits) {
        double[] ratios = runs.stream().mapToDouble(run -> run.ratio(figure)).sorted().toArray();
        String number = "%." + digits + "f";
        return String.format(
                Locale.ROOT,
                number + " (" + number + " to " + number + ")",
                ratios[REPETITIONS / 2],
                ratios[0],
                ratios[REPETITIONS - 1]);
    }

    private static Sums run(ThreadFactory factory, boolean waits) throws InterruptedException {
        Sums sums = new Sums();
        Semaphore workers = new Semaphore(WORKERS, true);
        long account = QUERY.cpuNanos();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < DRIVERS; i++) {
            threads.add(factory.newThread(() -> {
                for (int quantum = 0; quantum < QUANTA; quantum++) {
                    workers.acquireUninterruptibly();
                    work(sums, waits);
                    workers.release();
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) thread.join();
        sums.account = QUERY.cpuNanos() - account;
        return sums;
    }

    @SuppressWarnings("try") // the section only needs to be open
    private static void work(Sums sums, boolean waits) {
        long wall = System.nanoTime();
        long kernel = kernelNanos();
        long mxBean = THREADS.getCurrentThreadCpuTime();
        long taskClock = TaskClock.cpuNanos();
        try (CpuSection section = QUERY.enter()) {
            long sum = 0;
            for (int i = 0; i < LOOPS; i++) sum += Long.numberOfTrailingZeros(sum + i * 31L);
            if (sum == 42) System.out.println();
            if (waits) sleep();
        }
        sums.taskClock.add(TaskClock.cpuNanos() - taskClock);
        sums.mxBean.add(Math.max(0, THREADS.getCurrentThreadCpuTime() - mxBean));
        sums.kernel.add(kernelNanos() - kernel);
        sums.mounted.add(System.nanoTime() - wall);
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

    private static void sleep() {
        try {
            int failed = (int) USLEEP.invokeExact(WAIT_MICROS);
            if (failed != 0) throw new IllegalStateException("usleep: " + failed);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
