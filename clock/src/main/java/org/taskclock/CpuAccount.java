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
 * The CPU time of one query, task, or request across all threads that work on it.
 *
 * <pre>{@code
 * CpuAccount account = new CpuAccount();
 * try (var section = account.enter()) {   // on each thread that works on it
 *     work();
 * }
 * account.cpuNanos();                     // on any thread, at any time; includes open sections
 * }</pre>
 *
 * <p><b>Threads.</b> All methods are thread-safe. A section must be closed on the thread that entered it. Entering and
 * closing each cost little more than one reading of {@link TaskClock#cpuNanos()}: they take no lock, share nothing
 * between threads, and allocate only when a thread first enters an account. Reading an account takes a lock that only
 * readers share, and reads the clock of each thread that has an open section.
 *
 * <p><b>What is counted.</b> The CPU time of a thread, user and system together, while the thread has a section of the
 * account open. Sections of other accounts may be open on the same thread, nested or overlapping; the time counts for
 * each of them. Nested sections of the same account count once. User and system time are not separated: the kernel
 * samples them at ticks of 1 to 10 ms, which is too coarse for shorter sections, and reading them would cost twice as
 * much.
 *
 * <p><b>What cannot be counted</b> is never treated as 0; {@link #now()} reports it. This includes sections on a thread
 * whose clock reads -1, such as a virtual thread without the agent, and sections that are not closed or are closed on
 * another thread.
 *
 * <p><b>Memory.</b> There is no need to end an account: threads refer to it weakly, and the usage of ended threads is
 * folded into one number. {@link #done()} ends an account explicitly, including the sections that are still open.
 */
public final class CpuAccount {
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

    /** Creates an account that counts CPU time. */
    public CpuAccount() {
        this(false);
    }

    private CpuAccount(boolean countsBytes) {
        this.countsBytes = countsBytes;
    }

    /**
     * Creates an account that also counts allocated bytes, as com.sun.management.ThreadMXBean reports them. Entering
     * and closing a section then cost one more reading each. Virtual threads have no allocation count; see
     * {@link CpuUsage}.
     *
     * @return the account
     */
    public static CpuAccount withAllocatedBytes() {
        return new CpuAccount(true);
    }

    /**
     * Starts to count the calling thread's CPU time for this account. On a virtual thread this works only if the agent
     * tracks the thread; otherwise the section is reported as not counted.
     *
     * @return the section to close, on this thread, when the work is done; never null
     */
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

    /**
     * Returns the CPU time of all sections so far, user and system together, including open sections.
     *
     * @return nanoseconds; never less than before; excludes what {@link #now()} reports as not counted
     */
    public long cpuNanos() {
        lock.lock();
        try {
            return isDone ? finalUsage.cpuNanos() : sumNanos();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns the usage so far, and what could not be counted.
     *
     * @return the reading
     */
    public CpuUsage now() {
        lock.lock();
        try {
            return isDone ? usage(finalUsage.cpuNanos(), finalUsage.allocatedBytes()) : usage();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the account. Sections that are still open are reported as not closed, and their further CPU time is not
     * counted. Sections entered later are reported as not counted. Therefore, call this after the tasks have returned.
     * It is not enough to wait for a latch that a task counts down or for a stage that depends on its
     * {@code CompletableFuture}: both happen before the task's section is closed.
     *
     * @return the final reading; the same figures as before if the account has already been ended
     */
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

    /**
     * Sets a limit and replaces any earlier one. The callback runs once, on the thread that detects that the limit is
     * reached by closing a section or calling {@link #check()}. No other thread checks the limit. Call {@link #check()}
     * from time to time while all sections stay open.
     *
     * @param cpuNanos the limit, in nanoseconds
     * @param callback the action to run; {@link #isOverLimit()} already returns true when it runs
     * @throws IllegalArgumentException if the limit is negative
     */
    public void limit(long cpuNanos, Runnable callback) {
        if (cpuNanos < 0) throw new IllegalArgumentException("negative limit: " + cpuNanos + " ns");
        if (callback == null) throw new NullPointerException("callback");
        limit = new CpuLimit(cpuNanos, callback);
    }

    /**
     * Returns whether the limit is known to be reached. This only reads a variable, so it is cheap enough for inner
     * loops.
     *
     * @return false if the limit is not known to be reached, or if there is none
     */
    public boolean isOverLimit() {
        CpuLimit current = limit;
        return current != null && current.isReached();
    }

    /**
     * Checks whether the CPU time, including that of open sections, has reached the limit. Runs the callback if this
     * call is the first to detect that.
     *
     * @return true if the limit is or was reached
     */
    public boolean check() {
        CpuLimit current = limit;
        if (current == null) return false;
        if (!current.isReached()) check(current);
        return current.isReached();
    }

    /** Checks a limit and runs its callback if it has just been reached. */
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

    /**
     * Wraps a task so that it runs in a section of this account.
     *
     * @param task the task
     * @return the wrapped task
     */
    @SuppressWarnings("try") // the section only needs to be open
    public Runnable wrap(Runnable task) {
        if (task == null) throw new NullPointerException("task");
        return () -> {
            try (CpuSection section = enter()) {
                task.run();
            }
        };
    }

    /**
     * Wraps a task so that it runs in a section of this account.
     *
     * @param <T> the type of its result
     * @param task the task
     * @return the wrapped task
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
     * Wraps an executor so that its tasks run in sections of this account. {@code CompletableFuture} accepts the
     * result, too. Several accounts can wrap the same pool; shutting down a wrapper shuts down the pool.
     *
     * @param executor the executor that runs the tasks
     * @return an executor for tasks of this account
     */
    public ExecutorService wrap(ExecutorService executor) {
        return new AccountExecutor(this, executor);
    }

    /**
     * Wraps a thread factory so that each thread runs in a section of this account until it ends. Use it with executors
     * and scopes that start a thread for each task.
     *
     * @param factory the factory that creates the threads
     * @return a factory for threads of this account
     */
    public ThreadFactory wrap(ThreadFactory factory) {
        if (factory == null) throw new NullPointerException("factory");
        return task -> factory.newThread(wrap(task));
    }

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
