// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.Gson;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import org.taskclock.ClockStatus;
import org.taskclock.CpuTime;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Measures the errors of user and system time, on workloads whose bursts are timed precisely. */
@Command(
        name = "accuracy",
        mixinStandardHelpOptions = true,
        description = "Measure the errors of user and system time, on workloads whose bursts are timed precisely.")
public final class AccuracyBenchmark extends MeasuringProgram {
    private static final long WARM_UP_NANOS = 200_000_000;
    /** Readers that compute system time as cpu - user. */
    public static final List<SplitReader> SAMPLED = List.of(SplitReader.STOCK, SplitReader.VIRT, SplitReader.TASKCLOCK);

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "1",
            description = "Run each workload for N seconds (default: 1).")
    private double seconds;

    @Option(names = "--json", description = "Print only the results, as JSON.")
    private boolean json;

    private KernelTicks ticks;

    private AccuracyBenchmark() {}

    public static void main(String[] args) {
        new AccuracyBenchmark().run(args);
    }

    @Override
    public Integer call() throws IOException {
        ClockStatus status = requireNativeLibrary("accuracy");
        ticks = new KernelTicks();
        Gson gson = new Gson();
        Consumer<AccuracyResult> each = json ? result -> System.out.println(gson.toJson(result)) : result -> {};
        List<AccuracyResult> results = runAll((long) (seconds * 1e9), each);
        if (!json) System.out.print(AccuracyReport.text(results, status, markdown));
        return 0;
    }

    private List<AccuracyResult> runAll(long nanos, Consumer<AccuracyResult> each) throws IOException {
        try (FileChannel zeros = FileChannel.open(Path.of("/dev/zero"))) {
            // Warm up first: in a system burst, time in the interpreter would be counted as kernel time.
            for (Workload workload : Workload.values()) run(workload, zeros, WARM_UP_NANOS);
            List<AccuracyResult> results = new ArrayList<>();
            for (Workload workload : Workload.values()) {
                results.add(run(workload, zeros, nanos));
                each.accept(results.get(results.size() - 1));
            }
            return results;
        }
    }

    private AccuracyResult run(Workload workload, FileChannel zeros, long nanos) {
        AccuracyResult result = new AccuracyResult(workload);
        Runnable sampler = workload.isOfProcess() ? () -> {} : () -> SAMPLED.forEach(result::sample);
        MeasuredBursts bursts = new MeasuredBursts(zeros, sampler);
        Runnable round = () -> {
            bursts.start();
            workload.round(bursts, ticks);
        };
        if (workload.isOfProcess()) {
            repeat(() -> onFreshThread(round), nanos, result);
        } else {
            onFreshThread(() -> repeat(round, nanos, result));
        }
        result.userNanos = bursts.userNanos();
        result.systemNanos = bursts.systemNanos();
        return result;
    }

    private static void repeat(Runnable round, long nanos, AccuracyResult result) {
        Map<SplitReader, CpuTime> start = new EnumMap<>(SplitReader.class);
        for (SplitReader reader : SplitReader.values()) start.put(reader, reader.read(result.workload));
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) round.run();
        for (SplitReader reader : SplitReader.values()) {
            CpuTime spent = reader.read(result.workload).minus(start.get(reader));
            result.readings.put(reader, spent);
        }
        result.cpuNanos = result.readings.get(SplitReader.TASKCLOCK).cpuNanos();
    }

    private static void onFreshThread(Runnable work) {
        FutureTask<Void> task = new FutureTask<>(work, null);
        new Thread(task, "workload").start();
        try {
            task.get();
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
