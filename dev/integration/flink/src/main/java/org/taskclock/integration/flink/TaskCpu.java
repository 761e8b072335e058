// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.flink;

import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.LogicalScopeProvider;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.runtime.metrics.groups.InternalOperatorMetricGroup;
import org.apache.flink.runtime.metrics.groups.TaskMetricGroup;
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;

/**
 * Gives each task a metric {@code cpuNanos} next to {@code busyTimeMsPerSecond}, with its CPU time on all threads that
 * work for it: {@code metrics.reporter.cpu.factory.class: org.taskclock.integration.flink.TaskCpu}. It reports nothing
 * itself; other reporters do. A function with threads of its own wraps them in {@code open}:
 *
 * <pre>{@code
 * pool = TaskCpu.account().wrap(Executors.newFixedThreadPool(4));
 * }</pre>
 */
public final class TaskCpu implements MetricReporter, MetricReporterFactory {
    /** The name of Task.TASK_THREADS_GROUP, which is not public. */
    private static final String TASK_THREADS = "Flink Task Threads";

    private static final ThreadLocal<CpuAccount> CURRENT = new ThreadLocal<>();

    private final Map<MetricGroup, Task> tasks = new ConcurrentHashMap<>();

    private static final class Task {
        final CpuAccount account = CpuAccount.create();
        Thread thread;
        CpuSection section;
    }

    /**
     * Returns the account of the calling thread's task.
     *
     * @throws IllegalStateException on a thread without a task, and without this reporter
     */
    public static CpuAccount account() {
        CpuAccount account = CURRENT.get();
        if (account == null) throw new IllegalStateException("no task with an account: call this on the task's thread");
        return account;
    }

    /** Returns whether the calling thread is the thread of a task with an account. */
    public static boolean hasAccount() {
        return CURRENT.get() != null;
    }

    @Override
    public MetricReporter createMetricReporter(Properties properties) {
        return new TaskCpu();
    }

    @Override
    public void open(MetricConfig config) {}

    @Override
    public void close() {}

    /** Flink calls this on the thread that adds the metric, with a lock that it also holds for removed metrics. */
    @Override
    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        MetricGroup taskGroup = taskGroup(group);
        if (taskGroup == null) return;
        if (name.equals(MetricNames.TASK_BUSY_TIME)) {
            Task task = new Task();
            tasks.put(taskGroup, task);
            group.gauge("cpuNanos", (Gauge<Long>) task.account::cpuNanos);
        }
        // Tasks add the metrics of their operators on their threads, before they read the first record.
        Task task = tasks.get(taskGroup);
        if (task == null || task.section != null) return;
        Thread thread = Thread.currentThread();
        if (!thread.getThreadGroup().getName().equals(TASK_THREADS)) return;
        task.thread = thread;
        task.section = task.account.enter();
        CURRENT.set(task.account);
    }

    /** Tasks remove their metrics on their threads, as the last thing that they do. */
    @Override
    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
        if (!name.equals(MetricNames.TASK_BUSY_TIME)) return;
        Task task = tasks.remove(taskGroup(group));
        if (task == null) return;
        if (task.thread == Thread.currentThread()) {
            task.section.close();
            CURRENT.remove();
        }
        task.account.done();
    }

    private static MetricGroup taskGroup(MetricGroup group) {
        MetricGroup wrapped = LogicalScopeProvider.castFrom(group).getWrappedMetricGroup();
        if (wrapped instanceof InternalOperatorMetricGroup operator) return operator.getTaskMetricGroup();
        return wrapped instanceof TaskMetricGroup ? wrapped : null;
    }
}
