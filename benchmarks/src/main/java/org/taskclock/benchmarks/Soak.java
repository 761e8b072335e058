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
import org.taskclock.Rung;
import org.taskclock.TaskClock;

/**
 * Compares the clock with the kernel's, {@code CLOCK_THREAD_CPUTIME_ID}, on threads that are preempted, asleep, blocked,
 * moved between processors, hit by signals, short-lived, or stopped by garbage collections: half the time all at once, half
 * the time one kind after the other, with a profiler switched on and off meanwhile. Tells how far off readings were. Run it as
 *
 * <pre>java --enable-native-access=ALL-UNNAMED -cp benchmarks/target/benchmarks.jar org.taskclock.benchmarks.Soak</pre>
 *
 * <p>Arguments: {@code --seconds N} (600), {@code --markdown} or {@code --json}. Exit code 1 if a reading was wrong, not just
 * inexact, or if a disturbance did not take place; 2 for wrong usage.
 */
public final class Soak {
    private static final long WARM_UP_NANOS = 1_000_000_000;
    private static final int SHOWN = 5;
    private static final List<String> PROFILES =
            List.of("start,event=itimer,interval=1ms", "start,event=ctimer,interval=1ms");

    private final List<String> wrong = new ArrayList<>();
    private long wrongs;

    private Soak() {}

    /**
     * What a soak found.
     *
     * @param where JDK, rung and machine, in words
     * @param errors by kind of disturbance, and last of all of them
     * @param disturbances how often each took place
     * @param stolenMillis processor time that the hypervisor took away
     * @param wrongs how many readings were wrong
     * @param wrong what was wrong with the first of these
     */
    record Result(
            String where,
            double seconds,
            List<Errors.Summary> errors,
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

    public static void main(String[] args) throws Exception {
        List<String> options = new ArrayList<>(List.of(args));
        boolean markdown = options.remove("--markdown");
        boolean json = options.remove("--json");
        double seconds = 600;
        if (options.size() == 2 && options.get(0).equals("--seconds")) {
            seconds = Double.parseDouble(options.get(1));
            options.clear();
        }
        if (!options.isEmpty()) fail("arguments " + options + ": known are --seconds N, --markdown, --json");
        ClockStatus status = TaskClock.status();
        if (status.rung() == Rung.MXBEAN) fail("the native library is needed: see the verdicts " + status.rungs());

        Result result = run(seconds);
        if (json) {
            System.out.println(new GsonBuilder().setPrettyPrinting().create().toJson(result));
        } else {
            System.out.print(SoakReport.text(result, markdown));
        }
        System.exit(result.isGood() ? 0 : 1);
    }

    private static void fail(String message) {
        System.err.println("taskclock: soak: " + message);
        System.exit(2);
    }

    static Result run(double seconds) throws Exception {
        return new Soak().compareAll(seconds);
    }

    private Result compareAll(double seconds) throws Exception {
        Disturbance.Counts counts = new Disturbance.Counts();
        Map<String, Long> before = counted(counts);
        long stolen = stolenMillis();
        SplittableRandom random = new SplittableRandom();
        long recordFrom = System.nanoTime() + WARM_UP_NANOS;
        long end = recordFrom + (long) (seconds * 1e9);
        Map<Disturbance, Errors> errors = new EnumMap<>(Disturbance.class);
        List<FutureTask<Void>> tasks = new ArrayList<>();
        int turns = Disturbance.values().length;
        for (Disturbance kind : Disturbance.values()) {
            int turn = errors.size();
            Errors ofKind = new Errors();
            errors.put(kind, ofKind);
            for (int i = 0; i < kind.threads(counts.processors); i++) {
                Judge judge = new Judge(kind.toString(), this::wrong);
                Comparer comparer = new Comparer(judge, random.split(), turn, turns, recordFrom, end);
                FutureTask<Void> task = new FutureTask<>(() -> {
                    kind.live(comparer, counts);
                    synchronized (ofKind) {
                        ofKind.add(judge.errors());
                    }
                    return null;
                });
                tasks.add(task);
                new Thread(task, kind.toString()).start();
            }
        }
        long samples = profile(end);
        for (FutureTask<Void> task : tasks) task.get();

        Map<String, Long> disturbances = counted(counts);
        before.forEach((name, count) -> disturbances.merge(name, -count, Long::sum));
        disturbances.put("profiler's samples", samples);
        stolen = stolenMillis() - stolen;
        List<Errors.Summary> summaries = new ArrayList<>();
        Errors all = new Errors();
        errors.forEach((kind, ofKind) -> {
            summaries.add(ofKind.summary(kind.toString()));
            all.add(ofKind);
        });
        summaries.add(all.summary("all"));
        synchronized (this) {
            return new Result(where(), seconds, summaries, disturbances, stolen, wrongs, List.copyOf(wrong));
        }
    }

    private static String where() {
        ClockStatus status = TaskClock.status();
        return Goal.format(
                "JDK %s, rung %s by %s, Linux %s, %s, %d processors",
                Runtime.version(),
                status.rung(),
                status.binding(),
                System.getProperty("os.version"),
                status.libc(),
                Runtime.getRuntime().availableProcessors());
    }

    private synchronized void wrong(String what) {
        if (++wrongs > SHOWN) return;
        wrong.add(what);
        System.err.println("taskclock: soak: WRONG: " + what);
    }

    private static Map<String, Long> counted(Disturbance.Counts counts) {
        Map<String, Long> counted = new LinkedHashMap<>();
        counted.put("preemptions", Disturb.preemptions());
        counted.put("times blocked", Disturb.blocks());
        counted.put("migrations", counts.migrations.sum());
        counted.put("timers' signals", Disturb.signals());
        counted.put("short threads", counts.threads.sum());
        long collections = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans())
            collections += collector.getCollectionCount();
        counted.put("collections", collections);
        return counted;
    }

    /** Of all processors since the system started: the eighth figure, in steps of 10 ms (proc_stat(5)). */
    private static long stolenMillis() throws IOException {
        try (BufferedReader stat = Files.newBufferedReader(Path.of("/proc/stat"))) {
            return 10 * Long.parseLong(stat.readLine().split(" +", -1)[8]);
        }
    }

    /** Profiles, a quarter of the time in each way, so that SIGPROF hits any thread; half the time nothing does. */
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
