// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import com.google.gson.GsonBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import one.profiler.AsyncProfiler;
import org.taskclock.ClockStatus;
import org.taskclock.TaskClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Compares TaskClock with the kernel's {@code CLOCK_THREAD_CPUTIME_ID} on threads that are preempted, asleep, blocked,
 * moved between processors, interrupted by signals, short-lived, or stopped by garbage collections, and reports the
 * errors. Half of the time, all kinds of threads run at once; the rest of the time, they take turns. A profiler is
 * switched on and off during the run.
 */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        description = "Compare TaskClock with the kernel's clock on threads that are disturbed in many ways.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:a reading violated the contract, or a disturbance did not occur",
            "2:usage error"
        })
public final class ClockSoak extends MeasuringProgram {
    private static final long WARM_UP_NANOS = 1_000_000_000;
    private static final int MAX_SHOWN = 5;
    private static final List<String> PROFILES =
            List.of("start,event=itimer,interval=1ms", "start,event=ctimer,interval=1ms");

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "600",
            description = "Run for N seconds (default: 600).")
    private double seconds;

    @Option(names = "--json", description = "Print only the results, as JSON.")
    private boolean json;

    private final List<String> wrong = new ArrayList<>();
    private long wrongs;

    private ClockSoak() {}

    /**
     * The result of a soak test.
     *
     * @param where describes JDK, backend, and machine
     * @param errors by kind of disturbance, and the total as the last element
     * @param disturbances the number of each disturbance
     * @param stolenMillis processor time taken by the hypervisor
     * @param wrongs the number of readings that violated the contract
     * @param wrong describes the first violations
     */
    record Result(
            String where,
            double seconds,
            List<ReadingErrors.Summary> errors,
            Map<String, Long> disturbances,
            long stolenMillis,
            long wrongs,
            List<String> wrong) {
        boolean isGood() {
            return wrongs == 0 && missing().isEmpty();
        }

        List<String> missing() {
            return disturbances.keySet().stream()
                    .filter(name -> disturbances.get(name) <= 0)
                    .toList();
        }
    }

    public static void main(String[] args) {
        new ClockSoak().run(args);
    }

    @Override
    public Integer call() throws Exception {
        requireNativeLibrary("soak");
        Result result = compareAll();
        if (json) {
            System.out.println(new GsonBuilder().setPrettyPrinting().create().toJson(result));
        } else {
            System.out.print(ClockSoakReport.text(result, markdown));
        }
        return result.isGood() ? 0 : 1;
    }

    static Result run(double seconds) throws Exception {
        ClockSoak soak = new ClockSoak();
        soak.seconds = seconds;
        return soak.compareAll();
    }

    private Result compareAll() throws Exception {
        Disturbance.Counts counts = new Disturbance.Counts();
        Map<String, Long> before = count(counts);
        long stolen = stolenMillis();
        SplittableRandom random = new SplittableRandom();
        long recordFrom = System.nanoTime() + WARM_UP_NANOS;
        long end = recordFrom + (long) (seconds * 1e9);
        Map<Disturbance, ReadingErrors> errors = new EnumMap<>(Disturbance.class);
        List<FutureTask<Void>> tasks = new ArrayList<>();
        int kinds = Disturbance.values().length;
        for (Disturbance kind : Disturbance.values()) {
            int index = errors.size();
            ReadingErrors ofKind = new ReadingErrors();
            errors.put(kind, ofKind);
            for (int i = 0; i < kind.threads(counts.processors); i++) {
                ReadingValidator validator = new ReadingValidator(kind.toString(), this::violated);
                ReadingComparator comparator =
                        new ReadingComparator(validator, random.split(), index, kinds, recordFrom, end);
                FutureTask<Void> task = new FutureTask<>(() -> {
                    kind.run(comparator, counts);
                    synchronized (ofKind) {
                        ofKind.add(validator.errors());
                    }
                    return null;
                });
                tasks.add(task);
                new Thread(task, kind.toString()).start();
            }
        }
        long samples = profile(end);
        for (FutureTask<Void> task : tasks) task.get();

        Map<String, Long> disturbances = count(counts);
        before.forEach((name, count) -> disturbances.merge(name, -count, Long::sum));
        disturbances.put("profiler's samples", samples);
        stolen = stolenMillis() - stolen;
        List<ReadingErrors.Summary> summaries = new ArrayList<>();
        ReadingErrors all = new ReadingErrors();
        errors.forEach((kind, ofKind) -> {
            summaries.add(ofKind.summary(kind.toString()));
            all.add(ofKind);
        });
        summaries.add(all.summary("all"));
        synchronized (this) {
            return new Result(environment(), seconds, summaries, disturbances, stolen, wrongs, List.copyOf(wrong));
        }
    }

    private static String environment() {
        ClockStatus status = TaskClock.status();
        return Goal.format(
                "JDK %s, backend %s by %s, Linux %s, %s, %d processors",
                Runtime.version(),
                status.backend(),
                status.binding(),
                System.getProperty("os.version"),
                status.libc(),
                Runtime.getRuntime().availableProcessors());
    }

    private synchronized void violated(String violation) {
        if (++wrongs > MAX_SHOWN) return;
        wrong.add(violation);
        System.err.println("taskclock: soak: WRONG: " + violation);
    }

    private static Map<String, Long> count(Disturbance.Counts counts) {
        Map<String, Long> all = new LinkedHashMap<>();
        all.put("preemptions", NativeDisturbance.preemptions());
        all.put("times blocked", NativeDisturbance.blocks());
        all.put("migrations", counts.migrations.sum());
        all.put("timers' signals", NativeDisturbance.signals());
        all.put("short threads", counts.threads.sum());
        long collections = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans())
            collections += collector.getCollectionCount();
        all.put("collections", collections);
        return all;
    }

    /**
     * Returns the stolen time of all processors since the system started: the eighth figure of the first line, in units
     * of 10 ms (proc_stat(5)).
     */
    private static long stolenMillis() throws IOException {
        try (BufferedReader stat = Files.newBufferedReader(Path.of("/proc/stat"))) {
            return 10 * Long.parseLong(stat.readLine().split(" +", -1)[8]);
        }
    }

    /**
     * Profiles with each of two events for a quarter of the time, so that SIGPROF interrupts any thread, and pauses for
     * the other half.
     */
    private static long profile(long end) throws IOException, InterruptedException {
        AsyncProfiler profiler = AsyncProfiler.getInstance();
        long period = Math.min((end - System.nanoTime()) / 4, 5_000_000_000L);
        long samples = 0;
        for (int i = 0; end - System.nanoTime() >= 2 * period; i++) {
            profiler.execute(PROFILES.get(i % PROFILES.size()));
            Thread.sleep(period / 1_000_000);
            profiler.stop();
            samples += profiler.getSamples();
            Thread.sleep(period / 1_000_000);
        }
        return samples;
    }
}
