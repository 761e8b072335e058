// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.flink;

import java.util.Map;
import java.util.Properties;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;

/**
 * Counts the CPU time of each task on all threads that work for it, in an account and in a metric {@code cpuNanos} next
 * to {@code busyTimeMsPerSecond}: {@code metrics.reporter.cpu.factory.class: org.taskclock.integration.flink.TaskCpu}.
 * A function with threads of its own wraps them in {@code open}:
 *
 * <pre>{@code
 * pool = TaskCpu.account().wrap(Executors.newFixedThreadPool(4));
 * }</pre>
 */
public final class TaskCpu implements MetricReporter, MetricReporterFactory {
    private static final AccountType TASKS = CpuAccounts.type("task");

    /** The name of Task.TASK_THREADS_GROUP, which is not public. */
    private static final String TASK_THREADS = "Flink Task Threads";

    private static final String BUSY_TIME = "busyTimeMsPerSecond";

    private record Task(CpuAccount account, CpuSection section) {}

    private static final ThreadLocal<Task> CURRENT = new ThreadLocal<>();

    /**
     * Returns the account of the calling thread's task.
     *
     * @throws IllegalStateException on a thread without a task, and without this reporter
     */
    public static CpuAccount account() {
        if (!hasAccount()) throw new IllegalStateException("no task with an account: call this on the task's thread");
        return CURRENT.get().account;
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

    /** Tasks add the metrics of their operators on their threads, before they read the first record. */
    @Override
    public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
        Map<String, String> scope = group.getAllVariables();
        if (!scope.containsKey("<task_name>")) return;
        // The task first, because tools may have room only for the beginning.
        CpuAccount account = TASKS.of(
                scope.get("<task_name>") + "." + scope.get("<subtask_index>") + " in " + scope.get("<job_name>"));
        if (name.equals(BUSY_TIME)) group.gauge("cpuNanos", (Gauge<Long>) account::cpuNanos);
        if (hasAccount() || !Thread.currentThread().getThreadGroup().getName().equals(TASK_THREADS)) return;
        CURRENT.set(new Task(account, account.enter()));
    }

    /** Tasks remove their metrics on their threads, as the last thing that they do. */
    @Override
    public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {
        if (!name.equals(BUSY_TIME) || !hasAccount()) return;
        CURRENT.get().section.close();
        CURRENT.remove();
    }
}
