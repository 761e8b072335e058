// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.util.IdentityHashMap;
import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * A carrier of virtual threads: its record in native memory, and the group of the thread that it mounted last. The
 * record adds up the time of all threads that the carrier mounts. It belongs to that group from when the carrier first
 * mounted one of its threads, until it mounts one of another group. So the next mount of a thread of the same group
 * writes nothing here.
 */
final class TaskClockCarrier {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long GROUP = UNSAFE.objectFieldOffset(TaskClockCarrier.class, "group");

    // Byte offsets in struct carrier, which is declared in shared.h of the clock.
    private static final int TID = 0;
    private static final int INDEX = 4;
    private static final int SEQUENCE = 8;
    private static final int CPU_OFFSET = 16;
    private static final int USER_OFFSET = 24;
    private static final int LAST_USER = 40;
    private static final int CARRIED_CPU = 48;
    private static final int CARRIED_USER = 56;

    /** The number of carriers for which there is room at first. */
    private static final int CARRIERS = 64;

    /** All carriers, by the index of their records. */
    private static volatile TaskClockCarrier[] all;

    /** The address of the record, which is never freed. */
    private final long record;

    private volatile TaskClockGroup group;
    // How much of the carried time belongs to earlier groups.
    private long earlierCpu;
    private long earlierUser;

    // Keeps carriers on cache lines of their own, because other fields are written.
    @SuppressWarnings("unused")
    private long padding1;

    @SuppressWarnings("unused")
    private long padding2;

    @SuppressWarnings("unused")
    private long padding3;

    private TaskClockCarrier(long record) {
        this.record = record;
        earlierCpu = UNSAFE.getLong(record + CARRIED_CPU);
        earlierUser = UNSAFE.getLong(record + CARRIED_USER);
    }

    /**
     * Forgets all carriers. Called before the first use. This is no initializer, because a class whose initializer
     * fails, for example because the heap is full, can never be used.
     */
    static void forgetAll() {
        all = new TaskClockCarrier[CARRIERS];
    }

    /** Returns the index of a carrier's record. */
    static int index(long record) {
        return UNSAFE.getInt(record + INDEX);
    }

    /** Returns the carrier with this record. */
    @ForceInline
    static TaskClockCarrier of(int index, long record) {
        TaskClockCarrier[] carriers = all;
        TaskClockCarrier found = index < carriers.length ? carriers[index] : null;
        return found != null ? found : add(index, record);
    }

    private static synchronized TaskClockCarrier add(int index, long record) {
        if (index >= all.length) {
            TaskClockCarrier[] longer = new TaskClockCarrier[Math.max(index + 1, all.length * 2)];
            System.arraycopy(all, 0, longer, 0, all.length);
            all = longer;
        }
        TaskClockCarrier added = new TaskClockCarrier(record);
        UNSAFE.storeFence();
        all[index] = added;
        return added;
    }

    /** Returns the carrier with this index, or null if it has never mounted a thread with an account. */
    static TaskClockCarrier at(int index) {
        TaskClockCarrier[] carriers = all;
        return index < carriers.length ? carriers[index] : null;
    }

    /** Records that a thread of this group is mounted. Called on the carrier. */
    @ForceInline
    void mount(int index, TaskClockGroup mounted) {
        if (group != mounted) change(index, mounted);
    }

    /**
     * The order matters for {@link #addTo}: a reader that finds the time in the totals of the earlier group must not
     * find it here, too.
     */
    private void change(int index, TaskClockGroup mounted) {
        TaskClockGroup earlier = group;
        long cpu = UNSAFE.getLong(record + CARRIED_CPU);
        long user = UNSAFE.getLong(record + CARRIED_USER);
        long moreCpu = cpu - earlierCpu;
        long moreUser = user - earlierUser;
        earlierCpu = cpu;
        earlierUser = user;
        UNSAFE.putReferenceRelease(this, GROUP, mounted);
        UNSAFE.storeFence();
        if (earlier != null) earlier.addTime(index, moreCpu, moreUser);
    }

    TaskClockGroup group() {
        return group;
    }

    /**
     * Adds what belongs to the last group to its totals. The totals were read first, and then the times that the
     * carrier carried. If the group changed since, this adds too little, never too much.
     */
    void addTo(IdentityHashMap<TaskClockGroup, long[]> totals, long carriedCpu, long carriedUser) {
        long[] of = totals.get(group);
        if (of == null) return;
        of[TaskClockGroup.CPU] += Math.max(0, carriedCpu - earlierCpu);
        of[TaskClockGroup.USER] += Math.max(0, carriedUser - earlierUser);
    }

    int tid() {
        return UNSAFE.getInt(record + TID);
    }

    /** Returns the number of mounts and unmounts: odd while a thread is mounted. */
    long sequence() {
        return UNSAFE.getLongAcquire(null, record + SEQUENCE);
    }

    long cpuOffset() {
        return UNSAFE.getLong(record + CPU_OFFSET);
    }

    long userOffset() {
        return UNSAFE.getLong(record + USER_OFFSET);
    }

    /** Returns the user time of the thread that was unmounted last. */
    long unmountedUser() {
        return UNSAFE.getLong(record + LAST_USER) - userOffset();
    }
}
