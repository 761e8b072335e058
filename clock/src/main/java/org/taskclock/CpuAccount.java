// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadFactory;

/**
 * The CPU time of one query, task, request, or tenant across all threads that work on it.
 *
 * <pre>{@code
 * CpuAccount account = CpuAccount.create();
 * try (var section = account.enter()) {   // on each thread that works on it
 *     work();
 * }
 * account.cpuNanos();                     // on any thread, at any time; includes open sections
 * }</pre>
 *
 * <p>There are two kinds. {@link #create()} makes an account for one task, which only the program knows.
 * {@link AccountType#of} returns a named account, which tools, metrics, and the agent's bean show.
 *
 * <p><b>Threads.</b> All methods are thread-safe. A section must be closed on the thread that entered it. Entering and
 * closing each cost little more than one reading of {@link TaskClock#cpuNanos()}: they wait for no lock, rarely write
 * what threads share, and allocate at most the section. Reading an account takes a lock that only readers share, and
 * reads the clock of each thread that has an open section.
 *
 * <p><b>What is counted.</b> The CPU time of a thread, user and system together, while the thread has a section of the
 * account open. Nested sections of the same account count once. Sections of other accounts may be open on the same
 * thread, nested or overlapping; the time counts for each of them, except that it counts only for the innermost of
 * several named accounts of one type. User and system time are not separated: the kernel samples them at ticks of 1 to
 * 10 ms, which is too coarse for shorter sections.
 *
 * <p><b>What cannot be counted</b> is never treated as 0; {@link #now()} reports it. This includes sections on a thread
 * whose clock reads -1, such as a virtual thread without the agent, and sections that are not closed or are closed on
 * another thread.
 *
 * <p><b>Memory.</b> There is no need to end an account: threads refer to it weakly, and the usage of ended threads is
 * folded into one number. {@link #done()} ends an account explicitly, including the sections that are still open.
 */
public abstract sealed class CpuAccount permits TaskAccount, NamedAccount {
    CpuAccount() {}

    /**
     * Creates an account that counts CPU time.
     *
     * @return the account
     */
    public static CpuAccount create() {
        return new TaskAccount(false);
    }

    /**
     * Creates an account that also counts allocated bytes, as com.sun.management.ThreadMXBean reports them. Entering
     * and closing a section then cost one more reading each. Virtual threads have no allocation count; see
     * {@link CpuUsage}.
     *
     * @return the account
     */
    public static CpuAccount withAllocatedBytes() {
        return new TaskAccount(true);
    }

    /**
     * Starts to count the calling thread's CPU time for this account. On a virtual thread this works only if the agent
     * tracks the thread; otherwise the section is reported as not counted.
     *
     * @return the section to close, on this thread, when the work is done; never null
     */
    public abstract CpuSection enter();

    /**
     * Returns the CPU time of all sections so far, user and system together, including open sections.
     *
     * @return nanoseconds; never less than before; excludes what {@link #now()} reports as not counted
     */
    public abstract long cpuNanos();

    /**
     * Returns the usage so far, and what could not be counted.
     *
     * @return the reading
     */
    public abstract CpuUsage now();

    /**
     * Ends the account. Sections that are still open are reported as not closed, and their further CPU time is not
     * counted. Sections entered later are reported as not counted. Therefore, call this after the tasks have returned.
     * It is not enough to wait for a latch that a task counts down or for a stage that depends on its
     * {@code CompletableFuture}: both happen before the task's section is closed. A named account does not end.
     *
     * @return the final reading; the same figures as before if the account has already been ended
     */
    public abstract CpuUsage done();

    /**
     * Sets a limit and replaces any earlier one. The callback runs once, on the thread that detects that the limit is
     * reached by closing a section or calling {@link #check()}. No other thread checks the limit. Call {@link #check()}
     * from time to time while all sections stay open.
     *
     * @param cpuNanos the limit, in nanoseconds
     * @param callback the action to run; {@link #isOverLimit()} already returns true when it runs
     * @throws IllegalArgumentException if the limit is negative
     */
    public final void limit(long cpuNanos, Runnable callback) {
        if (cpuNanos < 0) throw new IllegalArgumentException("negative limit: " + cpuNanos + " ns");
        if (callback == null) throw new NullPointerException("callback");
        setLimit(new CpuLimit(cpuNanos, callback));
    }

    abstract void setLimit(CpuLimit limit);

    /** Returns the limit; null if there is none. */
    abstract CpuLimit limit();

    /**
     * Returns whether the limit is known to be reached. This only reads a variable, so it is cheap enough for inner
     * loops.
     *
     * @return false if the limit is not known to be reached, or if there is none
     */
    public final boolean isOverLimit() {
        CpuLimit current = limit();
        return current != null && current.isReached();
    }

    /**
     * Checks whether the CPU time, including that of open sections, has reached the limit. Runs the callback if this
     * call is the first to detect that.
     *
     * @return true if the limit is or was reached
     */
    public final boolean check() {
        CpuLimit current = limit();
        if (current == null) return false;
        if (!current.isReached()) check(current);
        return current.isReached();
    }

    /** Checks a limit and runs its callback if it has just been reached. */
    abstract void check(CpuLimit current);

    /**
     * Wraps a task so that it runs in a section of this account.
     *
     * @param task the task
     * @return the wrapped task
     */
    @SuppressWarnings("try") // the section only needs to be open
    public final Runnable wrap(Runnable task) {
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
    public final <T> Callable<T> wrap(Callable<T> task) {
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
    public final ExecutorService wrap(ExecutorService executor) {
        return new AccountExecutor(this, executor);
    }

    /**
     * Wraps a thread factory so that each thread runs in a section of this account until it ends. Use it with executors
     * and scopes that start a thread for each task.
     *
     * @param factory the factory that creates the threads
     * @return a factory for threads of this account
     */
    public final ThreadFactory wrap(ThreadFactory factory) {
        if (factory == null) throw new NullPointerException("factory");
        return task -> factory.newThread(wrap(task));
    }
}
