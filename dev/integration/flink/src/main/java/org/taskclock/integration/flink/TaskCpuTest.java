// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.flink;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Compares Flink's busy time of tasks with TaskClock's and the kernel's CPU time, and measures the cost of the
 * reporter: {@code TaskCpuTest FILE}.
 */
public final class TaskCpuTest {
    private static final long WARM_UP_MILLIS = 3_000;
    /** Flink adds an unfinished wait to its figures every 5 s. */
    private static final long WINDOW_MILLIS = 10_000;

    private static final double TOLERANCE = 0.02;
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private final StringBuilder text = new StringBuilder();
    private final List<String> failures = new ArrayList<>();

    /** Busy time of a task as Flink counts it, and its CPU time. */
    private record Figures(double busy, double account, double kernel, double nanoTime) {
        static Figures read(TestJob.Kind kind) {
            double busy = TaskFigures.read(kind.task, "accumulateBusyTimeMs") * 1e6;
            double account = TaskFigures.read(kind.task, "cpuNanos");
            return new Figures(busy, account, TaskWork.kernelNanos(kind.task), System.nanoTime());
        }

        /** Returns what the task used since the earlier reading, per second. */
        Figures perSecond(Figures from) {
            double elapsed = nanoTime - from.nanoTime;
            return new Figures(
                    (busy - from.busy) / elapsed,
                    (account - from.account) / elapsed,
                    (kernel - from.kernel) / elapsed,
                    elapsed);
        }
    }

    public static void main(String[] args) throws Exception {
        TaskCpuTest test = new TaskCpuTest();
        test.measure();
        Files.writeString(Path.of(args[0]), test.text);
        System.out.println(test.text);
        test.failures.forEach(failure -> System.err.println("TaskCpuTest: " + failure));
        System.exit(test.failures.isEmpty() ? 0 : 1);
    }

    private void measure() throws Exception {
        append(
                "# CPU time of Flink tasks%n%nFlink %s in one JVM; JDK %s; kernel %s; %d processors; load average %.1f"
                        + " before the test. Windows of %d s; all figures are seconds per second. `busy` is the increase of"
                        + " `accumulateBusyTimeMs`, which counts the same time as `busyTimeMsPerSecond`; the other"
                        + " figures are CPU time. `kernel` is the clocks of all threads that work for the task.%n%n",
                StreamExecutionEnvironment.class.getPackage().getImplementationVersion(),
                System.getProperty("java.runtime.version"),
                System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                SYSTEM.getSystemLoadAverage(),
                WINDOW_MILLIS / 1000);
        append("| machine | task | busy | `cpuNanos` | kernel | busy / kernel | `cpuNanos` / kernel |%n"
                + "|---|---|---:|---:|---:|---:|---:|%n");
        for (TestJob.Kind kind : TestJob.Kind.values()) run("no busy processes", kind);
        run("no busy processes, all tasks at once", TestJob.Kind.values());
        List<Process> busy = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                busy.add(new ProcessBuilder("timeout", "120", "sh", "-c", "while :; do :; done").start());
            }
            for (TestJob.Kind kind : TestJob.Kind.values()) run("four busy processes", kind);
        } finally {
            busy.forEach(Process::destroy);
        }
        text.append(TaskCpuCost.measure());
        append("%nThe load average after the test was %.1f.%n", SYSTEM.getSystemLoadAverage());
    }

    private void run(String machine, TestJob.Kind... kinds) throws Exception {
        JobClient job = TestJob.start(true, kinds);
        try {
            for (TestJob.Kind kind : kinds) awaitRunning(kind);
            Thread.sleep(WARM_UP_MILLIS);
            List<Figures> from = new ArrayList<>();
            for (TestJob.Kind kind : kinds) from.add(Figures.read(kind));
            Thread.sleep(WINDOW_MILLIS);
            for (int i = 0; i < kinds.length; i++) {
                add(machine, kinds[i], Figures.read(kinds[i]).perSecond(from.get(i)));
            }
        } finally {
            job.cancel().get(1, TimeUnit.MINUTES);
        }
        for (TestJob.Kind kind : kinds) {
            while (TaskFigures.read(kind.task, "cpuNanos") >= 0) Thread.sleep(20);
        }
    }

    private static void awaitRunning(TestJob.Kind kind) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
        // The gauge returns NaN until the task runs.
        while (!(TaskFigures.read(kind.task, "accumulateBusyTimeMs") >= 0)) {
            if (System.nanoTime() > deadline) throw new IllegalStateException(kind.task + ": does not start");
            Thread.sleep(20);
        }
    }

    private void add(String machine, TestJob.Kind kind, Figures figures) {
        double accountRatio = figures.account / figures.kernel;
        double busyRatio = figures.busy / figures.kernel;
        append(
                "| %s | %s | %.3f | %.3f | %.3f | %.3f | %.4f |%n",
                machine, kind.task, figures.busy, figures.account, figures.kernel, busyRatio, accountRatio);
        String task = machine + ", " + kind.task;
        check(Math.abs(accountRatio - 1) <= TOLERANCE, "%s: cpuNanos / kernel is %.4f", task, accountRatio);
        switch (kind) {
            case COMPUTES -> check(busyRatio >= 0.95, "%s: busy / kernel is %.3f", task, busyRatio);
            case WAITS -> check(busyRatio > 5, "%s: busy / kernel is %.3f", task, busyRatio);
            case ASYNC -> check(busyRatio < 0.5, "%s: busy / kernel is %.3f", task, busyRatio);
            case ASYNC_FULL -> {}
        }
    }

    private void check(boolean isRight, String format, Object... arguments) {
        if (!isRight) failures.add(String.format(Locale.ROOT, format, arguments));
    }

    private void append(String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments));
    }
}
