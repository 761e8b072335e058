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
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * A file with the CPU time of the process by thread name, written when the process exits. A thread's clock ends with
 * the thread, so all threads are sampled once a second. The CPU time of a thread after its last sample is included only
 * in the process total.
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

    private record Sample(String pool, long cpuNanos, long userNanos) {}

    private static final long PERIOD_MILLIS = 1_000;
    /** The threads of further pools are counted as "(other)". */
    private static final int MAX_POOLS = 1_000;

    private static final String OTHER = "(other)";

    private final AgentController controller;
    private final Path directory;
    /**
     * The file name without its extension. In containers every JVM can be process 1, so the process id is not enough.
     */
    private final String baseName = host() + "-" + ProcessHandle.current().pid() + "-" + System.currentTimeMillis();

    private final Map<String, Pool> pools = new TreeMap<>();
    private final Thread sampler = new Thread(this::sampleUntilStopped, "taskclock summary");
    private final Thread shutdownHook = new Thread(this::write, "taskclock summary");

    /** The last sample of each live thread, by kernel id. */
    private final Map<Integer, Sample> lastSamples = new HashMap<>();

    private volatile boolean isStopped;
    private boolean hasWarned;

    ExitSummary(AgentController controller, Path directory) {
        this.controller = controller;
        this.directory = directory;
    }

    private static String host() {
        try {
            String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
            return host.replaceAll("[^A-Za-z0-9._]", "_");
        } catch (IOException e) {
            return "unknown";
        }
    }

    void start() throws FeatureException {
        if (!Files.isWritable(directory)) {
            throw new FeatureException(directory + " is not a writable directory");
        }
        sample();
        Runtime.getRuntime().addShutdownHook(shutdownHook);
        sampler.setDaemon(true);
        sampler.start();
    }

    void stop() {
        isStopped = true;
        sampler.interrupt();
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            return; // the process is ending
        }
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
        Set<Integer> alive = new HashSet<>();
        for (ThreadTable.Row row : rows) {
            alive.add(row.getTid());
            if (row.getCpuNanos() < 0 || row.getName().equals(ThreadTable.ENDED)) continue;
            Sample last = lastSamples.get(row.getTid());
            // The kernel reuses thread ids.
            boolean isSameThread =
                    last != null && last.cpuNanos <= row.getCpuNanos() && last.userNanos <= row.getUserNanos();
            // The main thread gets this name when main returns. It keeps its kernel id.
            boolean isMain = isSameThread && row.getName().equals("DestroyJavaVM");
            String name = isMain ? last.pool : poolName(row);
            Pool pool = pools.computeIfAbsent(name, n -> new Pool());
            // Nothing after this can fail, so no time is counted twice.
            lastSamples.put(row.getTid(), new Sample(name, row.getCpuNanos(), row.getUserNanos()));
            if (pool.example == null) pool.example = row.getName();
            pool.isJava |= row.getId() >= 0;
            if (!isSameThread || !last.pool.equals(name)) pool.threads++;
            pool.cpuNanos += row.getCpuNanos() - (isSameThread ? last.cpuNanos : 0);
            pool.userNanos += row.getUserNanos() - (isSameThread ? last.userNanos : 0);
        }
        lastSamples.keySet().retainAll(alive);
    }

    private String poolName(ThreadTable.Row row) {
        String name = PoolNames.poolName(row.getName());
        return pools.containsKey(name) || pools.size() < MAX_POOLS ? name : OTHER;
    }

    private synchronized void write() {
        try {
            sample();
            // A temporary file in the same file system allows an atomic move. A link with its name is not followed.
            Path temporary = directory.resolve(baseName + ".part");
            Files.deleteIfExists(temporary);
            Files.write(
                    temporary,
                    AgentReportWriter.report(controller, pools).getBytes(StandardCharsets.UTF_8),
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
