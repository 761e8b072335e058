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
 * What the process used by the names of its threads, written to a file when it ends. A thread's clock ends with it, so that each
 * second all are looked at: what a thread used since the last look is known in the total of the process only.
 */
final class Summary {
    /** Threads whose names are the same but for numbers. */
    static final class Pool {
        /** Of one of them, with its numbers. */
        String example;

        boolean java;
        int threads;
        long cpuNanos;
        long userNanos;
    }

    private record Seen(String pool, long cpuNanos, long userNanos) {}

    private static final long PERIOD_MILLIS = 1_000;
    /** So many names, and what comes after is "other". */
    private static final int MOST = 1_000;

    private static final String OTHER = "(other)";

    private final Agency agency;
    private final Path folder;
    /** Of its file. In containers every JVM is process 1, so that the id alone would not do. */
    private final String name = host() + "-" + ProcessHandle.current().pid() + "-" + System.currentTimeMillis();

    private final Map<String, Pool> pools = new TreeMap<>();
    private final Thread looking = new Thread(this::look, "taskclock summary");
    private final Thread atEnd = new Thread(this::write, "taskclock summary");

    /** By the kernel's id. */
    private final Map<Integer, Seen> seen = new HashMap<>();

    private volatile boolean isStopped;
    private boolean warned;

    Summary(Agency agency, Path folder) {
        this.agency = agency;
        this.folder = folder;
    }

    private static String host() {
        try {
            String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).trim();
            return host.replaceAll("[^A-Za-z0-9._]", "_");
        } catch (IOException e) {
            return "unknown";
        }
    }

    void start() throws Refused {
        if (!Files.isWritable(folder)) throw new Refused(folder + " is no folder that can be written to");
        sample();
        Runtime.getRuntime().addShutdownHook(atEnd);
        looking.setDaemon(true);
        looking.start();
    }

    void stop() {
        isStopped = true;
        looking.interrupt();
        try {
            Runtime.getRuntime().removeShutdownHook(atEnd);
        } catch (IllegalStateException e) {
            return; // the process is ending
        }
    }

    private void look() {
        try {
            while (!isStopped) {
                try {
                    Thread.sleep(PERIOD_MILLIS);
                    // Other hooks may go on for long, and the last word counts.
                    if (atEnd.getState() == Thread.State.NEW) sample();
                    else write();
                } catch (InterruptedException | OutOfMemoryError e) {
                    // Stopped, or the program interrupts all threads; the next sample has what this one misses.
                }
            }
        } catch (RuntimeException | LinkageError e) {
            warn(e);
        }
    }

    /** Takes part of the threads only if the heap is full; the next sample has the rest. */
    private synchronized void sample() {
        ThreadTable.Row[] rows = ThreadTable.read(agency.hooks());
        if (rows == null) return; // the next sample has what this one misses
        Set<Integer> alive = new HashSet<>();
        for (ThreadTable.Row row : rows) {
            alive.add(row.getTid());
            if (row.getCpuNanos() < 0 || row.getName().equals(ThreadTable.ENDED)) continue;
            Seen before = seen.get(row.getTid());
            // The kernel reuses thread ids.
            boolean same =
                    before != null && before.cpuNanos <= row.getCpuNanos() && before.userNanos <= row.getUserNanos();
            // The thread main is called so when it has returned, and the same for the kernel.
            boolean ending = same && row.getName().equals("DestroyJavaVM");
            String name = ending ? before.pool : nameOf(row);
            Pool pool = pools.computeIfAbsent(name, n -> new Pool());
            // From here on nothing fails, or time would be counted twice.
            seen.put(row.getTid(), new Seen(name, row.getCpuNanos(), row.getUserNanos()));
            if (pool.example == null) pool.example = row.getName();
            pool.java |= row.getId() >= 0;
            if (!same || !before.pool.equals(name)) pool.threads++;
            pool.cpuNanos += row.getCpuNanos() - (same ? before.cpuNanos : 0);
            pool.userNanos += row.getUserNanos() - (same ? before.userNanos : 0);
        }
        seen.keySet().retainAll(alive);
    }

    private String nameOf(ThreadTable.Row row) {
        String name = Names.normalised(row.getName());
        return pools.containsKey(name) || pools.size() < MOST ? name : OTHER;
    }

    private synchronized void write() {
        try {
            sample();
            // In the folder's own file system, for the move. A link that somebody put there is not followed.
            Path part = folder.resolve(name + ".part");
            Files.deleteIfExists(part);
            Files.write(
                    part,
                    Report.of(agency, pools).getBytes(StandardCharsets.UTF_8),
                    StandardOpenOption.CREATE_NEW,
                    StandardOpenOption.WRITE,
                    LinkOption.NOFOLLOW_LINKS);
            Files.move(part, folder.resolve(name + ".json"), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
            warn(e);
        }
    }

    /** Once. */
    private void warn(Throwable e) {
        if (!warned) System.err.println("taskclock: agent: summary in " + folder + " failed: " + e);
        warned = true;
    }
}
