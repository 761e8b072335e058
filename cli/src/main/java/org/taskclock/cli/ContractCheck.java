// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.taskclock.ClockId;
import org.taskclock.ClockStatus;
import org.taskclock.CpuTime;
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/**
 * Reads a clock on more threads than there are processors, while they compute, call the kernel, block and are preempted,
 * and compares it with the kernel.
 */
final class ContractCheck {
    /** The clock under examination; apart from {@link TaskClock}, tests have some that are broken. */
    interface Clock {
        long cpuNanos();

        long userNanos();

        long systemNanos();

        CpuTime now();
    }

    /** What the clock is held against: the calling thread's cpu time, from elsewhere. */
    record Reference(String name, LongSupplier nanos) {
        /** CLOCK_THREAD_CPUTIME_ID; without the native library the JVM's word, which is then all there is. */
        static Reference best() {
            ClockId own = ClockId.thread(0, ClockId.Kind.SCHED);
            if (own.nanos() >= 0) return new Reference("CLOCK_THREAD_CPUTIME_ID", own::nanos);
            ThreadMXBean bean = ManagementFactory.getThreadMXBean();
            return new Reference("ThreadMXBean", bean::getCurrentThreadCpuTime);
        }

        long cpuNanos() {
            return nanos.getAsLong();
        }
    }

    /**
     * What getrusage may differ by beyond one tick. It is as old as the thread's last tick, and ticks come late where
     * interrupts are off or the host runs something else.
     */
    private static final long LATE_TICK_NANOS = 1_000_000;

    private static final long MAX_PAUSE_NANOS = 2_000_000;

    private final Clock clock;
    private final Reference reference;
    private final long budgetNanos;
    private final Long splitBoundNanos;

    ContractCheck(Clock clock, Reference reference, long budgetNanos, Long splitBoundNanos) {
        this.clock = clock;
        this.reference = reference;
        this.budgetNanos = budgetNanos;
        this.splitBoundNanos = splitBoundNanos;
    }

    static ContractCheck ofTaskClock() {
        ClockStatus status = TaskClock.status();
        long budgetNanos = status.accuracy() == null ? 0 : status.accuracy().budgetNanos();
        return new ContractCheck(new CallingThread(), Reference.best(), budgetNanos, splitBound(status));
    }

    /** On the mxbean rung user time is the JVM's, of a grain that it does not tell: 10 ms, a tick, or none. */
    static Long splitBound(ClockStatus status) {
        boolean promised = status.rung() != Rung.MXBEAN && status.tickNanos() > 0;
        return promised ? status.tickNanos() + LATE_TICK_NANOS : null;
    }

    Contract run(long nanos) throws InterruptedException, ExecutionException {
        int processors = Runtime.getRuntime().availableProcessors();
        int threads = processors + Math.max(2, processors / 2);
        ExecutorService executor = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, "taskclock-check");
            thread.setDaemon(true);
            return thread;
        });
        try {
            long end = System.nanoTime() + nanos;
            List<Future<ThreadCheck>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                SplittableRandom random = new SplittableRandom(i);
                running.add(executor.submit(() -> check(random, end)));
            }
            List<ThreadCheck> checks = new ArrayList<>();
            for (Future<ThreadCheck> check : running) checks.add(check.get());
            return sum(checks);
        } finally {
            executor.shutdownNow();
        }
    }

    private ThreadCheck check(SplittableRandom random, long end) throws IOException {
        ThreadCheck check = new ThreadCheck(clock, reference);
        byte[] buffer = new byte[8 << 10];
        // Every system has this file, and has it in memory, so reading it is a system call that does not block.
        Path modules = Path.of(System.getProperty("java.home"), "lib", "modules");
        try (RandomAccessFile file = new RandomAccessFile(modules.toFile(), "r")) {
            // However little comes of the rest on a machine that is overloaded.
            pause(check, random);
            check.read();
            long work = 0;
            while (System.nanoTime() - end < 0) {
                // Depends on the work done before, or the compiler might leave that out.
                int turn = (int) ((random.nextLong() ^ work) & 255);
                if (turn == 0) pause(check, random);
                else if (turn < 64) callKernel(file, buffer, random.nextInt(32));
                else work = compute(random, random.nextInt(16_384));
                check.read();
            }
        }
        return check;
    }

    private static void pause(ThreadCheck check, SplittableRandom random) {
        check.await(() -> LockSupport.parkNanos(random.nextLong(MAX_PAUSE_NANOS)));
    }

    private static void callKernel(RandomAccessFile file, byte[] buffer, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            file.seek(0);
            file.readFully(buffer);
        }
    }

    private static long compute(SplittableRandom random, int times) {
        long value = 0;
        for (int i = 0; i < times; i++) value ^= random.nextLong();
        return value;
    }

    private Contract sum(List<ThreadCheck> checks) {
        Histogram cpuErrors = new Histogram(3);
        for (ThreadCheck check : checks) cpuErrors.add(check.cpuErrors);
        long splitErrorMax =
                checks.stream().mapToLong(c -> c.splitErrorMax).max().orElse(-1);
        return new Contract(
                reference.name(),
                checks.size(),
                cpuErrors.getTotalCount(),
                checks.stream().mapToLong(c -> c.unknownReadings).sum(),
                cpuErrors.getValueAtPercentile(99.99),
                cpuErrors.getMaxValue(),
                checks.stream().mapToLong(c -> c.cpuErrorSum).sum() / (double) Math.max(1, cpuErrors.getTotalCount()),
                budgetNanos,
                checks.stream().mapToLong(c -> c.sumErrors).sum(),
                checks.stream().mapToLong(c -> c.backwardSteps).sum(),
                splitErrorMax < 0 ? null : splitErrorMax,
                splitBoundNanos,
                checks.stream().mapToLong(c -> c.waits).sum(),
                checks.stream().mapToLong(c -> c.waitedNanos).sum(),
                checks.stream().mapToLong(c -> c.blockedNanosCounted).sum());
    }

    static class CallingThread implements Clock {
        @Override
        public long cpuNanos() {
            return TaskClock.cpuNanos();
        }

        @Override
        public long userNanos() {
            return TaskClock.userNanos();
        }

        @Override
        public long systemNanos() {
            return TaskClock.systemNanos();
        }

        @Override
        public CpuTime now() {
            return TaskClock.now();
        }
    }
}
