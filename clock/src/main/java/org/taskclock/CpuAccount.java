// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The CPU time of one query, task or request over all threads that work for it.
 *
 * <pre>{@code
 * CpuAccount account = new CpuAccount();
 * try (var section = account.enter()) {   // on each thread that works for it
 *     work();
 * }
 * account.cpuNanos();                     // from any thread, at any time: sections still running included
 * }</pre>
 *
 * <p><b>Threads.</b> Every method may be called by any number of threads at once; a section is closed by the thread that
 * entered it. Entering and closing are two readings of {@link TaskClock#cpuNanos()} and little else: no lock, nothing
 * shared between threads, and nothing allocated but when a thread enters an account for the first time. Reading an account
 * takes a lock among its readers, and asks for the clock of each thread that has a section open.
 *
 * <p><b>What is counted.</b> The CPU time of a thread, user and system together, while it has a section of the account open.
 * Sections of other accounts may be open on the same thread, inside or overlapping: the time counts for each of
 * them. Sections of the same account inside each other count once. User and system are not told apart: the kernel
 * samples them by ticks of 1 to 10 ms, which says little about shorter sections, and would cost twice as much.
 *
 * <p><b>What cannot be counted</b> is never taken for 0, but reported by {@link #now()}: sections on a thread whose clock reads -1,
 * such as a virtual thread that nobody accounts for, and sections that are not closed, or not where they were entered.
 *
 * <p><b>Memory.</b> An account needs no end: threads refer to it weakly, and what threads that have ended used is folded into
 * one number. {@link #done()} ends it all the same, for what was left open.
 */
public final class CpuAccount {
    /** How many accounts a thread can take turns in without asking the accounts' maps. */
    private static final int RECENT = 16;

    private static final int FIRST_SWEEP = 64;

    /** By account, the sections that this thread was in last. No class of ours, as that would hold our class loader. */
    private static final ThreadLocal<WeakReference<?>[]> SECTIONS =
            ThreadLocal.withInitial(() -> new WeakReference<?>[RECENT]);

    private static final AtomicInteger ACCOUNTS = new AtomicInteger();

    private final int slot = ACCOUNTS.getAndIncrement() & (RECENT - 1);
    private final boolean countsBytes;
    private final ConcurrentHashMap<Thread, OuterSection> sections = new ConcurrentHashMap<>();
    private final LongAdder uncounted = new LongAdder();
    private final LongAdder closedElsewhere = new LongAdder();
    private final LongAdder closedTwice = new LongAdder();
    private volatile CpuLimit limit;
    private volatile boolean isDone;
    private volatile boolean bytesUnknown;
    private volatile int sweepAt = FIRST_SWEEP;

    /** Among readers; guards what follows. */
    private final ReentrantLock lock = new ReentrantLock();

    private long foldedNanos;
    private long foldedBytes;
    private long unclosed;
    private CpuUsage last;

    /** Makes an account of CPU time. */
    public CpuAccount() {
        this(false);
    }

    private CpuAccount(boolean countsBytes) {
        this.countsBytes = countsBytes;
    }

    /**
     * Makes an account that counts allocated bytes, too, as com.sun.management.ThreadMXBean tells them: two more readings, to
     * enter and to close.
     *
     * @return the account
     */
    public static CpuAccount withAllocatedBytes() {
        return new CpuAccount(true);
    }

    /**
     * From now on the calling thread works for this account.
     *
     * @return what to close when it no longer does, on this thread; never null
     */
    public CpuSection enter() {
        Thread thread = Thread.currentThread();
        boolean isVirtual = ThreadType.isVirtual(thread);
        if (!isVirtual && !isDone) {
            WeakReference<?> recent = SECTIONS.get()[slot];
            if (recent != null && recent.get() instanceof OuterSection section && section.account == this) {
                return section.enter();
            }
        }
        return enter(thread, isVirtual);
    }

    private CpuSection enter(Thread thread, boolean isVirtual) {
        if (isDone || TaskClock.cpuNanos() < 0) return uncounted();
        OuterSection section = sections.get(thread);
        if (section == null) {
            sweep();
            section = new OuterSection(this, thread, countsBytes);
            sections.put(thread, section);
            if (isDone) {
                sections.remove(thread);
                return uncounted();
            }
        }
        // There may be many virtual threads, each of which enters few times.
        if (!isVirtual) SECTIONS.get()[slot] = section.weakly;
        return section.enter();
    }

    /**
     * The CPU time that all sections have used, user and system together, by now.
     *
     * @return nanoseconds; never less than before; without what {@link #now()} reports as not counted
     */
    public long cpuNanos() {
        lock.lock();
        try {
            return isDone ? last.cpuNanos() : sumNanos();
        } finally {
            lock.unlock();
        }
    }

    /**
     * All that is known by now.
     *
     * @return a reading
     */
    public CpuUsage now() {
        lock.lock();
        try {
            return isDone ? usage(last.cpuNanos(), last.allocatedBytes()) : usage();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the account, also for threads that still are in a section of it: those are reported as not closed, and what they
     * use from now on is not counted. Sections entered later are reported as not counted. So call it when the tasks have
     * returned: a latch that a task counts down, or a stage that follows a {@code CompletableFuture}, comes before the end of the
     * section that it is in.
     *
     * @return the last reading; the same numbers if it was done before
     */
    public CpuUsage done() {
        lock.lock();
        try {
            if (isDone) return now();
            CpuUsage usage = usage();
            for (OuterSection section : sections.values()) {
                if (section.isOpen()) unclosed++;
            }
            last = usage;
            isDone = true;
            sections.clear();
            return now();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets a limit, in place of an earlier one. When it is found to be reached, the callback is called, once, on the thread
     * that found it: one that closes a section, or calls {@link #check()}. Nobody else looks: while all sections are open,
     * it takes somebody who calls {@link #check()} now and then.
     *
     * @param cpuNanos the limit, in nanoseconds
     * @param callback what to do; {@link #isOverLimit()} is true by then
     * @throws IllegalArgumentException if the limit is negative
     */
    public void limit(long cpuNanos, Runnable callback) {
        if (cpuNanos < 0) throw new IllegalArgumentException("limit of " + cpuNanos + " ns");
        if (callback == null) throw new NullPointerException("callback");
        limit = new CpuLimit(cpuNanos, callback);
    }

    /**
     * Tells whether the limit was found to be reached: no more than a look at a variable, for the loops of those who work.
     *
     * @return false if it was not, or there is none
     */
    public boolean isOverLimit() {
        CpuLimit now = limit;
        return now != null && now.isReached();
    }

    /**
     * Looks whether the limit is reached, sections still running included. If so for the first time, calls the callback.
     *
     * @return true if it is reached, now or before
     */
    public boolean check() {
        CpuLimit now = limit;
        if (now == null) return false;
        if (!now.isReached()) look(now);
        return now.isReached();
    }

    /** Looks whether a limit is reached. */
    void look(CpuLimit now) {
        boolean isReached;
        lock.lock();
        try {
            long before = now.reported();
            long total = isDone ? last.cpuNanos() : sumNanos();
            isReached = now.isReachedNow(before, total, sections.size());
        } finally {
            lock.unlock();
        }
        if (isReached) now.call();
    }

    /**
     * A task that is counted when it runs.
     *
     * @param task the task
     * @return one that does the same inside a section of this account
     */
    @SuppressWarnings("try") // to be open is all that the section is for
    public Runnable wrap(Runnable task) {
        if (task == null) throw new NullPointerException("task");
        return () -> {
            try (CpuSection section = enter()) {
                task.run();
            }
        };
    }

    /**
     * A task that is counted when it runs.
     *
     * @param <T> its result
     * @param task the task
     * @return one that does the same inside a section of this account
     */
    @SuppressWarnings("try")
    public <T> Callable<T> wrap(Callable<T> task) {
        if (task == null) throw new NullPointerException("task");
        return () -> {
            try (CpuSection section = enter()) {
                return task.call();
            }
        };
    }

    /**
     * An executor whose tasks are counted; {@code CompletableFuture} takes it, too. Many accounts can each wrap the same pool; to shut down one is to shut down the
     * pool.
     *
     * @param executor the executor that runs them
     * @return one for the tasks of this account
     */
    public ExecutorService wrap(ExecutorService executor) {
        return new AccountExecutor(this, executor);
    }

    /**
     * Makes threads that work for this account all their lives: for executors and scopes that start a thread for each task.
     *
     * @param factory makes the threads
     * @return one for the threads of this account
     */
    public ThreadFactory wrap(ThreadFactory factory) {
        if (factory == null) throw new NullPointerException("factory");
        return task -> factory.newThread(wrap(task));
    }

    CpuLimit limit() {
        return limit;
    }

    CpuSection uncounted() {
        uncounted.increment();
        return UncountedSection.INSTANCE;
    }

    void closedTwice() {
        closedTwice.increment();
    }

    void closedElsewhere() {
        closedElsewhere.increment();
    }

    void bytesUnknown() {
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

    /** Keeps of threads that have ended what they used. */
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

    /** Folds when there are twice as many threads as the last time. */
    private void sweep() {
        if (sections.size() < sweepAt || !lock.tryLock()) return;
        try {
            fold();
            sweepAt = Math.max(FIRST_SWEEP, 2 * sections.size());
        } finally {
            lock.unlock();
        }
    }
}
