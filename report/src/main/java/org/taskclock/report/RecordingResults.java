// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.StreamSupport;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingHistory;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.RecordingSeries;
import org.taskclock.monitor.recording.SeriesJson;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.Json;

/** Converts a recording to results that {@link ReportPage} can render, one for each process. */
public final class RecordingResults {
    static final String KIND = "recording";

    private static final int MAX_POOLS_DRAWN = 10;
    private static final int MAX_THREADS_DRAWN = 40;
    private static final int MAX_THREADS_LISTED = 200;
    /** More points than a screen has. */
    private static final int MAX_POINTS = 1_000;

    /** The page draws it in gray. */
    private static final String OTHER_POOLS = "(other)";

    private static final String PERCENT = "% of a core";
    private static final String POOLS_TEXT = "User and system time of each thread pool. Drag to zoom in.";
    private static final String VIRTUAL_TEXT =
            "By name, with each number replaced with #. Without a known split, all time is user time.";

    private final RecordingSummary summary;
    private final RecordingSeries series;
    private final PoolSeries pools;
    private final AccountResults accounts;
    private final ThreadSeries threads;
    private final List<Evidence> evidence;
    private final Map<String, String> machine;
    private final List<String> notes;
    private final WallClock clock;

    private RecordingResults(
            Iterable<Interval> intervals,
            RecordingSummary summary,
            List<Evidence> evidence,
            Map<String, String> machine,
            List<String> notes,
            ZoneId zone) {
        clock = new WallClock(zone);
        this.summary = summary;
        Iterable<Interval> own = () -> StreamSupport.stream(intervals.spliterator(), false)
                .filter(interval -> interval.pid() == summary.pid && interval.intervalNanos() > 0)
                .iterator();
        series = new RecordingSeries(own, summary.start, summary.end, MAX_POINTS, MAX_THREADS_DRAWN);
        pools = series.pools();
        accounts = new AccountResults(pools);
        threads = threadsAndOthers();
        this.evidence = evidence;
        this.machine = machine;
        this.notes = notes;
    }

    /**
     * Returns a result for each process. The memory it needs does not grow with the number of intervals.
     *
     * @param evidence of findings
     * @param machine properties of the machine on which they were recorded
     * @param notes remarks about the recording, such as damaged parts
     * @param zone the time zone of the times in texts
     */
    public static List<Result> of(
            Iterable<Interval> intervals,
            List<Evidence> evidence,
            Map<String, String> machine,
            List<String> notes,
            ZoneId zone) {
        Map<Integer, RecordingSummary> processes = new LinkedHashMap<>();
        for (Interval interval : intervals) {
            if (interval.intervalNanos() <= 0) continue; // rates would be infinite
            processes
                    .computeIfAbsent(interval.pid(), pid -> new RecordingSummary())
                    .add(interval);
        }
        return processes.values().stream()
                .map(summary -> new RecordingResults(intervals, summary, evidence, machine, notes, zone).result())
                .toList();
    }

    private Result result() {
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
                json(),
                flameGraphs(),
                Map.of());
    }

    private List<Result.FlameGraph> flameGraphs() {
        List<Result.FlameGraph> graphs = new ArrayList<>();
        for (Evidence one : evidence) {
            String begin = clock.timeWithin(summary.start, summary.end, one.since());
            String stacks = one.files().getOrDefault(Evidence.PROFILE, "");
            graphs.add(new Result.FlameGraph(one.kind() + ", began at " + begin, one.text(), stacks));
        }
        return graphs;
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
        method.add("100 % is one fully used processor. Each point is the mean of "
                + NumberFormatter.format(pools.step().toNanos() / 1e9)
                + " s; peaks in tables are those of single intervals.");
        method.add("The CPU time of virtual threads is part of the CPU time of their carriers and is not added to it.");
        method.addAll(summary.notes);
        method.addAll(notes);
        return method;
    }

    private List<Result.Timeline> timelines() {
        List<Result.Timeline> timelines = new ArrayList<>();
        timelines.add(timeline("CPU by pool", POOLS_TEXT + threadsText(), largest(RecordingResults::isPool)));
        Map<String, long[]> found = series.foundNanos();
        if (!found.isEmpty()) {
            List<Result.Series> lines = new ArrayList<>();
            found.forEach((kind, nanos) -> lines.add(line(kind, nanos)));
            timelines.add(new Result.Timeline("Findings over time", "", "% of the time", false, lines));
        }
        List<PoolSeries.Row> virtual = largest(RecordingResults::isVirtual);
        if (!virtual.isEmpty()) timelines.add(timeline("CPU of virtual threads", VIRTUAL_TEXT, virtual));
        for (String type : accounts.types())
            timelines.add(
                    timeline(AccountResults.TITLE + type, AccountResults.TEXT, largest(AccountResults.areOf(type))));
        PoolSeries.Totals totals = pools.totals();
        List<Result.Series> lines = new ArrayList<>();
        lines.add(line("process", sum(totals.userNanos(), totals.systemNanos())));
        if (summary.containerKnown) lines.add(line("container", totals.containerNanos()));
        lines.add(line("machine", series.machineNanos()));
        if (summary.throttledNanos > 0) lines.add(line("throttled", totals.throttledNanos()));
        timelines.add(new Result.Timeline("Process, container, and machine", "", PERCENT, false, lines));
        return timelines;
    }

    /** Returns a timeline for the table below a chart. The chart itself shows {@link #json}. */
    private Result.Timeline timeline(String title, String text, List<PoolSeries.Row> rows) {
        List<Result.Series> lines = new ArrayList<>();
        for (PoolSeries.Row row : rows) {
            String name = row.isAccount() ? AccountKey.parse(row.pool()).name() : row.pool();
            lines.add(line(name + " user", row.userNanos()));
            lines.add(line(name + " system", row.systemNanos()));
        }
        return new Result.Timeline(title, text, PERCENT, true, lines);
    }

    private Result.Series line(String name, long[] nanos) {
        double seconds = pools.step().toNanos() / 1e9;
        List<double[]> points = new ArrayList<>();
        for (int i = 0; i < nanos.length; i++) {
            if (nanos[i] < 0) continue;
            double start = Math.round(i * seconds * 1000) / 1000.0;
            points.add(new double[] {start, hundredths(100 * nanos[i] / (seconds * 1e9))});
        }
        return new Result.Series(name, false, points);
    }

    private static long[] sum(long[] a, long[] b) {
        long[] sum = new long[a.length];
        for (int i = 0; i < sum.length; i++) sum[i] = a[i] < 0 && b[i] < 0 ? -1 : Math.max(0, a[i]) + Math.max(0, b[i]);
        return sum;
    }

    private static boolean isVirtual(PoolSeries.Row row) {
        return row.kind() == ThreadKind.VIRTUAL;
    }

    private static boolean isPool(PoolSeries.Row row) {
        return !isVirtual(row) && !row.isAccount();
    }

    /** Returns the rows with the most CPU time, and the sum of all others. */
    private List<PoolSeries.Row> largest(Predicate<PoolSeries.Row> isIncluded) {
        List<PoolSeries.Row> rows = new ArrayList<>(pools.pools().stream()
                .filter(row -> isIncluded.test(row) && row.cpuNanos() > 0)
                .toList());
        while (rows.size() > MAX_POOLS_DRAWN) {
            PoolSeries.Row a = rows.remove(rows.size() - 1);
            PoolSeries.Row b = rows.remove(rows.size() - 1);
            rows.add(new PoolSeries.Row(
                    a.isAccount() ? new AccountKey(AccountKey.parse(a.pool()).type(), OTHER_POOLS).pool() : OTHER_POOLS,
                    a.kind(),
                    new int[a.threads().length],
                    sum(a.userNanos(), b.userNanos()),
                    sum(a.systemNanos(), b.systemNanos()),
                    sum(a.waitNanos(), b.waitNanos())));
        }
        return rows;
    }

    /** Returns what the API of {@code taskclock serve} returns for a recording, for the same charts. */
    private Map<String, JsonElement> json() {
        List<PoolSeries.Row> rows = new ArrayList<>(largest(RecordingResults::isPool));
        rows.addAll(largest(RecordingResults::isVirtual));
        for (String type : accounts.types()) rows.addAll(largest(AccountResults.areOf(type)));
        PoolSeries drawn = new PoolSeries(pools.from(), pools.to(), pools.step(), pools.times(), rows, pools.totals());
        return Map.of(
                "pools", parsed(json -> SeriesJson.write(json, drawn, List.of())),
                "threads", parsed(json -> SeriesJson.write(json, threads)));
    }

    private static JsonElement parsed(Json.Value value) {
        return JsonParser.parseString(new String(Json.bytes(value), StandardCharsets.UTF_8));
    }

    /** Returns the busiest threads, and a row without an id with the CPU time of all others. */
    private ThreadSeries threadsAndOthers() {
        ThreadSeries shown = series.threads();
        long[] user = pools.totals().userNanos().clone();
        long[] system = pools.totals().systemNanos().clone();
        long others = summary.threadsSeen - shown.threads().size();
        for (ThreadSeries.Row row : shown.threads()) {
            for (int i = 0; i < user.length; i++) {
                if (user[i] < 0) continue;
                user[i] = Math.max(0, user[i] - Math.max(0, row.userNanos()[i]));
                system[i] = Math.max(0, system[i] - Math.max(0, row.systemNanos()[i]));
            }
        }
        String name = others <= 0 ? "other threads" : others == 1 ? "1 other thread" : "%,d other threads";
        ThreadSeries.Row row =
                new ThreadSeries.Row(0, String.format(Locale.ROOT, name, others), "", ThreadKind.NATIVE, user, system);
        if (others <= 0 && row.cpuNanos() * 100 < pools.step().toNanos()) return shown;
        List<ThreadSeries.Row> rows = new ArrayList<>(shown.threads());
        rows.add(row);
        return new ThreadSeries(shown.from(), shown.to(), shown.step(), shown.times(), rows);
    }

    private String threadsText() {
        long shown = series.threads().threads().size();
        String which = shown < summary.threadsSeen
                ? "The %,d threads with the most CPU time, of %,d, most first."
                : "All %,d threads, most CPU time first.";
        boolean sum = threads.threads().size() > shown;
        return String.format(Locale.ROOT, "\n\n" + which, shown, summary.threadsSeen)
                + (sum
                        ? " The last row is the sum of all others, including threads that started and ended between"
                                + " two readings."
                        : "");
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
        Result.Table poolTable = new Result.Table("Pools", "", columns("pool", "max. threads"), pools);
        Result.Table threadTable = new Result.Table("Threads", note, columns("thread", "tid"), threads);
        return accounts.types().isEmpty()
                ? List.of(poolTable, threadTable)
                : List.of(poolTable, accounts.table(), threadTable);
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
                new Result.Column("at", ""),
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
        cells.add(usage.peak == null ? null : clock.timeWithin(summary.start, summary.end, usage.peak));
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
