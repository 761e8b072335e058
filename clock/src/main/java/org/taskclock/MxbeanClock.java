// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Reads the JVM's own ThreadMXBean and adjusts the split so that user and system add up and never go backwards. */
final class MxbeanClock {
    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

    /**
     * The last CPU and user time, in an array: an object of our own class in a thread's map would keep our class loader
     * alive.
     */
    private static final ThreadLocal<long[]> LAST = ThreadLocal.withInitial(() -> new long[2]);

    private MxbeanClock() {}

    static String refusal() {
        return BEAN.isCurrentThreadCpuTimeSupported() ? null : "this JVM does not support thread CPU time";
    }

    static long cpuNanos() {
        return BEAN.isCurrentThreadCpuTimeSupported() ? BEAN.getCurrentThreadCpuTime() : -1;
    }

    /** Reads the calling thread. Returns CPU and user time in a reused array; null if timing is disabled. */
    static long[] read() {
        if (!BEAN.isCurrentThreadCpuTimeSupported()) return null;
        long[] last = LAST.get();
        long user = BEAN.getCurrentThreadUserTime();
        return update(last, BEAN.getCurrentThreadCpuTime(), user) ? last : null;
    }

    static long cpuNanos(Thread thread) {
        long id = JavaThreadId.of(thread);
        return id >= 0 && BEAN.isThreadCpuTimeSupported() ? BEAN.getThreadCpuTime(id) : -1;
    }

    /** Reads another thread and replaces its last CPU and user time. Returns false if they are unknown. */
    static boolean read(Thread thread, long[] last) {
        long id = JavaThreadId.of(thread);
        if (id < 0 || !BEAN.isThreadCpuTimeSupported()) return false;
        long user = BEAN.getThreadUserTime(id);
        return update(last, BEAN.getThreadCpuTime(id), user);
    }

    private static boolean update(long[] last, long cpuRead, long userRead) {
        if (cpuRead < 0 || userRead < 0) return false;
        long cpu = Math.max(cpuRead, last[0]);
        last[1] = UserTime.monotonic(last[0], last[1], cpu, userRead);
        last[0] = cpu;
        return true;
    }
}
