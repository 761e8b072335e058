// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Arrays;

/**
 * Reads the CPU time of all threads of this process: Java threads, garbage collector threads, compiler threads, and
 * others. A reading needs no safepoint. After the first one, each reading takes one system call per thread, and with
 * user and system time two more for each thread that has run since the previous such reading. The threads are listed
 * only if they may have changed.
 *
 * <p>The CPU time is each thread's {@code CLOCK_THREAD_CPUTIME_ID}. User and system time follow the proportion of the
 * kernel's tick counts (cputime_adjust in kernel/sched/cputime.c). They add up to the CPU time and never go backwards
 * from one reading of a {@code ThreadSnapshot} to the next. {@link ThreadClock#tid()} is a Java thread's kernel id.
 *
 * <p>Not thread-safe. Allocates only in the first readings and when the number of threads grows. Virtual threads are
 * not listed; their time is part of their carriers' time. The caller may be a virtual thread.
 */
public final class ThreadSnapshot {
    /** One reading, with a row per thread. */
    private static final class Rows {
        int count;
        final int[] tids;
        final long[] cpus;
        final long[] users;
        final long[] virts;
        final long[] profs;

        /** The CPU time when the user time was determined. */
        final long[] splitCpus;

        Rows(int capacity) {
            tids = new int[capacity];
            cpus = new long[capacity];
            users = new long[capacity];
            splitCpus = new long[capacity];
            virts = new long[capacity];
            profs = new long[capacity];
        }
    }

    private static final int NEW = -1;

    /** How often threads are listed while the kernel skips some. */
    private static final int MAX_TRIES = 4;

    private Rows last = new Rows(0);
    private Rows next = new Rows(0);
    private final TidIndex lastIndex = new TidIndex();
    /** For each row of {@code last}, whether /proc still lists the thread. */
    private boolean[] isListed = new boolean[0];

    private long tickStamp = -1;

    /** For each row of {@code next}, its row in {@code last}, or NEW. */
    private int[] previousRow = new int[0];
    /**
     * The clock ids to read in one call. {@code values} receives their values, and {@code tickRows} has the row of
     * {@code next} for each pair of tick counts.
     */
    private int[] ids = new int[0];

    private long[] values = new long[0];
    private int[] tickRows = new int[0];

    /** Creates a snapshot without a reading. */
    public ThreadSnapshot() {}

    /**
     * Reads all threads of this process. An array shorter than the number of threads receives only the first ones. The
     * reading may miss threads that start or end during the call.
     *
     * @param tids receives the kernel's thread ids
     * @param cpuNanos receives CPU time in nanoseconds since the thread started
     * @param userNanos receives the part spent in user mode
     * @param systemNanos receives the part spent in the kernel
     * @return the number of threads, which may exceed the length of an array; -1 on the {@code mxbean} backend, and if
     *     {@code /proc} is not mounted
     */
    public int read(int[] tids, long[] cpuNanos, long[] userNanos, long[] systemNanos) {
        if (!TaskClock.isNative()) return -1;
        long stamp = Native.tickStamp();
        if (!readCpus()) return -1;
        readTicks(stamp != tickStamp || Library.isPrecise());
        splitUser();
        tickStamp = stamp;
        swap();

        copyCpus(tids, cpuNanos);
        System.arraycopy(last.users, 0, userNanos, 0, Math.min(last.count, userNanos.length));
        int stored = Math.min(last.count, systemNanos.length);
        for (int i = 0; i < stored; i++) systemNanos[i] = last.cpus[i] - last.users[i];
        return last.count;
    }

    /**
     * Reads all threads of this process, without the split of their CPU time. An array shorter than the number of
     * threads receives only the first ones. The reading may miss threads that start or end during the call.
     *
     * @param tids receives the kernel's thread ids
     * @param cpuNanos receives CPU time in nanoseconds since the thread started
     * @return the number of threads, which may exceed the length of an array; -1 on the {@code mxbean} backend, and if
     *     {@code /proc} is not mounted
     */
    public int read(int[] tids, long[] cpuNanos) {
        if (!TaskClock.isNative() || !readCpus()) return -1;
        for (int i = 0; i < next.count; i++) {
            int row = previousRow[i];
            next.users[i] = row == NEW ? 0 : last.users[row];
            next.virts[i] = row == NEW ? 0 : last.virts[row];
            next.profs[i] = row == NEW ? 0 : last.profs[row];
            next.splitCpus[i] = row == NEW ? 0 : last.splitCpus[row];
        }
        swap();
        copyCpus(tids, cpuNanos);
        return last.count;
    }

    private void copyCpus(int[] tids, long[] cpuNanos) {
        System.arraycopy(last.tids, 0, tids, 0, Math.min(last.count, tids.length));
        System.arraycopy(last.cpus, 0, cpuNanos, 0, Math.min(last.count, cpuNanos.length));
    }

    /** Reads the threads into {@code next}. Returns whether they can be listed. */
    private boolean readCpus() {
        // As many threads as before, all of which are alive, are the same threads.
        if (last.count > 0 && Library.threadCount() == last.count) {
            System.arraycopy(last.tids, 0, next.tids, 0, last.count);
            readCpus(last.count);
            if (next.count == last.count) {
                matchRows();
                return true;
            }
        }
        // If threads end while the kernel lists them, it may skip some that are alive.
        for (int tries = 0; tries < MAX_TRIES; tries++) {
            int listed = list();
            if (listed < 0) return false;
            readCpus(listed);
            if (next.count >= Library.threadCount()) break;
        }
        matchRows();
        return true;
    }

    private int list() {
        int listed;
        while ((listed = Library.tids(next.tids)) + last.count > next.tids.length) {
            int capacity = listed + listed / 4 + last.count;
            next = new Rows(capacity);
            previousRow = new int[capacity];
            ids = new int[2 * capacity];
            values = new long[2 * capacity];
            tickRows = new int[capacity];
        }
        return listed < 0 ? listed : listed + addUnlisted(listed);
    }

    /** Adds the threads of the last reading that are not listed now. Most have ended, which their clocks will show. */
    private int addUnlisted(int listed) {
        if (isListed.length < last.count) isListed = new boolean[last.tids.length];
        Arrays.fill(isListed, false);
        for (int i = 0; i < listed; i++) {
            int row = lastIndex.find(next.tids[i]);
            if (row >= 0) isListed[row] = true;
        }
        int added = 0;
        for (int row = 0; row < last.count; row++) {
            if (!isListed[row]) next.tids[listed + added++] = last.tids[row];
        }
        return added;
    }

    /** Reads the precise total of each thread and drops those that have ended. */
    private void readCpus(int listed) {
        for (int i = 0; i < listed; i++) ids[i] = ClockId.encode(next.tids[i], true, ClockId.Kind.SCHED);
        Library.clocks(ids, values, listed);
        int count = 0;
        for (int i = 0; i < listed; i++) {
            if (values[i] < 0) continue;
            next.tids[count] = next.tids[i];
            next.cpus[count++] = values[i];
        }
        next.count = count;
    }

    private void matchRows() {
        for (int i = 0; i < next.count; i++) {
            int row = lastIndex.find(next.tids[i]);
            // If the CPU time is smaller than before, this is a new thread that reuses the id of an ended one.
            previousRow[i] = row >= 0 && last.cpus[row] <= next.cpus[i] ? row : NEW;
        }
    }

    /** Reads the tick counts that can have changed and carries over the others. */
    private void readTicks(boolean ticked) {
        int requested = 0;
        for (int i = 0; i < next.count; i++) {
            int row = previousRow[i];
            if (row == NEW || (ticked && last.splitCpus[row] != next.cpus[i])) {
                ids[2 * requested] = ClockId.encode(next.tids[i], true, ClockId.Kind.VIRT);
                ids[2 * requested + 1] = ClockId.encode(next.tids[i], true, ClockId.Kind.PROF);
                tickRows[requested++] = i;
            } else {
                next.virts[i] = last.virts[row];
                next.profs[i] = last.profs[row];
            }
        }
        Library.clocks(ids, values, 2 * requested);
        for (int i = 0; i < requested; i++) {
            next.virts[tickRows[i]] = values[2 * i];
            next.profs[tickRows[i]] = values[2 * i + 1];
        }
    }

    private void splitUser() {
        for (int i = 0; i < next.count; i++) {
            int row = previousRow[i];
            long lastCpu = row == NEW ? 0 : last.splitCpus[row];
            long lastUser = row == NEW ? 0 : last.users[row];
            long target = UserTime.scaled(next.cpus[i], next.virts[i], next.profs[i]);
            next.users[i] = UserTime.monotonic(lastCpu, lastUser, next.cpus[i], target);
            next.splitCpus[i] = next.cpus[i];
        }
    }

    private void swap() {
        Rows read = next;
        next = last.tids.length < read.tids.length ? new Rows(read.tids.length) : last;
        last = read;
        lastIndex.fill(last.tids, last.count);
    }
}
