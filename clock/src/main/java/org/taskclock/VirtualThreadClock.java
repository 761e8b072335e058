// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The CPU time of another virtual thread, as the agent records it: the time used up to its last unmount and, while it
 * is mounted, the offset between its carrier's time and its own. A read allocates nothing but its result.
 */
final class VirtualThreadClock {
    /** The values that {@link Native#virtualNanos} can return, numbered as in shared.h. */
    static final int CPU = 0;

    static final int USER = 1;
    static final int SYSTEM = 2;
    /** Takes a reading and returns its cpu; {@link #NOW_USER} returns the user part of that reading. */
    static final int NOW_CPU = 3;

    static final int NOW_USER = 4;
    /** The CPU time for differences: since accounting began, if the thread's total is unknown. */
    static final int POINT = 5;

    /**
     * Where the CPU time of a thread starts if it also ran without being accounted for. Its CPU time is negative then;
     * as in shared.h.
     */
    private static final long PARTIAL_ORIGIN = Long.MIN_VALUE / 2;

    // The values that the agent's hook can return.

    /** CPU time up to the last unmount; -1 if the agent does not track the thread; negative if the total is unknown. */
    private static final int UNMOUNTED_CPU = 0;

    private static final int UNMOUNTED_USER = 1;
    /** The carrier's kernel thread id; 0 while the thread is not mounted. */
    private static final int CARRIER_TID = 2;

    private static final int CPU_OFFSET = 3;
    private static final int USER_OFFSET = 4;
    /**
     * Changes at each mount and unmount on the carrier: odd while a thread is mounted. 0 if the thread has no carrier.
     */
    private static final int SEQUENCE = 5;

    private static final int MAX_ATTEMPTS = 1_000;

    /** {@code TaskClockHooks.virtualTime}; null until an agent is loaded. */
    private static volatile MethodHandle hook;

    private final Thread thread;
    private final AtomicLong lastCpu = new AtomicLong();

    // The last result of now(), which only one thread at a time may call.
    private long cpu;
    private long user;

    VirtualThreadClock(Thread thread) {
        this.thread = thread;
    }

    /** Returns -1 if the agent has not tracked the thread since it started. Any thread may call this. */
    long cpuNanos() {
        long now = read();
        return now < 0 ? -1 : increasing(now);
    }

    /** Like {@link #cpuNanos()}, but for differences: a thread whose total is unknown has a time, too. */
    long pointNanos() {
        long now = read();
        return now == -1 ? -1 : increasing(now < 0 ? now - PARTIAL_ORIGIN : now);
    }

    /** A carrier's clock, read from another thread, may be slightly ahead of the carrier's own reading. */
    private long increasing(long now) {
        return lastCpu.accumulateAndGet(now, Math::max);
    }

    /** Returns -1 if the agent does not track the thread. */
    private long read() {
        MethodHandle handle = hook();
        long now = -1;
        for (int i = 0; i < MAX_ATTEMPTS && handle != null; i++) {
            long unmounted = query(handle, UNMOUNTED_CPU);
            long sequence = query(handle, SEQUENCE);
            int carrier = (int) query(handle, CARRIER_TID);
            now = unmounted;
            if (unmounted == -1) return -1;
            if (carrier != 0) {
                long offset = query(handle, CPU_OFFSET);
                long total = Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.SCHED));
                now = Math.max(total - offset, unmounted);
            }
            if (isUnchanged(handle, unmounted, sequence, carrier)) break;
            Thread.onSpinWait(); // the thread was just mounted or unmounted
        }
        return now;
    }

    /** Takes a reading. No part of it is smaller than in an earlier reading. */
    CpuTime now() {
        MethodHandle handle = hook();
        long nowCpu = -1;
        long nowUser = -1;
        for (int i = 0; i < MAX_ATTEMPTS && handle != null; i++) {
            long unmountedCpu = query(handle, UNMOUNTED_CPU);
            long unmountedUser = query(handle, UNMOUNTED_USER);
            long sequence = query(handle, SEQUENCE);
            int carrier = (int) query(handle, CARRIER_TID);
            if (unmountedCpu < 0) return CpuTime.UNKNOWN;
            nowCpu = unmountedCpu;
            nowUser = unmountedUser;
            if (carrier != 0) {
                long virt = Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.VIRT));
                long prof = Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.PROF));
                long total = Native.clockNanos(ClockId.encode(carrier, true, ClockId.Kind.SCHED));
                nowCpu = Math.max(total - query(handle, CPU_OFFSET), unmountedCpu);
                nowUser = Math.max(UserTime.scaled(total, virt, prof) - query(handle, USER_OFFSET), unmountedUser);
            }
            if (isUnchanged(handle, unmountedCpu, sequence, carrier)) break;
            Thread.onSpinWait();
        }
        if (nowCpu < 0) return CpuTime.UNKNOWN;
        long total = Math.max(cpu, nowCpu);
        user = UserTime.monotonic(cpu, user, total, Math.min(nowUser, nowCpu));
        cpu = total;
        return new CpuTime(cpu, user, cpu - user);
    }

    /**
     * Returns whether the thread has not been mounted or unmounted since these values were read. If so, all values
     * queried in between are consistent.
     */
    private boolean isUnchanged(MethodHandle handle, long unmountedCpu, long sequence, int carrier) {
        boolean isSettled = carrier == 0 ? sequence == 0 : (sequence & 1) == 1;
        return isSettled
                && query(handle, SEQUENCE) == sequence
                && query(handle, CARRIER_TID) == carrier
                && query(handle, UNMOUNTED_CPU) == unmountedCpu;
    }

    private long query(MethodHandle handle, int part) {
        try {
            return (long) handle.invokeExact(thread, part);
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
