// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.taskclock.PoolName;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.usage.EndedPool;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Finds the pools of a JVM's threads. The kernel's name of a thread is complete if it has fewer than 15 bytes. For
 * other names, it requests a thread dump, which stops the JVM briefly: once at the start, and then at most every ten
 * seconds if there are new names, and otherwise at most once a minute.
 */
final class PoolNames {
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    private static final long TIMEOUT_MILLIS = 4_000;
    private static final long PAUSE_NANOS = 10 * NANOS_PER_SECOND;
    private static final long PAUSE_NANOS_PER_THREAD = NANOS_PER_SECOND / 100;
    private static final long LONG_PAUSE_NANOS = 60 * NANOS_PER_SECOND;

    /** The pause after a failure, which doubles with each further one. */
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;

    private static final int MAX_DOUBLINGS = 7;

    /** A dump has no more entries than there are threads, apart from those that start until it is taken. */
    private static final int MAX_NEW_THREADS = 1_000;

    private static final String AMBIGUOUS = "";

    private final int pid;
    private final AttachClient jvm;
    private final Executor worker;
    private final boolean supportsVirtualThreads;

    /**
     * The data of a dump that the pools need.
     *
     * @param threads names and owners by id in the JVM's namespace
     * @param beganAt when it began; threads that started later may be missing from it
     */
    private record Dumped(Map<Integer, Listed> threads, long beganAt) {}

    private record Listed(String name, ThreadNames.Owner owner) {}

    /** A dump that {@link #update} has not used yet; null if there is none. */
    private volatile Dumped dumped;

    private volatile int dumpSize;
    private volatile int threadCount;

    private volatile Set<String> carrierPools = Set.of();
    private volatile boolean isPending;
    private volatile String failure;
    private volatile int failures;
    private volatile long dumpedAt;
    private volatile long retryAt;
    private boolean hasAsked;

    /** Whether the first dump is in use, or was not sent within the time for that. */
    private volatile boolean hasAnswered;

    /** Pools by the pool of the kernel's truncated name; {@link #AMBIGUOUS} if there are several. */
    private final Map<String, String> pools = new HashMap<>();

    /** The shared instances of pools. */
    private final Map<EndedPool.Key, SampledPool> sampled = new HashMap<>();

    PoolNames(int pid, int feature, AttachClient jvm, Executor worker) {
        this.pid = pid;
        this.jvm = jvm;
        this.worker = worker;
        supportsVirtualThreads = feature == 0 || feature >= 21;
    }

    /** Returns why thread names cannot be requested from the JVM; null if they can, or are not requested. */
    String failure() {
        return failure;
    }

    /**
     * Returns whether the first dump is still awaited, which has a time limit. What threads use is not counted until
     * then, because a pool would otherwise appear under a truncated name first, and stay.
     */
    boolean isAwaited() {
        return hasAsked && !hasAnswered;
    }

    /** Returns whether there is a new dump that {@link #update} has not used yet. */
    boolean hasNewNames() {
        return dumped != null;
    }

    /** Returns the pool for a key, always the same instance. */
    SampledPool pool(EndedPool.Key key) {
        return sampled.computeIfAbsent(key, SampledPool::new);
    }

    /** Returns and resets the sums of all pools that have threads or used something. */
    List<ThreadUsage> take() {
        List<ThreadUsage> usages = new ArrayList<>();
        for (Iterator<SampledPool> all = sampled.values().iterator(); all.hasNext(); ) {
            SampledPool pool = all.next();
            if (!pool.isEmpty()) usages.add(pool.take(pid));
            // Thread names can be unlimited.
            else all.remove();
        }
        return usages;
    }

    /** Assigns a thread to the pool that its name determines. */
    void assign(PooledThread thread) {
        if (thread.pool == null) thread.pool = pool(key(thread));
    }

    /** Assigns each thread to its pool, and requests a dump if necessary. */
    void update(Collection<PooledThread> threads, long now) {
        threadCount = threads.size();
        Dumped dump = dumped;
        dumped = null;
        if (dump != null) {
            learn(threads, dump);
            hasAnswered = true;
        }
        boolean isMissing = false;
        boolean isGuessed = false;
        for (PooledThread thread : threads) {
            assign(thread);
            if (thread.owner != ThreadNames.Owner.UNKNOWN) continue;
            // Any thread can have a name of the JVM's threads.
            ThreadKind kind = thread.pool.key.kind();
            if (kind != ThreadKind.JAVA && kind != ThreadKind.CARRIER) isGuessed = true;
            if (!isTruncated(thread.kernelName)) continue;
            String known = pools.get(PoolName.of(thread.kernelName));
            if (known == null || known.equals(AMBIGUOUS)) isMissing = true;
            else isGuessed = true;
        }
        if (worker == null || isPending || (failures > 0 && now - retryAt < 0)) return;
        long minimum = dumpSize * PAUSE_NANOS_PER_THREAD;
        boolean isDue = !hasAsked
                || (isMissing && now - dumpedAt >= Math.max(minimum, PAUSE_NANOS))
                || (isGuessed && now - dumpedAt >= Math.max(minimum, LONG_PAUSE_NANOS));
        if (isDue) requestDump();
    }

    private void learn(Collection<PooledThread> threads, Dumped dump) {
        pools.clear();
        for (PooledThread thread : threads) {
            Listed listed = dump.threads().get(thread.innerTid);
            if (listed == null) {
                if (thread.javaName == null && thread.createdAt - dump.beganAt() < 0)
                    thread.owner = ThreadNames.Owner.NOT_JAVA;
            } else {
                thread.javaName = listed.name();
                thread.owner = listed.owner();
                if (isTruncated(thread.kernelName)) {
                    String pool = PoolName.of(listed.name());
                    pools.merge(PoolName.of(thread.kernelName), pool, (a, b) -> a.equals(b) ? a : AMBIGUOUS);
                }
            }
            thread.pool = null;
        }
    }

    private EndedPool.Key key(PooledThread thread) {
        String name = thread.javaName == null ? thread.kernelName : thread.javaName;
        String pool = PoolName.of(name);
        if (thread.owner == ThreadNames.Owner.UNKNOWN && isTruncated(name)) {
            String known = pools.getOrDefault(pool, AMBIGUOUS);
            if (!known.equals(AMBIGUOUS)) pool = known;
        }
        return new EndedPool.Key(pool, kind(thread, name, pool));
    }

    private ThreadKind kind(PooledThread thread, String name, String pool) {
        if (carrierPools.contains(pool) || (supportsVirtualThreads && ThreadNames.isCarrier(name)))
            return ThreadKind.CARRIER;
        // The launcher's first thread only waits for the main thread that it creates.
        boolean isLauncher = thread.javaName == null && thread.tid == pid;
        return ThreadNames.kind(name, isLauncher ? ThreadNames.Owner.NOT_JAVA : thread.owner);
    }

    private static boolean isTruncated(String kernelName) {
        // A truncated name does not end within a character, so one that is not ASCII may be shorter.
        int length = kernelName.length();
        if (length >= ThreadNames.KERNEL_LENGTH) return true;
        for (int i = 0; i < length; i++) if (kernelName.charAt(i) > 0x7f) return true;
        return false;
    }

    private void requestDump() {
        hasAsked = true;
        isPending = true;
        try {
            worker.execute(this::dump);
        } catch (RejectedExecutionException e) {
            isPending = false; // closing
            hasAnswered = true;
        }
    }

    private void dump() {
        long start = System.nanoTime();
        AtomicInteger entries = new AtomicInteger();
        int maxEntries = threadCount + MAX_NEW_THREADS;
        try {
            ThreadDump dump = jvm.threadDump(TIMEOUT_MILLIS, tid -> entries.incrementAndGet() <= maxEntries, false);
            Map<Integer, Listed> threads = new HashMap<>();
            Set<String> carriers = new HashSet<>(carrierPools);
            for (ThreadDump.Entry entry : dump.all()) {
                threads.put(entry.tid(), new Listed(entry.name(), entry.owner()));
                if (entry.carriedId() != 0) carriers.add(PoolName.of(entry.name()));
            }
            carrierPools = carriers;
            dumpSize = threads.size();
            dumped = new Dumped(threads, start);
            failure = null;
            failures = 0;
        } catch (IOException e) {
            retryAt = System.nanoTime() + (RETRY_NANOS << Math.min(failures, MAX_DOUBLINGS));
            failures = Math.min(failures, MAX_DOUBLINGS) + 1;
            failure = String.valueOf(e.getMessage());
        } finally {
            dumpedAt = System.nanoTime();
            if (failures > 0) hasAnswered = true;
            isPending = false;
        }
    }
}
