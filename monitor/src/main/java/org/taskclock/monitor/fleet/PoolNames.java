// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.taskclock.metrics.ThreadSampler;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.sampling.DumpedNames;
import org.taskclock.monitor.sampling.ProcThread;

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

    private final AttachClient jvm;
    private final Executor worker;
    private final ThreadSampler<ProcThread> sampler;
    private final DumpedNames names;

    /** A dump that {@link #update} has not used yet; null if there is none. */
    private volatile ThreadDump dumped;

    private volatile int dumpSize;
    private volatile int threadCount;

    private volatile boolean isPending;
    private volatile String failure;
    private volatile int failures;
    private volatile long dumpedAt;
    private volatile long retryAt;
    private boolean hasAsked;

    /** Whether the first dump is in use, or was not sent within the time for that. */
    private volatile boolean hasAnswered;

    PoolNames(int pid, int feature, AttachClient jvm, Executor worker, ThreadSampler<ProcThread> sampler) {
        this.jvm = jvm;
        this.worker = worker;
        this.sampler = sampler;
        names = new DumpedNames(pid, feature, sampler);
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

    /** Returns whether the JVM will be asked for the names of threads. */
    private boolean isAsked() {
        return worker != null && failures == 0;
    }

    /**
     * Assigns a thread to the pool that its name determines. Returns false if the thread has the name of a collector's,
     * and may not be one: what it uses is not counted before the next dump.
     */
    boolean assign(ProcThread thread) {
        if (thread.pool() == null && isAsked() && names.mayBeCollector(thread)) return false;
        names.assign(thread, false);
        return true;
    }

    /** Takes the ids of carriers, as the JVM sees them, from its agent. */
    void learnCarriers(Set<Long> tids) {
        names.learnCarriers(tids);
    }

    /** Assigns each thread to its pool, and requests a dump if necessary. */
    void update(long now) {
        threadCount = sampler.threads().size();
        ThreadDump dump = dumped;
        dumped = null;
        if (dump != null) {
            names.learn(dump);
            hasAnswered = true;
        }
        boolean isMissing = false;
        boolean isGuessed = false;
        for (ProcThread thread : sampler.threads()) {
            if (!assign(thread) || names.isUnknown(thread)) isMissing = true;
            else if (!thread.isNamed() && names.isUncertain(thread)) isGuessed = true;
        }
        if (worker == null || isPending || (failures > 0 && now - retryAt < 0)) return;
        long minimum = dumpSize * PAUSE_NANOS_PER_THREAD;
        boolean isDue = !hasAsked
                || (isMissing && now - dumpedAt >= Math.max(minimum, PAUSE_NANOS))
                || (isGuessed && now - dumpedAt >= Math.max(minimum, LONG_PAUSE_NANOS));
        if (isDue) requestDump();
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
        AtomicInteger entries = new AtomicInteger();
        int maxEntries = threadCount + MAX_NEW_THREADS;
        try {
            ThreadDump dump = jvm.threadDump(TIMEOUT_MILLIS, tid -> entries.incrementAndGet() <= maxEntries, false);
            dumpSize = dump.all().size();
            dumped = dump;
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
