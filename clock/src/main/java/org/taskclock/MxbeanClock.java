// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** CPU time by the JVM's own ThreadMXBean, steered so that user and system add up and never go backwards. */
final class MxbeanClock {
    private static final ThreadMXBean BEAN = ManagementFactory.getThreadMXBean();

    /** Last cpu, last user. An array, as a class of ours in a thread's map would hold our class loader. */
    private static final ThreadLocal<long[]> LAST = ThreadLocal.withInitial(() -> new long[2]);

    private MxbeanClock() {}

    static String refusal() {
        return BEAN.isCurrentThreadCpuTimeSupported() ? null : "this JVM does not support thread CPU time";
    }

    static long cpuNanos() {
        return BEAN.isCurrentThreadCpuTimeSupported() ? BEAN.getCurrentThreadCpuTime() : -1;
    }

    /** One reading of the calling thread: its cpu and user, to be read at once; null where timing is switched off. */
    static long[] read() {
        if (!BEAN.isCurrentThreadCpuTimeSupported()) return null;
        long[] last = LAST.get();
        long user = BEAN.getCurrentThreadUserTime();
        return steer(last, BEAN.getCurrentThreadCpuTime(), user) ? last : null;
    }

    static long cpuNanos(Thread thread) {
        return BEAN.isThreadCpuTimeSupported() ? BEAN.getThreadCpuTime(thread.getId()) : -1;
    }

    /** One reading of another thread, which replaces cpu and user of the one before. False where there is none. */
    static boolean read(Thread thread, long[] last) {
        if (!BEAN.isThreadCpuTimeSupported()) return false;
        long user = BEAN.getThreadUserTime(thread.getId());
        return steer(last, BEAN.getThreadCpuTime(thread.getId()), user);
    }

    private static boolean steer(long[] last, long cpuRead, long userRead) {
        if (cpuRead < 0 || userRead < 0) return false;
        long cpu = Math.max(cpuRead, last[0]);
        last[1] = Split.user(last[0], last[1], cpu, userRead);
        last[0] = cpu;
        return true;
    }
}
