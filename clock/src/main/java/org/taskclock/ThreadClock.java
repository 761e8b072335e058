// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The CPU time of one thread of this JVM, read from any thread: one system call, no safepoint.
 *
 * <p>cpu is what the thread's {@code CLOCK_THREAD_CPUTIME_ID} says. User and system are what the kernel's tick counts give
 * of it, as getrusage does it: they add up to cpu, and never go backwards in the readings of one {@code ThreadClock}.
 *
 * <p>{@link #cpuNanos()} may be called by any number of threads at once; the other reads keep what the last one said, so
 * let one thread at a time make them, or give each reader its own {@code ThreadClock}. They are small.
 *
 * <p>A platform thread that has not started, or has ended, reads -1. A virtual thread reads what it used on all its carriers,
 * mounted or not, running or ended, if TaskClock's agent accounts for it; otherwise -1. Where one is mounted at the moment, the
 * split is the carrier's, as the kernel tells it to others.
 */
public final class ThreadClock {
    /** Null where the clock was made for a kernel id. */
    private final Thread thread;

    private volatile TickedClock clock;
    private volatile int tid = -1;
    /** Cpu and user of the last reading by ThreadMXBean. */
    private final long[] last = new long[2];

    private boolean ended;

    /** Null where the thread is no virtual one. */
    private final VirtualTimes virtual;

    private ThreadClock(Thread thread) {
        this.thread = thread;
        this.virtual = thread != null && ThreadType.isVirtual(thread) ? new VirtualTimes(thread) : null;
    }

    /**
     * The clock of a thread. It may be started later.
     *
     * @param thread any thread
     * @return its clock; of a virtual thread one that reads -1 for as long as nobody accounts for it
     */
    public static ThreadClock of(Thread thread) {
        if (thread == null) throw new NullPointerException("thread");
        return new ThreadClock(thread);
    }

    /**
     * The clock of a thread of this process by its kernel id, Java's or not: a garbage collector's, say. When the thread
     * ends, the kernel may give its id to a later one; that is noticed by its smaller CPU time, and reads -1 from then on,
     * but not if it has by then used more.
     *
     * @param tid the kernel's thread id, as {@code /proc/self/task} lists it
     * @return its clock; it reads -1 if this process has no such thread, and on the {@code mxbean} rung
     * @throws IllegalArgumentException if {@code tid} is not positive or too large
     */
    public static ThreadClock ofTid(int tid) {
        if (tid <= 0) throw new IllegalArgumentException("thread id " + tid + " is not positive");
        ThreadClock clock = new ThreadClock(null);
        clock.found(tid);
        return clock;
    }

    /**
     * The kernel's id of the thread.
     *
     * @return the id; -1 if the thread is not running or is virtual, or this JVM does not tell
     */
    public int tid() {
        find();
        return isGone() ? -1 : tid;
    }

    /**
     * The thread's CPU time, user and system together.
     *
     * @return nanoseconds; -1 if the thread is not running, or is virtual and nobody accounts for it
     */
    public long cpuNanos() {
        if (virtual != null) return virtual.cpuNanos();
        TickedClock found = find();
        long cpu;
        if (found != null) cpu = found.cpuNanos();
        else cpu = canAskBean() ? MxbeanClock.cpuNanos(thread) : -1;
        return isGone() ? -1 : cpu;
    }

    /**
     * The CPU time that the thread spent in user mode.
     *
     * @return nanoseconds; -1 as {@link #cpuNanos()}
     */
    public long userNanos() {
        return now().userNanos();
    }

    /**
     * The CPU time that the kernel spent for the thread.
     *
     * @return nanoseconds; -1 as {@link #cpuNanos()}
     */
    public long systemNanos() {
        return now().systemNanos();
    }

    /**
     * All three in one consistent reading.
     *
     * @return the reading; {@link CpuTime#UNKNOWN} where {@link #cpuNanos()} is -1
     */
    public CpuTime now() {
        if (virtual != null) return virtual.now();
        TickedClock found = find();
        if (found == null) {
            boolean known = canAskBean() && MxbeanClock.read(thread, last) && !isGone();
            return known ? new CpuTime(last[0], last[1], last[0] - last[1]) : CpuTime.UNKNOWN;
        }
        if (ended || !TaskClock.isNative()) return CpuTime.UNKNOWN;
        ended = !found.read() || isGone();
        return ended ? CpuTime.UNKNOWN : found.lastReading();
    }

    /** The clock by kernel id; null as long as that is not known. */
    private TickedClock find() {
        TickedClock found = clock;
        if (found != null || thread == null || !TaskClock.isNative()) return found;
        if (virtual != null || !thread.isAlive()) return null;
        int id = thread == Thread.currentThread() ? Library.ownTid() : Library.tid(thread);
        return id > 0 ? found(id) : null;
    }

    private TickedClock found(int id) {
        TickedClock found = new TickedClock(ClockId.thread(id, ClockId.Kind.SCHED));
        tid = id;
        clock = found;
        return found;
    }

    private boolean canAskBean() {
        return thread != null && virtual == null && thread.isAlive();
    }

    /**
     * Whether what was read before this call may be of a later thread with the same kernel id. A thread is marked as
     * terminated before the kernel can reuse its id, so a reading that is followed by false here was its own.
     */
    private boolean isGone() {
        if (thread == null) return !TaskClock.isNative();
        return thread.getState() == Thread.State.TERMINATED;
    }
}
