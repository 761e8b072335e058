// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.spark;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToDoubleFunction;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.taskclock.CpuAccount;

/**
 * Compares Spark's figures for its tasks with TaskClock's and the kernel's, and measures the cost of the plugin:
 * {@code TaskCpuTest FILE}.
 */
public final class TaskCpuTest {
    private static final int TASKS = 16;
    private static final int REPETITIONS = 5;
    private static final int EMPTY_TASKS = 1000;
    private static final int EMPTY_JOBS = 5;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final StringBuilder text = new StringBuilder();

    /** What the tasks of one job do. */
    private record Work(String threads, int ownSieves, int otherThreads, int sievesPerThread) {}

    /** The sums over the tasks of one job, in seconds. */
    private record Job(double run, double cpu, double account, double kernel, double process) {}

    /** Adds up Spark's figures of one job, in nanoseconds. Spark calls it on its own threads. */
    private static final class Sums extends SparkListener {
        final AtomicLong runNanos = new AtomicLong();
        final AtomicLong cpuNanos = new AtomicLong();
        final CountDownLatch tasks = new CountDownLatch(TASKS);

        @Override
        public void onTaskEnd(SparkListenerTaskEnd end) {
            runNanos.addAndGet(end.taskMetrics().executorRunTime() * 1_000_000);
            cpuNanos.addAndGet(end.taskMetrics().executorCpuTime());
            tasks.countDown();
        }
    }

    public static void main(String[] args) throws Exception {
        TaskCpuTest test = new TaskCpuTest();
        test.measure();
        Files.writeString(Path.of(args[0]), test.text);
        System.out.println(test.text);
    }

    private void measure() throws Exception {
        append(
                "# CPU time of Spark tasks%n%nSpark 4.0.1 on `local[2]`; JDK %s; kernel %s; %d processors; load average"
                        + " %.1f before the test. Medians of %d jobs of %d tasks each. The first three columns of"
                        + " figures are sums over the tasks in seconds, `kernel` is the clocks of all threads that"
                        + " worked for them, and `process` is the whole JVM's.%n%n",
                System.getProperty("java.runtime.version"),
                System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                SYSTEM.getSystemLoadAverage(),
                REPETITIONS,
                TASKS);
        append(
                "| machine | threads of a task | `executorRunTime` | `executorCpuTime` | `CpuAccount` | kernel | process |"
                        + " `executorRunTime` / kernel | `executorCpuTime` / kernel | `CpuAccount` / kernel |%n"
                        + "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|%n");
        try (JavaSparkContext spark = spark(true)) {
            for (int i = 0; i < 3; i++) run(spark, new Work("warm-up", 200, 2, 200));
            measure(spark, "no busy processes");
            List<Process> busy = new ArrayList<>();
            try {
                for (int i = 0; i < 4; i++) {
                    busy.add(new ProcessBuilder("sh", "-c", "while :; do :; done").start());
                }
                measure(spark, "four busy processes");
            } finally {
                busy.forEach(Process::destroy);
            }
        }
        measureCost();
    }

    private static JavaSparkContext spark(boolean hasPlugin) {
        SparkConf configuration = new SparkConf()
                .setMaster("local[2]")
                .setAppName("taskclock")
                .set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1");
        if (hasPlugin) configuration.set("spark.plugins", TaskCpu.class.getName());
        return new JavaSparkContext(configuration);
    }

    private void measure(JavaSparkContext spark, String machine) throws InterruptedException {
        for (Work work : List.of(
                new Work("its own", 600, 0, 0),
                new Work("its own and 2 more", 200, 2, 200),
                new Work("4 more, while its own waits", 0, 4, 150))) {
            List<Job> jobs = new ArrayList<>();
            for (int i = 0; i < REPETITIONS; i++) jobs.add(run(spark, work));
            append(
                    "| %s | %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.3f | %.3f |%n",
                    machine,
                    work.threads,
                    median(jobs, Job::run),
                    median(jobs, Job::cpu),
                    median(jobs, Job::account),
                    median(jobs, Job::kernel),
                    median(jobs, Job::process),
                    median(jobs, job -> job.run / job.kernel),
                    median(jobs, job -> job.cpu / job.kernel),
                    median(jobs, job -> job.account / job.kernel));
        }
    }

    private Job run(JavaSparkContext spark, Work work) throws InterruptedException {
        int own = work.ownSieves;
        int threads = work.otherThreads;
        int perThread = work.sievesPerThread;
        TaskWork.KERNEL_NANOS.set(0);
        Sums job = new Sums();
        spark.sc().addSparkListener(job);
        spark.setJobGroup(work.threads, work.threads);
        CpuAccount account = TaskCpu.JOBS.of(work.threads);
        long accountNanos = account.cpuNanos();
        long process = SYSTEM.getProcessCpuTime();
        spark.parallelize(Collections.nCopies(TASKS, 1), TASKS)
                .map(ignored -> TaskWork.run(own, threads, perThread))
                .collect();
        if (!job.tasks.await(1, TimeUnit.MINUTES)) throw new IllegalStateException("tasks without figures");
        process = SYSTEM.getProcessCpuTime() - process;
        accountNanos = account.cpuNanos() - accountNanos;
        spark.sc().removeSparkListener(job);
        return new Job(
                job.runNanos.get() / 1e9,
                job.cpuNanos.get() / 1e9,
                accountNanos / 1e9,
                TaskWork.KERNEL_NANOS.get() / 1e9,
                process / 1e9);
    }

    /** Compares jobs of empty tasks with and without the plugin, in several contexts of each kind. */
    private void measureCost() {
        List<double[]> with = new ArrayList<>();
        List<double[]> without = new ArrayList<>();
        for (int round = 0; round <= REPETITIONS; round++) {
            boolean isWarmUp = round == 0;
            double[] first = emptyTasks(round % 2 == 0);
            double[] second = emptyTasks(round % 2 != 0);
            if (isWarmUp) continue;
            with.add(round % 2 == 0 ? first : second);
            without.add(round % 2 == 0 ? second : first);
        }
        append(
                "%nWhat a task without work costs, medians of %d contexts in turns, each with %d jobs of %d tasks:%n%n"
                        + "| plugin | elapsed, us/task | CPU time of the JVM, us/task |%n|---|---:|---:|%n",
                REPETITIONS, EMPTY_JOBS, EMPTY_TASKS);
        append("| no | %.0f | %.0f |%n", median(without, each -> each[0]), median(without, each -> each[1]));
        append("| yes | %.0f | %.0f |%n", median(with, each -> each[0]), median(with, each -> each[1]));
        double[] ratios = new double[REPETITIONS];
        for (int i = 0; i < REPETITIONS; i++) ratios[i] = with.get(i)[1] / without.get(i)[1];
        Arrays.sort(ratios);
        append(
                "%nCPU time with the plugin relative to without, by pairs of contexts: median %.3f, from %.3f to %.3f.%n",
                ratios[REPETITIONS / 2], ratios[0], ratios[REPETITIONS - 1]);
        append("The load average after the test was %.1f.%n", SYSTEM.getSystemLoadAverage());
    }

    /** Returns elapsed time and CPU time per task, in microseconds. */
    private static double[] emptyTasks(boolean hasPlugin) {
        try (JavaSparkContext spark = spark(hasPlugin)) {
            for (int i = 0; i < 2; i++) runEmptyTasks(spark);
            long start = System.nanoTime();
            long process = SYSTEM.getProcessCpuTime();
            for (int i = 0; i < EMPTY_JOBS; i++) runEmptyTasks(spark);
            double tasks = 1e3 * EMPTY_JOBS * EMPTY_TASKS;
            return new double[] {(System.nanoTime() - start) / tasks, (SYSTEM.getProcessCpuTime() - process) / tasks};
        }
    }

    private static void runEmptyTasks(JavaSparkContext spark) {
        spark.parallelize(Collections.nCopies(EMPTY_TASKS, 1), EMPTY_TASKS).count();
    }

    private static <T> double median(List<T> values, ToDoubleFunction<T> value) {
        double[] sorted = values.stream().mapToDouble(value).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private void append(String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments));
    }
}
