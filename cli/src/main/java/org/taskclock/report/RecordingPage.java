// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;

/** What {@code taskclock record} wrote, as results that a page can hold: one for each process. */
public final class RecordingPage {
    static final String KIND = "recording";

    private static final int POOLS_DRAWN = 10;
    private static final int THREADS_LISTED = 200;
    private static final String PERCENT = "% of a core";

    private final Recorded recorded;

    private final Map<String, String> machine;
    private final List<String> notes;

    private RecordingPage(Recorded recorded, Map<String, String> machine, List<String> notes) {
        this.recorded = recorded;
        this.machine = machine;
        this.notes = notes;
    }

    /**
     * Reads the frames once; what it keeps of them does not grow with their number.
     *
     * @param machine facts of the machine on which they were recorded
     * @param notes what else is to be known of the recording, as what of it could not be read
     */
    public static List<Result> results(Iterable<Frame> frames, Map<String, String> machine, List<String> notes) {
        Map<Integer, Recorded> processes = new LinkedHashMap<>();
        for (Frame frame : frames) {
            // Nothing can be said of an interval without length.
            if (frame.intervalNanos() <= 0) continue;
            processes.computeIfAbsent(frame.pid(), pid -> new Recorded()).add(frame);
        }
        return processes.values().stream()
                .map(recorded -> new RecordingPage(recorded, machine, notes).result())
                .toList();
    }

    private Result result() {
        return new Result(
                Result.FORMAT,
                KIND,
                recorded.name + ", pid " + recorded.pid,
                recorded.start.toString(),
                recorded.end.toString(),
                true,
                List.of(),
                facts(),
                List.of(),
                method(),
                recorded.diagnosed.findings(recorded.frames),
                tables(),
                List.of(),
                List.of(),
                timelines(),
                List.of(),
                Map.of());
    }

    private Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("process", recorded.name + ", pid " + recorded.pid);
        facts.put("figures from", String.join(", ", recorded.sources));
        facts.put(
                "frames",
                String.format(
                        Locale.ROOT,
                        "%,d of %.3g s on average",
                        recorded.frames,
                        recorded.seconds() / recorded.frames));
        facts.put("processors", String.valueOf(recorded.processors));
        facts.put(
                "container's limit",
                recorded.cores > 0 ? Numbers.format(recorded.cores) + " processors" : "none known");
        if (recorded.throttledNanos > 0)
            facts.put("throttled for", Numbers.format(recorded.throttledNanos / 1e9) + " s");
        facts.putAll(machine);
        facts.put("taskclock itself", Numbers.format(recorded.percent(recorded.ownNanos)) + " " + PERCENT);
        return facts;
    }

    private List<String> method() {
        List<String> method = new ArrayList<>();
        method.add("100 % is one processor in use for the whole time. "
                + (recorded.framesPerBucket == 1
                        ? "Each point is one frame of the recording."
                        : "Each point is the mean of " + recorded.framesPerBucket
                                + " frames; peaks in tables are those of single frames."));
        method.add("The time of virtual threads is in that of the threads that carry them, and not added to it.");
        method.addAll(recorded.notes);
        method.addAll(notes);
        return method;
    }

    private List<Result.Timeline> timelines() {
        List<Result.Timeline> timelines = new ArrayList<>();
        timelines.add(new Result.Timeline(
                "CPU by pool",
                "User and system time of the threads of each pool.",
                PERCENT,
                true,
                pools(pool -> !pool.isVirtual())));
        if (!recorded.diagnoses.isEmpty()) {
            List<Result.Series> diagnoses = new ArrayList<>();
            for (String kind : recorded.diagnoses) {
                diagnoses.add(series(kind, bucket -> 100.0 * bucket.diagnosed.getOrDefault(kind, 0) / bucket.frames));
            }
            timelines.add(new Result.Timeline("When diagnoses held", "", "% of the time", false, diagnoses));
        }
        List<Result.Series> virtual = pools(Recorded.Pool::isVirtual);
        if (!virtual.isEmpty()) {
            timelines.add(new Result.Timeline(
                    "CPU of virtual threads", "By name, with numbers as #.", PERCENT, true, virtual));
        }
        List<Result.Series> whole = new ArrayList<>();
        whole.add(part("process", bucket -> bucket.processNanos));
        if (recorded.containerKnown) whole.add(part("container", bucket -> bucket.containerNanos));
        whole.add(part("machine", bucket -> bucket.machineNanos));
        if (recorded.throttledNanos > 0) whole.add(part("throttled", bucket -> bucket.throttledNanos));
        timelines.add(new Result.Timeline("Process, container and machine", "", PERCENT, false, whole));
        return timelines;
    }

    private Result.Series part(String name, ToLongFunction<Recorded.Bucket> nanos) {
        return series(name, bucket -> 100.0 * nanos.applyAsLong(bucket) / bucket.intervalNanos);
    }

    private Result.Series series(String name, ToDoubleFunction<Recorded.Bucket> percent) {
        List<double[]> points = new ArrayList<>();
        for (Recorded.Bucket bucket : recorded.buckets) {
            double seconds = Math.round(recorded.secondsAt(bucket) * 1000) / 1000.0;
            points.add(new double[] {seconds, hundredths(percent.applyAsDouble(bucket))});
        }
        return new Result.Series(name, false, points);
    }

    /** The pools with the most CPU time, each as user and system; the others as one. */
    private List<Result.Series> pools(Predicate<Recorded.Pool> kind) {
        List<Recorded.Pool> pools = recorded.pools.values().stream()
                .filter(kind)
                .filter(pool -> pool.cpuNanos > 0)
                .sorted(Comparator.comparingLong((Recorded.Pool pool) -> -pool.cpuNanos))
                .toList();
        List<Result.Series> series = new ArrayList<>();
        int drawn = pools.size() <= POOLS_DRAWN + 1 ? pools.size() : POOLS_DRAWN;
        for (Recorded.Pool pool : pools.subList(0, drawn)) add(series, pool.name, List.of(pool));
        if (drawn < pools.size()) {
            List<Recorded.Pool> others = pools.subList(drawn, pools.size());
            add(series, others.size() + " other pools", others);
        }
        return series;
    }

    private void add(List<Result.Series> series, String name, List<Recorded.Pool> pools) {
        Result.Series unsplit = part(name + " cpu", bucket -> sum(bucket, pools, Recorded.UNSPLIT));
        series.add(part(name + " user", bucket -> sum(bucket, pools, Recorded.USER)));
        series.add(part(name + " system", bucket -> sum(bucket, pools, Recorded.SYSTEM)));
        if (unsplit.points().stream().anyMatch(point -> point[1] > 0)) series.add(unsplit);
    }

    private static long sum(Recorded.Bucket bucket, List<Recorded.Pool> pools, int part) {
        long nanos = 0;
        for (Recorded.Pool pool : pools) {
            long[] parts = bucket.byPool.get(pool.key);
            if (parts != null) nanos += parts[part];
        }
        return nanos;
    }

    private List<Result.Table> tables() {
        List<List<Object>> pools = new ArrayList<>();
        recorded.pools.values().stream()
                .sorted(Comparator.comparingLong((Recorded.Pool pool) -> -pool.cpuNanos))
                .forEach(pool -> pools.add(cells(pool, pool.name, pool.kind, pool.mostThreads)));
        List<List<Object>> threads = new ArrayList<>();
        recorded.threads.values().stream()
                .sorted(Comparator.comparingLong((Recorded.Used thread) -> -thread.cpuNanos))
                .limit(THREADS_LISTED)
                .forEach(thread -> threads.add(cells(thread, thread.name, thread.kind, thread.tid)));
        String most = recorded.threadsSeen > threads.size()
                ? String.format(
                        Locale.ROOT,
                        "The %d with the most CPU time, of %,d seen.",
                        threads.size(),
                        recorded.threadsSeen)
                : "";
        return List.of(
                new Result.Table("Pools", "", columns("pool", "most threads at once"), pools),
                new Result.Table("Threads", most, columns("thread", "tid"), threads));
    }

    private static List<Result.Column> columns(String name, String number) {
        return List.of(
                new Result.Column(name, ""),
                new Result.Column("kind", ""),
                new Result.Column(number, ""),
                new Result.Column("cpu", "s"),
                new Result.Column("user", "s"),
                new Result.Column("system", "s"),
                new Result.Column("mean", "%"),
                new Result.Column("peak", "%"),
                new Result.Column("wait", "s"),
                new Result.Column("voluntary", "/s"),
                new Result.Column("involuntary", "/s"));
    }

    private List<Object> cells(Recorded.Used used, String name, Row.Kind kind, int number) {
        List<Object> cells = new ArrayList<>();
        cells.add(name);
        cells.add(kind.name().toLowerCase(Locale.ROOT));
        cells.add(number == 0 ? null : number);
        cells.add(seconds(used.cpuNanos));
        cells.add(used.splitKnown ? seconds(used.userNanos) : null);
        cells.add(used.splitKnown ? seconds(used.cpuNanos - used.userNanos) : null);
        cells.add(hundredths(recorded.percent(used.cpuNanos)));
        cells.add(hundredths(used.peakPercent));
        cells.add(used.waitKnown ? seconds(used.waitNanos) : null);
        cells.add(used.switchesKnown ? hundredths(used.voluntary / recorded.seconds()) : null);
        cells.add(used.switchesKnown ? hundredths(used.involuntary / recorded.seconds()) : null);
        return cells;
    }

    private static double seconds(long nanos) {
        return Math.round(nanos / 1e6) / 1e3;
    }

    private static double hundredths(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
