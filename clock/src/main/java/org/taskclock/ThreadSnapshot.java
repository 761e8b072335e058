// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Arrays;

/**
 * Reads the CPU time of all threads of this process at once: Java's, the garbage collector's, the compiler's. No
 * safepoint; after the first time one system call a thread, and two more for those that have run since.
 *
 * <p>cpu is precise; user and system are the tick counts' proportion, add up to cpu, and never go backwards from one
 * reading of a {@code ThreadSnapshot} to the next. Not thread-safe. Allocates only when there are more threads than ever
 * before. Which thread a kernel id is, {@link ThreadClock#tid()} tells. On a virtual thread as on any other.
 */
public final class ThreadSnapshot {
    /** One reading: what was found for each thread. */
    private static final class Rows {
        int count;
        final int[] tids;
        final long[] cpus;
        final long[] users;
        final long[] virts;
        final long[] profs;

        Rows(int capacity) {
            tids = new int[capacity];
            cpus = new long[capacity];
            users = new long[capacity];
            virts = new long[capacity];
            profs = new long[capacity];
        }
    }

    private static final int NEW = -1;

    private Rows last = new Rows(0);
    private Rows next = new Rows(0);
    private final TidIndex lastIndex = new TidIndex();
    /** For each row of last, whether /proc lists the thread still. */
    private boolean[] listedNow = new boolean[0];

    private long tickStamp = -1;

    /** For each row of next, its row in last, or NEW. */
    private int[] before = new int[0];
    /** Ids to ask for in one call, the answers, and for tick counts the row that asks. */
    private int[] ids = new int[0];

    private long[] answers = new long[0];
    private int[] asking = new int[0];

    /** Makes a snapshot that has read nothing yet. */
    public ThreadSnapshot() {}

    /**
     * Reads all threads of this process. An array that is shorter than the number of threads receives the first ones only.
     * Threads that start or end meanwhile may be left out.
     *
     * @param tids receives the kernel's thread ids
     * @param cpuNanos receives CPU time
     * @param userNanos receives the part of it spent in user mode
     * @param systemNanos receives the part of it spent in the kernel
     * @return how many threads there are, which may be more than an array holds; -1 on the {@code mxbean} rung, and where
     *     {@code /proc} is not mounted
     */
    public int read(int[] tids, long[] cpuNanos, long[] userNanos, long[] systemNanos) {
        if (!TaskClock.isNative()) return -1;
        long stamp = Native.tickStamp();
        int listed = list();
        if (listed < 0) return -1;
        readCpus(listed);
        match();
        readTicks(stamp != tickStamp || Library.isPrecise());
        steer();
        tickStamp = stamp;
        swap();

        System.arraycopy(last.tids, 0, tids, 0, Math.min(last.count, tids.length));
        System.arraycopy(last.cpus, 0, cpuNanos, 0, Math.min(last.count, cpuNanos.length));
        System.arraycopy(last.users, 0, userNanos, 0, Math.min(last.count, userNanos.length));
        int stored = Math.min(last.count, systemNanos.length);
        for (int i = 0; i < stored; i++) systemNanos[i] = last.cpus[i] - last.users[i];
        return last.count;
    }

    private int list() {
        int listed;
        while ((listed = Library.tids(next.tids)) + last.count > next.tids.length) {
            int capacity = listed + listed / 4 + last.count;
            next = new Rows(capacity);
            before = new int[capacity];
            ids = new int[2 * capacity];
            answers = new long[2 * capacity];
            asking = new int[capacity];
        }
        return listed < 0 ? listed : listed + addUnlisted(listed);
    }

    /**
     * Adds the threads of the last reading that are not listed now. Most have ended, and their clocks will say so; but
     * where many end while /proc lists them, the kernel passes over some that live.
     */
    private int addUnlisted(int listed) {
        if (listedNow.length < last.count) listedNow = new boolean[last.tids.length];
        Arrays.fill(listedNow, false);
        for (int i = 0; i < listed; i++) {
            int row = lastIndex.find(next.tids[i]);
            if (row >= 0) listedNow[row] = true;
        }
        int added = 0;
        for (int row = 0; row < last.count; row++) {
            if (!listedNow[row]) next.tids[listed + added++] = last.tids[row];
        }
        return added;
    }

    /** The precise total of each thread; those that have ended are dropped. */
    private void readCpus(int listed) {
        for (int i = 0; i < listed; i++) ids[i] = ClockId.encode(next.tids[i], true, ClockId.Kind.SCHED);
        Library.clocks(ids, answers, listed);
        int count = 0;
        for (int i = 0; i < listed; i++) {
            if (answers[i] < 0) continue;
            next.tids[count] = next.tids[i];
            next.cpus[count++] = answers[i];
        }
        next.count = count;
    }

    private void match() {
        for (int i = 0; i < next.count; i++) {
            int row = lastIndex.find(next.tids[i]);
            // With less CPU time than before it is another thread, which was given the id of one that ended.
            before[i] = row >= 0 && last.cpus[row] <= next.cpus[i] ? row : NEW;
        }
    }

    /** The tick counts: asked for where they can have changed, carried over where they can not. */
    private void readTicks(boolean ticked) {
        int asked = 0;
        for (int i = 0; i < next.count; i++) {
            int row = before[i];
            if (row == NEW || (ticked && last.cpus[row] != next.cpus[i])) {
                ids[2 * asked] = ClockId.encode(next.tids[i], true, ClockId.Kind.VIRT);
                ids[2 * asked + 1] = ClockId.encode(next.tids[i], true, ClockId.Kind.PROF);
                asking[asked++] = i;
            } else {
                next.virts[i] = last.virts[row];
                next.profs[i] = last.profs[row];
            }
        }
        Library.clocks(ids, answers, 2 * asked);
        for (int i = 0; i < asked; i++) {
            next.virts[asking[i]] = answers[2 * i];
            next.profs[asking[i]] = answers[2 * i + 1];
        }
    }

    private void steer() {
        for (int i = 0; i < next.count; i++) {
            int row = before[i];
            long lastCpu = row == NEW ? 0 : last.cpus[row];
            long lastUser = row == NEW ? 0 : last.users[row];
            long target = Split.scaled(next.cpus[i], next.virts[i], next.profs[i]);
            next.users[i] = Split.user(lastCpu, lastUser, next.cpus[i], target);
        }
    }

    private void swap() {
        Rows read = next;
        next = last.tids.length < read.tids.length ? new Rows(read.tids.length) : last;
        last = read;
        lastIndex.fill(last.tids, last.count);
    }
}
