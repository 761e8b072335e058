// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Method;
import javax.management.ObjectName;

/**
 * A ThreadMXBean that reads the calling thread's times from the clock and delegates all other calls to the platform's
 * bean.
 */
final class ClockThreadMXBean implements ThreadMXBean {
    /** Initialized only when ThreadMXBean can be used. */
    private static final class Holder {
        private static final ClockThreadMXBean INSTANCE =
                ManagementFactory.getThreadMXBean() instanceof ThreadMXBean platform
                        ? new ClockThreadMXBean(platform)
                        : null;
    }

    private final ThreadMXBean platform;

    private ClockThreadMXBean(ThreadMXBean platform) {
        this.platform = platform;
    }

    static ThreadMXBean instance() {
        if (!Preparation.isBeanUsable()) {
            throw new IllegalStateException("ThreadMXBean cannot be initialized now: no memory or no files are left");
        }
        if (Holder.INSTANCE == null) {
            throw new UnsupportedOperationException("this JVM has no com.sun.management.ThreadMXBean");
        }
        return Holder.INSTANCE;
    }

    /** Returns false if timing is disabled, and on a virtual thread, for which the JDK has its own rules. */
    private boolean usesClock() {
        return TaskClock.isNative()
                && platform.isThreadCpuTimeEnabled()
                && !ThreadType.isVirtual(Thread.currentThread());
    }

    private static boolean isCaller(long id) {
        return id > 0 && id == JavaThreadId.of(Thread.currentThread());
    }

    /** Stores the same reading wherever the caller's id occurs. */
    private static void answerCaller(long[] ids, long[] times, long nanos) {
        for (int i = 0; i < ids.length; i++) if (isCaller(ids[i])) times[i] = nanos;
    }

    @Override
    public long getCurrentThreadCpuTime() {
        return usesClock() ? TaskClock.cpuNanos() : platform.getCurrentThreadCpuTime();
    }

    @Override
    public long getCurrentThreadUserTime() {
        return usesClock() ? TaskClock.userNanos() : platform.getCurrentThreadUserTime();
    }

    @Override
    public long getThreadCpuTime(long id) {
        return isCaller(id) && usesClock() ? TaskClock.cpuNanos() : platform.getThreadCpuTime(id);
    }

    @Override
    public long getThreadUserTime(long id) {
        return isCaller(id) && usesClock() ? TaskClock.userNanos() : platform.getThreadUserTime(id);
    }

    @Override
    public long[] getThreadCpuTime(long[] ids) {
        long[] times = platform.getThreadCpuTime(ids);
        if (usesClock()) answerCaller(ids, times, TaskClock.cpuNanos());
        return times;
    }

    @Override
    public long[] getThreadUserTime(long[] ids) {
        long[] times = platform.getThreadUserTime(ids);
        if (usesClock()) answerCaller(ids, times, TaskClock.userNanos());
        return times;
    }

    @Override
    public int getThreadCount() {
        return platform.getThreadCount();
    }

    @Override
    public int getPeakThreadCount() {
        return platform.getPeakThreadCount();
    }

    @Override
    public long getTotalStartedThreadCount() {
        return platform.getTotalStartedThreadCount();
    }

    @Override
    public int getDaemonThreadCount() {
        return platform.getDaemonThreadCount();
    }

    @Override
    public long[] getAllThreadIds() {
        return platform.getAllThreadIds();
    }

    @Override
    public ThreadInfo getThreadInfo(long id) {
        return platform.getThreadInfo(id);
    }

    @Override
    public ThreadInfo[] getThreadInfo(long[] ids) {
        return platform.getThreadInfo(ids);
    }

    @Override
    public ThreadInfo getThreadInfo(long id, int maxDepth) {
        return platform.getThreadInfo(id, maxDepth);
    }

    @Override
    public ThreadInfo[] getThreadInfo(long[] ids, int maxDepth) {
        return platform.getThreadInfo(ids, maxDepth);
    }

    @Override
    public ThreadInfo[] getThreadInfo(long[] ids, boolean lockedMonitors, boolean lockedSynchronizers) {
        return platform.getThreadInfo(ids, lockedMonitors, lockedSynchronizers);
    }

    @Override
    public ThreadInfo[] getThreadInfo(long[] ids, boolean lockedMonitors, boolean lockedSynchronizers, int maxDepth) {
        return platform.getThreadInfo(ids, lockedMonitors, lockedSynchronizers, maxDepth);
    }

    @Override
    public ThreadInfo[] dumpAllThreads(boolean lockedMonitors, boolean lockedSynchronizers) {
        return platform.dumpAllThreads(lockedMonitors, lockedSynchronizers);
    }

    @Override
    public ThreadInfo[] dumpAllThreads(boolean lockedMonitors, boolean lockedSynchronizers, int maxDepth) {
        return platform.dumpAllThreads(lockedMonitors, lockedSynchronizers, maxDepth);
    }

    @Override
    public boolean isThreadContentionMonitoringSupported() {
        return platform.isThreadContentionMonitoringSupported();
    }

    @Override
    public boolean isThreadContentionMonitoringEnabled() {
        return platform.isThreadContentionMonitoringEnabled();
    }

    @Override
    public void setThreadContentionMonitoringEnabled(boolean enable) {
        platform.setThreadContentionMonitoringEnabled(enable);
    }

    @Override
    public boolean isThreadCpuTimeSupported() {
        return platform.isThreadCpuTimeSupported();
    }

    @Override
    public boolean isCurrentThreadCpuTimeSupported() {
        return platform.isCurrentThreadCpuTimeSupported();
    }

    @Override
    public boolean isThreadCpuTimeEnabled() {
        return platform.isThreadCpuTimeEnabled();
    }

    @Override
    public void setThreadCpuTimeEnabled(boolean enable) {
        platform.setThreadCpuTimeEnabled(enable);
    }

    @Override
    public long[] findMonitorDeadlockedThreads() {
        return platform.findMonitorDeadlockedThreads();
    }

    @Override
    public void resetPeakThreadCount() {
        platform.resetPeakThreadCount();
    }

    @Override
    public long[] findDeadlockedThreads() {
        return platform.findDeadlockedThreads();
    }

    @Override
    public boolean isObjectMonitorUsageSupported() {
        return platform.isObjectMonitorUsageSupported();
    }

    @Override
    public boolean isSynchronizerUsageSupported() {
        return platform.isSynchronizerUsageSupported();
    }

    /** Overrides a method added in an update of JDK 17, so {@code @Override} would not compile on every build. */
    @SuppressWarnings("MissingOverride")
    public long getTotalThreadAllocatedBytes() {
        try {
            Method method = ThreadMXBean.class.getMethod("getTotalThreadAllocatedBytes");
            return (long) method.invoke(platform);
        } catch (ReflectiveOperationException e) {
            throw new UnsupportedOperationException(e);
        }
    }

    @Override
    public long getCurrentThreadAllocatedBytes() {
        return platform.getCurrentThreadAllocatedBytes();
    }

    @Override
    public long getThreadAllocatedBytes(long id) {
        return platform.getThreadAllocatedBytes(id);
    }

    @Override
    public long[] getThreadAllocatedBytes(long[] ids) {
        return platform.getThreadAllocatedBytes(ids);
    }

    @Override
    public boolean isThreadAllocatedMemorySupported() {
        return platform.isThreadAllocatedMemorySupported();
    }

    @Override
    public boolean isThreadAllocatedMemoryEnabled() {
        return platform.isThreadAllocatedMemoryEnabled();
    }

    @Override
    public void setThreadAllocatedMemoryEnabled(boolean enable) {
        platform.setThreadAllocatedMemoryEnabled(enable);
    }

    @Override
    public ObjectName getObjectName() {
        return platform.getObjectName();
    }
}
