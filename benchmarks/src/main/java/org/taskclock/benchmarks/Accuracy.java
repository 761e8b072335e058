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
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/**
 * Compares what readers say of user and system time with the truth, on workloads whose bursts are measured one by one.
 * Arguments: {@code --seconds N} for each workload, {@code --markdown}, or {@code --json}
 * for one {@link Outcome} a line.
 */
public final class Accuracy {
    private static final long WARM_UP_NANOS = 200_000_000;
    /** Those that subtract. */
    public static final List<Reader> SAMPLED = List.of(Reader.STOCK, Reader.VIRT, Reader.TASKCLOCK);

    private final Ticks ticks = new Ticks();

    private Accuracy() {}

    public static void main(String[] args) throws IOException {
        List<String> options = new ArrayList<>(List.of(args));
        boolean markdown = options.remove("--markdown");
        boolean json = options.remove("--json");
        double seconds = 1;
        if (options.size() == 2 && options.get(0).equals("--seconds")) {
            seconds = Double.parseDouble(options.get(1));
            options.clear();
        }
        if (!options.isEmpty()) fail("arguments " + options + ": known are --seconds N, --markdown, --json");
        ClockStatus status = TaskClock.status();
        if (status.rung() == Rung.MXBEAN) fail("the native library is needed: see the verdicts " + status.rungs());

        Gson gson = new Gson();
        Consumer<Outcome> each = json ? outcome -> System.out.println(gson.toJson(outcome)) : outcome -> {};
        List<Outcome> outcomes = new Accuracy().runAll((long) (seconds * 1e9), each);
        if (!json) System.out.print(AccuracyReport.text(outcomes, status, markdown));
    }

    private static void fail(String message) {
        System.err.println("taskclock: accuracy: " + message);
        System.exit(2);
    }

    private List<Outcome> runAll(long nanos, Consumer<Outcome> each) throws IOException {
        try (FileChannel zeros = FileChannel.open(Path.of("/dev/zero"))) {
            // Compiled code first: the interpreter would be counted with the kernel in a system burst.
            for (Workload workload : Workload.values()) run(workload, zeros, WARM_UP_NANOS);
            List<Outcome> outcomes = new ArrayList<>();
            for (Workload workload : Workload.values()) {
                outcomes.add(run(workload, zeros, nanos));
                each.accept(outcomes.get(outcomes.size() - 1));
            }
            return outcomes;
        }
    }

    private Outcome run(Workload workload, FileChannel zeros, long nanos) {
        Outcome outcome = new Outcome(workload);
        Runnable sampler = workload.isOfProcess() ? () -> {} : () -> SAMPLED.forEach(outcome::sample);
        Bursts bursts = new Bursts(zeros, sampler);
        Runnable round = () -> {
            bursts.start();
            workload.round(bursts, ticks);
        };
        if (workload.isOfProcess()) {
            repeat(() -> onFreshThread(round), nanos, outcome);
        } else {
            onFreshThread(() -> repeat(round, nanos, outcome));
        }
        outcome.userNanos = bursts.userNanos();
        outcome.systemNanos = bursts.systemNanos();
        return outcome;
    }

    private static void repeat(Runnable round, long nanos, Outcome outcome) {
        Map<Reader, CpuTime> start = new EnumMap<>(Reader.class);
        for (Reader reader : Reader.values()) start.put(reader, reader.read(outcome.workload));
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) round.run();
        for (Reader reader : Reader.values()) {
            CpuTime spent = reader.read(outcome.workload).minus(start.get(reader));
            outcome.readings.put(reader, spent);
        }
        outcome.cpuNanos = outcome.readings.get(Reader.TASKCLOCK).cpuNanos();
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
