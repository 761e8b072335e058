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

    // Of struct carrier, taskclock.h.
    private static final int TID = 0;
    private static final int TURN = 8;
    private static final int CPU_OFFSET = 16;
    private static final int USER_OFFSET = 24;
    private static final int USER = 32;

    private static final int TRIES = 1_000;

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

    /** All at one moment, as org.taskclock.VirtualTimes wants it. Any thread may call this. */
    void facts(long[] into) {
        for (int i = 0; i < TRIES; i++) {
            long from = UNSAFE.getLongAcquire(this, CARRIER);
            long turn = from == 0 ? 0 : UNSAFE.getLongAcquire(null, from + TURN);
            into[0] = cpu;
            into[1] = user;
            into[2] = from == 0 ? 0 : UNSAFE.getLong(from + TID);
            into[3] = from == 0 ? 0 : UNSAFE.getLong(from + CPU_OFFSET);
            into[4] = from == 0 ? 0 : UNSAFE.getLong(from + USER_OFFSET);
            into[5] = turn;
            UNSAFE.loadFence();
            boolean same = from == UNSAFE.getLongAcquire(this, CARRIER) && into[0] == cpu && into[1] == user;
            if (same && (from == 0 || (turn & 1) == 1 && turn == UNSAFE.getLongAcquire(null, from + TURN))) return;
            Thread.onSpinWait();
        }
        into[2] = 0; // its carrier lost the processor in the midst of it
    }
}
