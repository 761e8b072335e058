// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The CPU time of another virtual thread, which the agent keeps: what it used up to its last unmount, and while it is
 * mounted, how far its carrier is ahead of it.
 */
final class VirtualTimes {
    /** What {@link Native#virtualNanos} is asked for, by the numbers of taskclock.h. */
    static final int CPU = 0;

    static final int USER = 1;
    static final int SYSTEM = 2;
    /** Takes a reading and tells its cpu; {@link #LAST_USER} tells its user part. */
    static final int NOW = 3;

    static final int LAST_USER = 4;

    // What the agent tells of a thread.
    private static final int SO_FAR_CPU = 0;
    private static final int SO_FAR_USER = 1;
    /** The carrier's kernel id; 0 while the thread is not mounted. */
    private static final int CARRIER = 2;

    private static final int CPU_OFFSET = 3;
    private static final int USER_OFFSET = 4;
    /** Another one with each mount and unmount of the carrier. */
    private static final int TURN = 5;

    private static final int FACTS = 6;
    private static final int TRIES = 1_000;

    /** {@code TaskClockHooks.virtualTimes}, which is there once an agent is; null before. */
    private static volatile MethodHandle facts;

    private final Thread thread;
    private final AtomicLong lastCpu = new AtomicLong();

    // Of now(), which one thread at a time calls.
    private long cpu;
    private long user;

    VirtualTimes(Thread thread) {
        this.thread = thread;
    }

    /** -1 if nobody accounts for the thread. Any thread may call this. */
    long cpuNanos() {
        CpuTime now = read();
        // The carrier's time that the kernel tells others may be a little ahead of what the carrier itself goes by.
        return now.isKnown() ? lastCpu.accumulateAndGet(now.cpuNanos(), Math::max) : -1;
    }

    /** A reading that takes no part back of what earlier ones said. */
    CpuTime now() {
        CpuTime now = read();
        if (!now.isKnown()) return now;
        long total = Math.max(cpu, now.cpuNanos());
        user = Split.user(cpu, user, total, now.userNanos());
        cpu = total;
        return new CpuTime(cpu, user, cpu - user);
    }

    private CpuTime read() {
        long[] before = new long[FACTS];
        long[] after = new long[FACTS];
        for (int i = 0; i < TRIES; i++) {
            if (!facts(before)) return CpuTime.UNKNOWN;
            if (before[CARRIER] == 0) return of(before[SO_FAR_CPU], before[SO_FAR_USER]);
            TickedClock carrier = new TickedClock(ClockId.thread((int) before[CARRIER], ClockId.Kind.SCHED));
            if (!carrier.read() || !facts(after) || before[TURN] != after[TURN] || before[CARRIER] != after[CARRIER]) {
                Thread.onSpinWait(); // it was just mounted or unmounted
                continue;
            }
            CpuTime now = carrier.lastReading();
            return of(
                    Math.max(now.cpuNanos() - before[CPU_OFFSET], before[SO_FAR_CPU]),
                    Math.max(now.userNanos() - before[USER_OFFSET], before[SO_FAR_USER]));
        }
        return of(before[SO_FAR_CPU], before[SO_FAR_USER]);
    }

    private static CpuTime of(long cpu, long user) {
        long part = Math.min(user, cpu);
        return new CpuTime(cpu, part, cpu - part);
    }

    private boolean facts(long[] into) {
        MethodHandle from = facts == null ? find() : facts;
        if (from == null) return false;
        try {
            return (boolean) from.invokeExact(thread, into);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle find() {
        if (!TaskClock.isNative() || !Library.hasCarriers()) return null;
        try {
            Class<?> hooks = Class.forName("java.lang.TaskClockHooks", false, null);
            MethodType type = MethodType.methodType(boolean.class, Thread.class, long[].class);
            MethodHandle found = MethodHandles.publicLookup().findStatic(hooks, "virtualTimes", type);
            facts = found;
            return found;
        } catch (ReflectiveOperationException e) {
            return null; // an agent of another version
        }
    }
}
