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
import org.taskclock.Backend;
import org.taskclock.ClockId;
import org.taskclock.ClockStatus;
import org.taskclock.CpuTime;
import org.taskclock.TaskClock;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * Checks a clock's contract: compares its readings with the kernel's on more threads than processors, while the threads
 * compute, make system calls, block, and are preempted.
 */
final class ContractCheck {
    /** The clock under test. */
    interface Clock {
        long cpuNanos();

        long userNanos();

        long systemNanos();

        CpuTime now();
    }

    /** An independent reading of the calling thread's CPU time. */
    record Reference(String name, LongSupplier nanos) {
        /** Returns CLOCK_THREAD_CPUTIME_ID, or ThreadMXBean without the native library. */
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
     * Allowed difference from getrusage beyond one tick. getrusage reports values as of the thread's last tick, and a
     * tick is late if interrupts are off or the host has preempted the processor.
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

    /** Returns null on the mxbean backend: its user time has an unknown granularity (10 ms, one tick, or less). */
    static Long splitBound(ClockStatus status) {
        boolean isBounded = status.backend() != Backend.MXBEAN && status.tickNanos() > 0;
        return isBounded ? status.tickNanos() + LATE_TICK_NANOS : null;
    }

    ContractResult run(long nanos) throws InterruptedException, ExecutionException {
        int processors = Runtime.getRuntime().availableProcessors();
        int threads = processors + Math.max(2, processors / 2);
        ExecutorService executor =
                Executors.newFixedThreadPool(threads, task -> new DaemonThread(task, "taskclock-check"));
        try {
            long end = System.nanoTime() + nanos;
            List<Future<ThreadContractCheck>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                SplittableRandom random = new SplittableRandom(i);
                running.add(executor.submit(() -> check(random, end)));
            }
            List<ThreadContractCheck> checks = new ArrayList<>();
            for (Future<ThreadContractCheck> check : running) checks.add(check.get());
            return sum(checks);
        } finally {
            executor.shutdownNow();
        }
    }

    private ThreadContractCheck check(SplittableRandom random, long end) throws IOException {
        ThreadContractCheck check = new ThreadContractCheck(clock, reference);
        byte[] buffer = new byte[8 << 10];
        // Every JDK has this file, and it is in the page cache, so reading it is a system call that does not block.
        Path modules = Path.of(System.getProperty("java.home"), "lib", "modules");
        try (RandomAccessFile file = new RandomAccessFile(modules.toFile(), "r")) {
            // Ensures at least one wait and one reading on an overloaded machine.
            pause(check, random);
            check.read();
            long work = 0;
            while (System.nanoTime() - end < 0) {
                // Depends on the previous work, so that the compiler cannot eliminate it.
                int choice = (int) ((random.nextLong() ^ work) & 255);
                if (choice == 0) pause(check, random);
                else if (choice < 64) callKernel(file, buffer, random.nextInt(32));
                else work = compute(random, random.nextInt(16_384));
                check.read();
            }
        }
        return check;
    }

    private static void pause(ThreadContractCheck check, SplittableRandom random) {
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

    private ContractResult sum(List<ThreadContractCheck> checks) {
        Histogram cpuErrors = new Histogram(3);
        for (ThreadContractCheck check : checks) cpuErrors.add(check.cpuErrors);
        long splitErrorMax =
                checks.stream().mapToLong(c -> c.splitErrorMax).max().orElse(-1);
        return new ContractResult(
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
