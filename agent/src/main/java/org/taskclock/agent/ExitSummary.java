// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A file with the CPU time of the process by thread name, written when the process exits. A thread's clock ends with
 * the thread, so all threads are sampled once a second, and each Java thread once more at its end. The CPU time of
 * other threads after their last sample is included only in the process total.
 */
final class ExitSummary {
    /** The threads whose names differ only in their numbers. */
    static final class Pool {
        /** The full name of one of its threads. */
        String example;

        boolean isJava;
        int threads;
        long cpuNanos;
        long userNanos;
    }

    private static final long PERIOD_MILLIS = 1_000;
    /** The maximum number of threads between two samples whose end is recorded. */
    private static final int MAX_ENDED = 100_000;

    private final AgentController controller;
    private volatile Path directory;
    /**
     * The file name without its extension. In containers every JVM can be process 1, so the process id is not enough.
     */
    private final String baseName = host() + "-" + ProcessHandle.current().pid() + "-" + System.currentTimeMillis();

    private final PoolTimes times = new PoolTimes();
    /** The threads that ended since the last sample. */
    private final Queue<EndedThread> ended = new ConcurrentLinkedQueue<>();

    private final AtomicInteger endedCount = new AtomicInteger();
    private final Thread sampler = new Thread(this::sampleUntilStopped, "taskclock summary");
    private final Thread shutdownHook = new Thread(this::write, "taskclock summary");

    private volatile boolean isStopped;
    private boolean hasWarned;

    ExitSummary(AgentController controller) {
        this.controller = controller;
    }

    private static String host() {
        try {
            String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
            return host.replaceAll("[^A-Za-z0-9._]", "_");
        } catch (IOException e) {
            return "unknown";
        }
    }

    /** Sets where the file will be written. */
    void setDirectory(Path directory) throws FeatureException {
        if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
            throw new FeatureException(directory + " is not a writable directory");
        }
        this.directory = directory;
    }

    /** Starts to sample. The directory must have been set. */
    void start() {
        sample();
        try {
            FeatureException.throwIf(controller.hooks().setThreadEndListener(this::threadEnded));
        } catch (FeatureException e) {
            System.err.println("taskclock: agent: summary: threads that live less than a second are not listed: "
                    + e.getMessage());
        }
        Runtime.getRuntime().addShutdownHook(shutdownHook);
        sampler.setDaemon(true);
        sampler.start();
    }

    void stop() throws FeatureException {
        isStopped = true;
        sampler.interrupt();
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            return; // the process is ending
        }
        FeatureException.throwIf(controller.hooks().setThreadEndListener(null));
    }

    private void sampleUntilStopped() {
        try {
            while (!isStopped) {
                try {
                    Thread.sleep(PERIOD_MILLIS);
                    // Other shutdown hooks may run for a long time, so the file is written again each period.
                    if (shutdownHook.getState() == Thread.State.NEW) sample();
                    else write();
                } catch (InterruptedException | OutOfMemoryError e) {
                    // The sampler was stopped, the program interrupts all threads, or the heap is full. The next sample
                    // includes what this one missed.
                }
            }
        } catch (RuntimeException | LinkageError e) {
            warn(e);
        }
    }

    /** Samples all threads. If the heap is full, it may sample only some of them; the next sample includes the rest. */
    private synchronized void sample() {
        ThreadTable.Row[] rows = ThreadTable.read(controller.hooks());
        if (rows == null) return; // the next sample includes what this one missed
        // Taken after the reading, so that each thread in it that has ended is among these.
        List<EndedThread> taken = new ArrayList<>();
        for (EndedThread thread; (thread = ended.poll()) != null; ) {
            endedCount.decrementAndGet();
            taken.add(thread);
        }
        times.update(rows, taken);
    }

    /** Called on each thread that ends. */
    private void threadEnded(Thread thread, long[] values) {
        if (endedCount.get() >= MAX_ENDED) return;
        ended.add(EndedThread.of(thread.getName(), controller.hooks().threadId(thread), values));
        endedCount.incrementAndGet();
    }

    private synchronized void write() {
        Path directory = this.directory;
        try {
            sample();
            // A temporary file in the same file system allows an atomic move. A link with its name is not followed.
            Path temporary = directory.resolve(baseName + ".part");
            Files.deleteIfExists(temporary);
            Files.write(
                    temporary,
                    AgentReportWriter.report(controller, times.pools()).getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE,
                    LinkOption.NOFOLLOW_LINKS);
            Files.move(temporary, directory.resolve(baseName + ".json"), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
            warn(e);
        }
    }

    /** Logs the first failure. */
    private void warn(Throwable e) {
        if (!hasWarned) System.err.println("taskclock: agent: summary in " + directory + " failed: " + e);
        hasWarned = true;
    }
}
