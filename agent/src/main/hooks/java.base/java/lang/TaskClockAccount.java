// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * The CPU time of one virtual thread. It is stored in the thread's own field, in place of what the scheduler is to run, and
 * runs that; so it is found without a table, and collected with its thread. 40 bytes.
 */
final class TaskClockAccount implements Runnable {
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    /** Where a virtual thread has it. */
    static final long PLACE = UNSAFE.objectFieldOffset(VirtualThread.class, "runContinuation");

    private static final long CARRIER = UNSAFE.objectFieldOffset(TaskClockAccount.class, "carrier");

    // Of struct carrier, shared.h of the clock.
    private static final int TID = 0;
    private static final int TURN = 8;
    private static final int CPU_OFFSET = 16;
    private static final int USER_OFFSET = 24;
    private static final int USER = 32;
    private static final int INDEX = 88;

    static final int PARTS = 6;

    /** Addresses of the carriers' records by index. Records are never freed. */
    private static volatile long[] addresses = new long[64];
    /** What group the thread is of that each carrier mounted last, by index. */
    private static volatile TaskClockGroup[] lastGroups = new TaskClockGroup[64];

    private final Runnable continuation;
    private final TaskClockGroup group;
    // Up to the last unmount.
    private long cpu;
    private long user;
    /** Index of the carrier's record while the thread is mounted; then the same, negated. 0 before the first mount. */
    private int carrier;

    TaskClockAccount(Runnable continuation, TaskClockGroup group) {
        this.continuation = continuation;
        this.group = group;
    }

    @Override
    public void run() {
        continuation.run();
    }

    /** On the carrier, before the thread goes on. */
    @ForceInline
    void mount() throws Throwable {
        long record = TaskClockCalls.mount(cpu, user);
        if (record == 0) return; // no memory for it: this stretch is not counted
        int index = UNSAFE.getInt(record + INDEX);
        if (index >= addresses.length || addresses[index] == 0) addCarrier(index, record);
        TaskClockGroup[] groups = lastGroups;
        if (groups[index] != group) groups[index] = group;
        if (carrier == 0) group.add(index, TaskClockGroup.STARTED, 1);
        UNSAFE.putIntRelease(this, CARRIER, index);
    }

    /** On the carrier, after the thread stopped. */
    @ForceInline
    void unmount() throws Throwable {
        int index = carrier;
        if (index <= 0) return; // it was mounted when nobody looked
        long newCpu = TaskClockCalls.unmount();
        long newUser = UNSAFE.getLong(addresses[index] + USER);
        long moreCpu = newCpu - cpu;
        long moreUser = newUser - user;
        cpu = newCpu;
        user = newUser;
        UNSAFE.putIntRelease(this, CARRIER, -index);
        // Last, as this may fail: it allocates for a carrier that is new to the group.
        group.add(index, TaskClockGroup.CPU, moreCpu);
        group.add(index, TaskClockGroup.USER, moreUser);
    }

    /** On the last carrier, after the last unmount. */
    void end() {
        // While nothing is accounted for, a thread ends on a carrier that is not the last one it was counted on.
        if (carrier < 0) group.add(TaskClockHooks.accounting ? -carrier : TaskClockGroup.SHARED, TaskClockGroup.ENDED, 1);
    }

    private static synchronized void addCarrier(int index, long record) {
        if (index >= addresses.length) {
            int length = Math.max(index + 1, addresses.length * 2);
            TaskClockGroup[] groups = new TaskClockGroup[length];
            System.arraycopy(lastGroups, 0, groups, 0, lastGroups.length);
            lastGroups = groups;
            long[] longer = new long[length];
            System.arraycopy(addresses, 0, longer, 0, addresses.length);
            addresses = longer;
        }
        addresses[index] = record;
    }

    /** How often the carrier with this index has mounted and unmounted. */
    static long turn(int index) {
        return UNSAFE.getLongAcquire(null, addresses[index] + TURN);
    }

    /** Whether the carrier with this index has ever mounted a thread with an account. */
    static boolean hasMounted(int index) {
        long[] all = addresses;
        return index < all.length && all[index] != 0;
    }

    /** The group of the thread that the carrier with this index mounted last; null if there was none. */
    static TaskClockGroup lastGroup(int index) {
        TaskClockGroup[] groups = lastGroups;
        return index < groups.length ? groups[index] : null;
    }

    boolean isMounted() {
        return carrier > 0;
    }

    long cpuNanos() {
        return cpu;
    }

    long userNanos() {
        return user;
    }

    /** One part of what org.taskclock.VirtualTimes wants, which sees whether they fit. Any thread may call this. */
    long part(int what) {
        if (what == 0) return cpu;
        if (what == 1) return user;
        int index = UNSAFE.getIntAcquire(this, CARRIER);
        if (index <= 0) return 0;
        long from = addresses[index];
        switch (what) {
            case 2:
                return UNSAFE.getLong(from + TID);
            case 3:
                return UNSAFE.getLong(from + CPU_OFFSET);
            case 4:
                return UNSAFE.getLong(from + USER_OFFSET);
            default:
                return UNSAFE.getLongAcquire(null, from + TURN);
        }
    }
}
