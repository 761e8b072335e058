// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An account of one task. Each thread has a section object for it, which only that thread writes to. Reading takes a
 * lock that only readers share.
 */
final class TaskAccount extends CpuAccount {
    /** The number of accounts that a thread can alternate between without a lookup in their maps. */
    private static final int CACHE_SLOTS = 16;

    private static final int MIN_SWEEP_THRESHOLD = 64;

    /**
     * The sections that this thread used last, by cache slot. Refers strongly only to JDK classes, because a class of
     * ours would keep our class loader alive.
     */
    private static final ThreadLocal<WeakReference<?>[]> CACHE =
            ThreadLocal.withInitial(() -> new WeakReference<?>[CACHE_SLOTS]);

    private static final AtomicInteger ACCOUNTS = new AtomicInteger();

    private final int cacheSlot = ACCOUNTS.getAndIncrement() & (CACHE_SLOTS - 1);
    private final boolean countsBytes;
    private final ConcurrentHashMap<Thread, OuterSection> sections = new ConcurrentHashMap<>();
    private final LongAdder uncounted = new LongAdder();
    private final LongAdder closedElsewhere = new LongAdder();
    private final LongAdder closedTwice = new LongAdder();
    private volatile CpuLimit limit;
    private volatile boolean isDone;
    private volatile boolean bytesUnknown;
    private volatile int sweepThreshold = MIN_SWEEP_THRESHOLD;

    /** Taken by readers; guards the fields below. */
    private final ReentrantLock lock = new ReentrantLock();

    private long foldedNanos;
    private long foldedBytes;
    private long unclosed;
    private CpuUsage finalUsage;

    TaskAccount(boolean countsBytes) {
        this.countsBytes = countsBytes;
    }

    @Override
    public CpuSection enter() {
        Thread thread = Thread.currentThread();
        boolean isVirtual = ThreadType.isVirtual(thread);
        if (!isVirtual && !isDone) {
            WeakReference<?> recent = CACHE.get()[cacheSlot];
            if (recent != null && recent.get() instanceof OuterSection section && section.account == this) {
                return section.enter();
            }
        }
        return enter(thread, isVirtual);
    }

    private CpuSection enter(Thread thread, boolean isVirtual) {
        if (isDone || TaskClock.pointNanos() < 0) return recordUncounted();
        OuterSection section = sections.get(thread);
        if (section == null) {
            sweep();
            section = new OuterSection(this, thread, countsBytes);
            sections.put(thread, section);
            if (isDone) {
                sections.remove(thread);
                return recordUncounted();
            }
        }
        // There may be many virtual threads, and each enters too few times to benefit from the cache.
        if (!isVirtual) CACHE.get()[cacheSlot] = section.weakReference;
        return section.enter();
    }

    @Override
    public long cpuNanos() {
        lock.lock();
        try {
            return isDone ? finalUsage.cpuNanos() : sumNanos();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CpuUsage now() {
        lock.lock();
        try {
            return isDone ? usage(finalUsage.cpuNanos(), finalUsage.allocatedBytes()) : usage();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public CpuUsage done() {
        lock.lock();
        try {
            if (isDone) return now();
            CpuUsage usage = usage();
            for (OuterSection section : sections.values()) {
                if (section.isOpen()) unclosed++;
            }
            finalUsage = usage;
            isDone = true;
            sections.clear();
            return now();
        } finally {
            lock.unlock();
        }
    }

    @Override
    void setLimit(CpuLimit newLimit) {
        limit = newLimit;
    }

    @Override
    void check(CpuLimit current) {
        boolean isNewlyReached;
        lock.lock();
        try {
            long reported = current.reported();
            long total = isDone ? finalUsage.cpuNanos() : sumNanos();
            isNewlyReached = current.update(reported, total, sections.size());
        } finally {
            lock.unlock();
        }
        if (isNewlyReached) current.runCallback();
    }

    @Override
    CpuLimit limit() {
        return limit;
    }

    CpuSection recordUncounted() {
        uncounted.increment();
        return UncountedSection.INSTANCE;
    }

    void recordClosedTwice() {
        closedTwice.increment();
    }

    void recordClosedElsewhere() {
        closedElsewhere.increment();
    }

    void recordBytesUnknown() {
        bytesUnknown = true;
    }

    private CpuUsage usage() {
        long bytes = countsBytes ? sumBytes() : -1;
        return usage(sumNanos(), bytes);
    }

    private CpuUsage usage(long nanos, long bytes) {
        return new CpuUsage(
                nanos, bytesUnknown ? -1 : bytes, uncounted.sum(), unclosed, closedElsewhere.sum(), closedTwice.sum());
    }

    private long sumNanos() {
        fold();
        long sum = foldedNanos;
        for (OuterSection section : sections.values()) sum += section.cpuNanos();
        return sum;
    }

    private long sumBytes() {
        fold();
        long sum = foldedBytes;
        for (OuterSection section : sections.values()) {
            long bytes = section.allocatedBytes();
            if (bytes < 0) return -1;
            sum += bytes;
        }
        return sum;
    }

    /** Adds the usage of ended threads to the folded totals and drops their sections. */
    private void fold() {
        Iterator<OuterSection> all = sections.values().iterator();
        while (all.hasNext()) {
            OuterSection section = all.next();
            if (section.thread.isAlive()) continue;
            foldedNanos += section.cpuNanos();
            if (countsBytes) foldedBytes += section.allocatedBytes();
            if (section.isOpen()) unclosed++;
            all.remove();
        }
    }

    /** Folds the usage of ended threads once there are twice as many sections as after the last sweep. */
    private void sweep() {
        if (sections.size() < sweepThreshold || !lock.tryLock()) return;
        try {
            fold();
            sweepThreshold = Math.max(MIN_SWEEP_THRESHOLD, 2 * sections.size());
        } finally {
            lock.unlock();
        }
    }
}
