// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingHistory;
import org.taskclock.monitor.sampling.Interval;

/** Converts a recording to results that {@link ReportPage} can render, one for each process. */
public final class RecordingResults {
    static final String KIND = "recording";

    private static final int MAX_POOLS_DRAWN = 10;
    private static final int MAX_THREADS_LISTED = 200;
    private static final String PERCENT = "% of a core";

    private final RecordingSummary summary;
    private final Map<String, String> machine;
    private final List<String> notes;
    private final ZoneId zone;

    private RecordingResults(RecordingSummary summary, Map<String, String> machine, List<String> notes, ZoneId zone) {
        this.zone = zone;
        this.summary = summary;
        this.machine = machine;
        this.notes = notes;
    }

    /**
     * Returns a result for each process. Reads the intervals once. The memory it needs does not grow with their number.
     *
     * @param machine properties of the machine on which they were recorded
     * @param notes remarks about the recording, such as damaged parts
     * @param zone the time zone of the times in texts
     */
    public static List<Result> of(
            Iterable<Interval> intervals, Map<String, String> machine, List<String> notes, ZoneId zone) {
        Map<Integer, RecordingSummary> processes = new LinkedHashMap<>();
        for (Interval interval : intervals) {
            if (interval.intervalNanos() <= 0) continue; // rates would be infinite
            processes
                    .computeIfAbsent(interval.pid(), pid -> new RecordingSummary())
                    .add(interval);
        }
        return processes.values().stream()
                .map(summary -> new RecordingResults(summary, machine, notes, zone).result())
                .toList();
    }

    private Result result() {
        WallClock clock = new WallClock(zone);
        return new Result(
                Result.FORMAT,
                KIND,
                summary.name + ", pid " + summary.pid,
                summary.start.toString(),
                summary.end.toString(),
                true,
                List.of(),
                properties(),
                List.of(),
                List.of(),
                method(),
                summary.findings.entries().stream()
                        .map(entry -> finding(entry, clock))
                        .toList(),
                tables(),
                List.of(),
                List.of(),
                timelines(),
                heatmaps(),
                List.of(),
                Map.of());
    }

    private Result.Finding finding(FindingHistory.Entry entry, WallClock clock) {
        String when = entry.periods(time -> clock.timeWithin(summary.start, summary.end, time)) + " (" + clock.zone()
                + "), in " + entry.intervals() + " of " + summary.intervals + " intervals";
        Finding last = entry.last();
        return new Result.Finding(last.text(), when, last.kind().id(), String.join("\n", last.evidence()));
    }

    private Map<String, String> properties() {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("process", summary.name + ", pid " + summary.pid);
        properties.put("source", String.join(", ", summary.sources));
        properties.put(
                "intervals",
                String.format(
                        Locale.ROOT,
                        "%,d of %.3g s on average",
                        summary.intervals,
                        summary.seconds() / summary.intervals));
        properties.put("processors", String.valueOf(summary.processors));
        properties.put(
                "container limit",
                summary.cores > 0 ? NumberFormatter.format(summary.cores) + " processors" : "none or unknown");
        if (summary.throttledNanos > 0)
            properties.put(
                    "throttled", NumberFormatter.format(summary.percent(summary.throttledNanos)) + " % of the time");
        properties.putAll(machine);
        properties.put("taskclock itself", NumberFormatter.format(summary.percent(summary.ownNanos)) + " " + PERCENT);
        return properties;
    }

    private List<String> method() {
        List<String> method = new ArrayList<>();
        method.add("100 % is one fully used processor. "
                + (summary.intervalsPerBucket == 1
                        ? "Each point is one interval of the recording."
                        : "Each point is the mean of " + summary.intervalsPerBucket
                                + " intervals; peaks in tables are those of single intervals."));
        method.add("The CPU time of virtual threads is part of the CPU time of their carriers and is not added to it.");
        method.addAll(summary.notes);
        method.addAll(notes);
        return method;
    }

    private List<Result.Timeline> timelines() {
        List<Result.Timeline> timelines = new ArrayList<>();
        timelines.add(new Result.Timeline(
                "CPU by pool",
                "User and system time of each thread pool.",
                PERCENT,
                true,
                pools(pool -> !pool.isVirtual())));
        if (!summary.findingKinds.isEmpty()) {
            List<Result.Series> findings = new ArrayList<>();
            for (String kind : summary.findingKinds) {
                findings.add(series(
                        kind, bucket -> 100.0 * bucket.intervalsByKind.getOrDefault(kind, 0) / bucket.intervals));
            }
            timelines.add(new Result.Timeline("Findings over time", "", "% of the time", false, findings));
        }
        List<Result.Series> virtual = pools(RecordingSummary.Pool::isVirtual);
        if (!virtual.isEmpty()) {
            timelines.add(new Result.Timeline(
                    "CPU of virtual threads", "By name, with each number replaced with #.", PERCENT, true, virtual));
        }
        List<Result.Series> totals = new ArrayList<>();
        totals.add(part("process", bucket -> bucket.processNanos));
        if (summary.containerKnown) totals.add(part("container", bucket -> bucket.containerNanos));
        totals.add(part("machine", bucket -> bucket.machineNanos));
        if (summary.throttledNanos > 0) totals.add(part("throttled", bucket -> bucket.throttledNanos));
        timelines.add(new Result.Timeline("Process, container, and machine", "", PERCENT, false, totals));
        return timelines;
    }

    private List<Result.Heatmap> heatmaps() {
        Result.Heatmap heatmap = summary.heatmap.heatmap(summary.threads.values(), summary.threadsSeen);
        return heatmap == null ? List.of() : List.of(heatmap);
    }

    private Result.Series part(String name, ToLongFunction<RecordingSummary.Bucket> nanos) {
        return series(name, bucket -> 100.0 * nanos.applyAsLong(bucket) / bucket.intervalNanos);
    }

    private Result.Series series(String name, ToDoubleFunction<RecordingSummary.Bucket> percent) {
        List<double[]> points = new ArrayList<>();
        for (RecordingSummary.Bucket bucket : summary.buckets) {
            double seconds = Math.round(summary.secondsAt(bucket) * 1000) / 1000.0;
            points.add(new double[] {seconds, hundredths(percent.applyAsDouble(bucket))});
        }
        return new Result.Series(name, false, points);
    }

    /** Returns the user and system time of the pools with the most CPU time, and of all other pools together. */
    private List<Result.Series> pools(Predicate<RecordingSummary.Pool> condition) {
        List<RecordingSummary.Pool> pools = summary.pools.values().stream()
                .filter(condition)
                .filter(pool -> pool.cpuNanos > 0)
                .sorted(Comparator.comparingLong((RecordingSummary.Pool pool) -> -pool.cpuNanos))
                .toList();
        List<Result.Series> series = new ArrayList<>();
        int drawn = pools.size() <= MAX_POOLS_DRAWN + 1 ? pools.size() : MAX_POOLS_DRAWN;
        for (RecordingSummary.Pool pool : pools.subList(0, drawn)) add(series, pool.name, List.of(pool));
        if (drawn < pools.size()) {
            List<RecordingSummary.Pool> others = pools.subList(drawn, pools.size());
            add(series, others.size() + " other pools", others);
        }
        return series;
    }

    private void add(List<Result.Series> series, String name, List<RecordingSummary.Pool> pools) {
        Result.Series unsplit = part(name + " cpu", bucket -> sum(bucket, pools, RecordingSummary.UNSPLIT));
        series.add(part(name + " user", bucket -> sum(bucket, pools, RecordingSummary.USER)));
        series.add(part(name + " system", bucket -> sum(bucket, pools, RecordingSummary.SYSTEM)));
        if (unsplit.points().stream().anyMatch(point -> point[1] > 0)) series.add(unsplit);
    }

    private static long sum(RecordingSummary.Bucket bucket, List<RecordingSummary.Pool> pools, int part) {
        long nanos = 0;
        for (RecordingSummary.Pool pool : pools) {
            long[] parts = bucket.byPool.get(pool.key);
            if (parts != null) nanos += parts[part];
        }
        return nanos;
    }

    private List<Result.Table> tables() {
        List<List<Object>> pools = new ArrayList<>();
        summary.pools.values().stream()
                .sorted(Comparator.comparingLong((RecordingSummary.Pool pool) -> -pool.cpuNanos))
                .forEach(pool -> pools.add(cells(pool, pool.name, pool.kind, pool.maxThreads)));
        List<List<Object>> threads = new ArrayList<>();
        summary.threads.values().stream()
                .sorted(Comparator.comparingLong((RecordingSummary.UsageSum thread) -> -thread.cpuNanos))
                .limit(MAX_THREADS_LISTED)
                .forEach(thread -> threads.add(cells(thread, thread.name, thread.kind, thread.tid)));
        String note = summary.threadsSeen > threads.size()
                ? String.format(
                        Locale.ROOT,
                        "The %d threads with the most CPU time, of %,d in total.",
                        threads.size(),
                        summary.threadsSeen)
                : "";
        return List.of(
                new Result.Table("Pools", "", columns("pool", "max. threads"), pools),
                new Result.Table("Threads", note, columns("thread", "tid"), threads));
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

    private List<Object> cells(RecordingSummary.UsageSum usage, String name, ThreadKind kind, int number) {
        List<Object> cells = new ArrayList<>();
        cells.add(name);
        cells.add(kind.name().toLowerCase(Locale.ROOT));
        cells.add(number == 0 ? null : number);
        cells.add(seconds(usage.cpuNanos));
        cells.add(usage.splitKnown ? seconds(usage.userNanos) : null);
        cells.add(usage.splitKnown ? seconds(usage.cpuNanos - usage.userNanos) : null);
        cells.add(hundredths(summary.percent(usage.cpuNanos)));
        cells.add(hundredths(usage.peakPercent));
        cells.add(usage.waitKnown ? seconds(usage.waitNanos) : null);
        cells.add(usage.switchesKnown ? hundredths(usage.voluntary / summary.seconds()) : null);
        cells.add(usage.switchesKnown ? hundredths(usage.involuntary / summary.seconds()) : null);
        return cells;
    }

    private static double seconds(long nanos) {
        return Math.round(nanos / 1e6) / 1e3;
    }

    private static double hundredths(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
