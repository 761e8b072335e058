// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/**
 * The CPU time of one thread of this JVM, in nanoseconds since it started. Any thread can read it, with one system call
 * and no safepoint.
 *
 * <p>The CPU time is the thread's {@code CLOCK_THREAD_CPUTIME_ID}, or what the thread last read of itself if that is
 * more. User and system time follow the proportion of the kernel's tick counts, as in getrusage (cputime_adjust in
 * kernel/sched/cputime.c). They add up to the CPU time and never go backwards in the readings of one
 * {@code ThreadClock}.
 *
 * <p>{@link #cpuNanos()} is thread-safe. The other reads depend on the previous reading, so only one thread at a time
 * may call them. Alternatively, give each reader its own {@code ThreadClock}; they are small.
 *
 * <p>The clock of a platform thread reads -1 before the thread starts and after it ends. The clock of a virtual thread
 * reads the thread's CPU time on all its carriers, whether it is mounted, unmounted, or ended, if TaskClock's agent has
 * tracked the thread since it started, and -1 otherwise. While the thread is mounted, its user and system time follow
 * the proportion of the carrier's tick counts.
 */
public final class ThreadClock {
    /** Null if the clock was created for a kernel id. */
    private final Thread thread;

    private volatile KernelCpuClock clock;
    private volatile int tid = -1;
    /** The CPU and user time of the last reading through ThreadMXBean. */
    private final long[] last = new long[2];

    private boolean ended;

    /** Null unless the thread is virtual. */
    private final VirtualThreadClock virtual;

    private ThreadClock(Thread thread) {
        this.thread = thread;
        this.virtual = thread != null && ThreadType.isVirtual(thread) ? new VirtualThreadClock(thread) : null;
    }

    /**
     * Returns the clock of a thread, which need not have started yet.
     *
     * @param thread any thread
     * @return the clock; for a virtual thread it reads -1 while the agent does not track the thread
     */
    public static ThreadClock of(Thread thread) {
        if (thread == null) throw new NullPointerException("thread");
        return new ThreadClock(thread);
    }

    /**
     * Returns the clock of any thread of this process by its kernel id, such as a garbage collector thread. After a
     * thread ends, the kernel may reuse its id. The clock detects a new thread by its smaller CPU time and then reads
     * -1; it cannot detect one that has already used more.
     *
     * @param tid the kernel's thread id, as listed in {@code /proc/self/task}
     * @return the clock; it reads -1 if this process has no such thread, and on the {@code mxbean} backend
     * @throws IllegalArgumentException if {@code tid} is not positive or too large
     */
    public static ThreadClock ofTid(int tid) {
        if (tid <= 0) throw new IllegalArgumentException("thread id " + tid + " is not positive");
        ThreadClock clock = new ThreadClock(null);
        clock.bind(tid);
        return clock;
    }

    /**
     * Returns the kernel's id of the thread.
     *
     * @return the id; -1 if the thread is not alive, if it is virtual, or if this JVM does not expose the id
     */
    public int tid() {
        resolve();
        return isGone() ? -1 : tid;
    }

    /**
     * Returns the thread's CPU time, user and system together.
     *
     * @return nanoseconds since the thread started; -1 if a platform thread is not alive, or if the agent has not
     *     tracked a virtual thread since it started
     */
    public long cpuNanos() {
        if (virtual != null) return virtual.cpuNanos();
        KernelCpuClock found = resolve();
        long cpu;
        if (found != null) cpu = found.cpuNanos();
        else cpu = canUseBean() ? MxbeanClock.cpuNanos(thread) : -1;
        return isGone() ? -1 : cpu;
    }

    /** Like {@link #cpuNanos()}, but for differences: a virtual thread whose total is unknown has a time, too. */
    long pointNanos() {
        return virtual == null ? cpuNanos() : virtual.pointNanos();
    }

    /**
     * Returns the CPU time that the thread spent in user mode.
     *
     * @return nanoseconds since the thread started; -1 in the same cases as {@link #cpuNanos()}
     */
    public long userNanos() {
        return now().userNanos();
    }

    /**
     * Returns the CPU time that the thread spent in the kernel.
     *
     * @return nanoseconds since the thread started; -1 in the same cases as {@link #cpuNanos()}
     */
    public long systemNanos() {
        return now().systemNanos();
    }

    /**
     * Returns the total, user, and system time in one consistent reading.
     *
     * @return the reading; {@link CpuTime#UNKNOWN} if {@link #cpuNanos()} returns -1
     */
    public CpuTime now() {
        if (virtual != null) return virtual.now();
        KernelCpuClock found = resolve();
        if (found == null) {
            boolean known = canUseBean() && MxbeanClock.read(thread, last) && !isGone();
            return known ? new CpuTime(last[0], last[1], last[0] - last[1]) : CpuTime.UNKNOWN;
        }
        if (ended || !TaskClock.isNative()) return CpuTime.UNKNOWN;
        ended = !found.read() || isGone();
        return ended ? CpuTime.UNKNOWN : found.lastReading();
    }

    /** Returns the clock by kernel id; null while the id is unknown. */
    private KernelCpuClock resolve() {
        KernelCpuClock found = clock;
        if (found != null || thread == null || !TaskClock.isNative()) return found;
        if (virtual != null || !thread.isAlive()) return null;
        int id = thread == Thread.currentThread() ? Library.ownTid() : Library.tid(thread);
        return id > 0 ? bind(id) : null;
    }

    private KernelCpuClock bind(int id) {
        KernelCpuClock found = new KernelCpuClock(ClockId.thread(id, ClockId.Kind.SCHED));
        tid = id;
        clock = found;
        return found;
    }

    private boolean canUseBean() {
        return thread != null && virtual == null && thread.isAlive() && Preparation.isBeanUsable();
    }

    /**
     * Returns whether an earlier read may belong to a later thread with the same kernel id. A thread is marked as
     * terminated before the kernel can reuse its id, so if the result is false, earlier reads belong to this thread.
     */
    private boolean isGone() {
        if (thread == null) return !TaskClock.isNative();
        return thread.getState() == Thread.State.TERMINATED;
    }
}
