// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;

/**
 * What one virtual thread has used. It stands in the thread's own field, in place of what the scheduler is to run, and runs
 * that; so it is found without a table, and goes with its thread. 40 bytes.
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

    static final int PARTS = 6;

    private final Runnable continuation;
    // Up to the last unmount.
    private long cpu;
    private long user;
    /** Where the carrier's record is, for as long as the thread is mounted; otherwise 0. */
    private long carrier;

    TaskClockAccount(Runnable continuation) {
        this.continuation = continuation;
    }

    @Override
    public void run() {
        continuation.run();
    }

    /** On the carrier, before the thread goes on. */
    @ForceInline
    void mount() {
        UNSAFE.putLongRelease(this, CARRIER, TaskClockCalls.mount(cpu, user));
    }

    /** On the carrier, after it stopped. */
    @ForceInline
    void unmount() {
        long from = carrier;
        if (from == 0) return; // it was mounted when nobody looked
        cpu = TaskClockCalls.unmount();
        user = UNSAFE.getLong(from + USER);
        UNSAFE.putLongRelease(this, CARRIER, 0);
    }

    boolean isMounted() {
        return carrier != 0;
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
        long from = UNSAFE.getLongAcquire(this, CARRIER);
        if (from == 0) return 0;
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
