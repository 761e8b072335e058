// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.spark;

import com.codahale.metrics.Counter;
import java.io.IOException;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.taskclock.CpuAccount;
import org.taskclock.CpuSection;

/**
 * Counts the CPU time of each task on all threads that work for it:
 * {@code spark.plugins=org.taskclock.integration.spark.TaskCpu}. Each executor's metric {@code cpuNanos} is the sum
 * over its ended tasks; the driver gets a message for each task. Tasks with threads of their own wrap them:
 *
 * <pre>{@code
 * ExecutorService pool = TaskCpu.account().wrap(Executors.newFixedThreadPool(4));
 * }</pre>
 */
public final class TaskCpu implements SparkPlugin {
    private static final Logger LOG = LoggerFactory.getLogger(TaskCpu.class);
    private static final Map<Long, CpuAccount> RUNNING = new ConcurrentHashMap<>();
    private static final List<Consumer<Usage>> LISTENERS = new CopyOnWriteArrayList<>();

    /** An ended task, successful or not. */
    public record Usage(long taskAttemptId, int stageId, long cpuNanos) implements Serializable {}

    /**
     * Returns the account of the calling thread's task.
     *
     * @throws IllegalStateException on a thread without a task, and without this plugin
     */
    public static CpuAccount account() {
        TaskContext task = TaskContext.get();
        CpuAccount account = task == null ? null : RUNNING.get(task.taskAttemptId());
        if (account == null) throw new IllegalStateException("no task with an account: call this on the task's thread");
        return account;
    }

    /** Adds a listener on the driver. It is called on threads of Spark's RPC, possibly after the job has ended. */
    public static void listen(Consumer<Usage> listener) {
        LISTENERS.add(listener);
    }

    @Override
    public DriverPlugin driverPlugin() {
        return new Driver();
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Executor();
    }

    private static final class Driver implements DriverPlugin {
        @Override
        public Object receive(Object message) {
            LISTENERS.forEach(listener -> listener.accept((Usage) message));
            return null;
        }
    }

    private static final class Executor implements ExecutorPlugin {
        private final Counter cpuNanos = new Counter();
        private PluginContext context;

        @Override
        public void init(PluginContext context, Map<String, String> configuration) {
            this.context = context;
            context.metricRegistry().register("cpuNanos", cpuNanos);
        }

        /** Spark calls this and the completion listener on the task's thread. */
        @Override
        public void onTaskStart() {
            TaskContext task = TaskContext.get();
            CpuAccount account = CpuAccount.create();
            CpuSection section = account.enter();
            RUNNING.put(task.taskAttemptId(), account);
            task.addTaskCompletionListener((TaskCompletionListener) ended -> end(ended, account, section));
        }

        private void end(TaskContext task, CpuAccount account, CpuSection section) {
            section.close();
            RUNNING.remove(task.taskAttemptId());
            long nanos = account.done().cpuNanos();
            cpuNanos.inc(nanos);
            try {
                context.send(new Usage(task.taskAttemptId(), task.stageId(), nanos));
            } catch (IOException e) {
                LOG.warn("cannot send the CPU time of task {} to the driver", task.taskAttemptId(), e);
            }
        }
    }
}
