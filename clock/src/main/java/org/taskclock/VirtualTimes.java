// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The CPU time of another virtual thread, which the agent keeps: what it used up to its last unmount, and while it is
 * mounted, how far its carrier is ahead of it. Reading allocates nothing but the result.
 */
final class VirtualTimes {
    /** What {@link Native#virtualNanos} is asked for, by the numbers of taskclock.h. */
    static final int CPU = 0;

    static final int USER = 1;
    static final int SYSTEM = 2;
    /** Takes a reading and tells its cpu; {@link #LAST_USER} tells its user part. */
    static final int NOW = 3;

    static final int LAST_USER = 4;

    // What the hook of the agent is asked for, by its own numbers.

    /** CPU time up to the last unmount; -1 if nobody accounts for the thread. */
    private static final int SO_FAR_CPU = 0;

    private static final int SO_FAR_USER = 1;
    /** The carrier's kernel id; 0 while the thread is not mounted. */
    private static final int CARRIER = 2;

    private static final int CPU_OFFSET = 3;
    private static final int USER_OFFSET = 4;
    /** Changes with each mount and unmount of the carrier; even while it is not known what is mounted, 0 without a carrier. */
    private static final int TURN = 5;

    private static final int TRIES = 1_000;

    /** {@code TaskClockHooks.virtualTime}, which is there once an agent is; null before. */
    private static volatile MethodHandle hook;

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
        MethodHandle from = hook();
        long now = -1;
        for (int i = 0; i < TRIES && from != null; i++) {
            long soFar = ask(from, SO_FAR_CPU);
            long turn = ask(from, TURN);
            int carrier = (int) ask(from, CARRIER);
            now = soFar;
            if (soFar < 0) return -1;
            if (carrier != 0) {
                long offset = ask(from, CPU_OFFSET);
                now = Math.max(Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.SCHED)) - offset, soFar);
            }
            if (isStill(from, soFar, turn, carrier)) break;
            Thread.onSpinWait(); // it was just mounted or unmounted
        }
        // The carrier's time that the kernel tells others may be a little ahead of what the carrier itself goes by.
        return now < 0 ? -1 : lastCpu.accumulateAndGet(now, Math::max);
    }

    /** A reading that takes no part back of what earlier ones said. */
    CpuTime now() {
        MethodHandle from = hook();
        long nowCpu = -1;
        long nowUser = -1;
        for (int i = 0; i < TRIES && from != null; i++) {
            long soFar = ask(from, SO_FAR_CPU);
            long soFarUser = ask(from, SO_FAR_USER);
            long turn = ask(from, TURN);
            int carrier = (int) ask(from, CARRIER);
            if (soFar < 0) return CpuTime.UNKNOWN;
            nowCpu = soFar;
            nowUser = soFarUser;
            if (carrier != 0) {
                long virt = Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.VIRT));
                long prof = Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.PROF));
                long total = Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.SCHED));
                nowCpu = Math.max(total - ask(from, CPU_OFFSET), soFar);
                nowUser = Math.max(Split.scaled(total, virt, prof) - ask(from, USER_OFFSET), soFarUser);
            }
            if (isStill(from, soFar, turn, carrier)) break;
            Thread.onSpinWait();
        }
        if (nowCpu < 0) return CpuTime.UNKNOWN;
        long total = Math.max(cpu, nowCpu);
        user = Split.user(cpu, user, total, Math.min(nowUser, nowCpu));
        cpu = total;
        return new CpuTime(cpu, user, cpu - user);
    }

    /** Whether all that was asked since belongs together. */
    private boolean isStill(MethodHandle from, long soFar, long turn, int carrier) {
        boolean settled = carrier == 0 ? turn == 0 : (turn & 1) == 1;
        return settled && ask(from, TURN) == turn && ask(from, CARRIER) == carrier && ask(from, SO_FAR_CPU) == soFar;
    }

    private long ask(MethodHandle from, int what) {
        try {
            return (long) from.invokeExact(thread, what);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static MethodHandle hook() {
        MethodHandle found = hook;
        return found == null ? findHook() : found;
    }

    private static MethodHandle findHook() {
        if (!TaskClock.isNative() || !Library.hasCarriers()) return null;
        try {
            Class<?> hooks = Class.forName("java.lang.TaskClockHooks", false, null);
            MethodType type = MethodType.methodType(long.class, Thread.class, int.class);
            MethodHandle found = MethodHandles.publicLookup().findStatic(hooks, "virtualTime", type);
            hook = found;
            return found;
        } catch (ReflectiveOperationException e) {
            return null; // an agent of another version
        }
    }
}
