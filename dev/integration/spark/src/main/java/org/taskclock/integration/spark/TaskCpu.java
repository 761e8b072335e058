// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.spark;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;
import org.apache.spark.util.TaskCompletionListener;
import org.taskclock.AccountType;
import org.taskclock.CpuAccount;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;

/**
 * Counts the CPU time of each executor by job group, stage, and task, on all threads that work for a task:
 * {@code spark.plugins=org.taskclock.integration.spark.TaskCpu}. Tasks with threads of their own wrap them:
 *
 * <pre>{@code
 * ExecutorService pool = TaskCpu.wrap(Executors.newFixedThreadPool(4));
 * }</pre>
 */
public final class TaskCpu implements SparkPlugin {
    static final AccountType JOBS = CpuAccounts.type("job");

    private static final AccountType STAGES = CpuAccounts.type("stage");
    /** A stage can have many thousands of them. */
    private static final AccountType TASKS = CpuAccounts.type("task").maxNames(20);

    /** Returns the accounts of the calling thread's task. */
    private static List<CpuAccount> accounts() {
        TaskContext task = TaskContext.get();
        String stage = task.stageId() + "." + task.stageAttemptNumber();
        // The same words as in Spark's log.
        String name = "%d.%d in stage %s".formatted(task.partitionId(), task.attemptNumber(), stage);
        String job = Objects.requireNonNullElse(task.getLocalProperty("spark.jobGroup.id"), "(none)");
        return List.of(JOBS.of(job), STAGES.of(stage), TASKS.of(name));
    }

    /**
     * Wraps an executor so that what it runs counts for the calling thread's task.
     *
     * @throws NullPointerException on a thread without a task
     */
    public static ExecutorService wrap(ExecutorService executor) {
        ExecutorService wrapped = executor;
        for (CpuAccount account : accounts()) wrapped = account.wrap(wrapped);
        return wrapped;
    }

    @Override
    public DriverPlugin driverPlugin() {
        return null;
    }

    @Override
    public ExecutorPlugin executorPlugin() {
        return new Executor();
    }

    private static final class Executor implements ExecutorPlugin {
        /** Spark calls this and the completion listener on the task's thread. */
        @Override
        public void onTaskStart() {
            List<CpuSection> sections =
                    accounts().stream().map(CpuAccount::enter).toList();
            TaskContext.get()
                    .addTaskCompletionListener((TaskCompletionListener) ended -> sections.forEach(CpuSection::close));
        }
    }
}
