// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.taskclock.history.ExportBy;
import org.taskclock.history.ExportFormat;
import org.taskclock.history.History;
import org.taskclock.history.HistoryStatus;
import org.taskclock.monitor.recording.Comparison;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.recording.RecordingSeries;
import org.taskclock.monitor.recording.SeriesJson;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBudget;

/** The API requests that are answered from the history. */
final class HistoryApi {
    private static final int DEFAULT_POINTS = 600;
    private static final int MAX_POINTS = 10_000;

    /** Multiplied by the number of pools, this must not exceed {@link #MAX_VALUES}. */
    private static final int MAX_POOL_POINTS = 1_000;

    private static final int DEFAULT_THREADS = 50;
    private static final int MAX_THREADS = 1_000;

    /** The maximum number of rows multiplied by points in an answer. */
    private static final int MAX_VALUES = MAX_POOL_POINTS * RecordingSeries.MAX_POOLS;

    /** The number of pools and accounts of a JVM. */
    private static final int MAX_ROWS = RecordingSeries.MAX_POOLS + RecordingSeries.MAX_ACCOUNTS;

    /** The memory that a value takes while it is read, converted to JSON, and sent. */
    private static final long BYTES_PER_VALUE = 64;

    private static final long EXPORT_BYTES = 8 << 20;
    private static final long JVMS_BYTES = 4 << 20;

    /** The history returns at most 2,000 marks of 2 KB. */
    static final long MARKS_BYTES = 8 << 20;

    private static final int COMPARED_POINTS = 1_000;
    private static final int COMPARED_THREADS = 200;

    /** In hundredths of a percent of one core, as in {@code taskclock diff}. */
    private static final int DEFAULT_THRESHOLD = 50;

    private static final int MAX_THRESHOLD = 10_000;
    private static final int EXPORT_BUFFER = 1 << 16;
    private static final Duration LONGEST_INTERVAL = Duration.ofMinutes(1);
    private static final Map<ExportFormat, String> TYPES = Map.of(
            ExportFormat.CSV, "text/csv; charset=utf-8",
            ExportFormat.JSON, Call.JSON,
            ExportFormat.PARQUET, "application/vnd.apache.parquet");
    private static final Duration DEFAULT_RANGE = Duration.ofMinutes(10);
    private static final List<Integer> RESOLUTIONS = List.of(1, 10, 60);

    /** A time range. */
    record Range(Instant from, Instant to) {}

    private final HistoryStore store;
    private final Overview overview;
    private final JvmKeys keys;
    private final OpenedRecordings opened;
    private final RequestBudget budget;
    private final Clock clock;

    HistoryApi(
            HistoryStore store,
            Overview overview,
            JvmKeys keys,
            OpenedRecordings opened,
            RequestBudget budget,
            Clock clock) {
        this.opened = opened;
        this.store = store;
        this.overview = overview;
        this.keys = keys;
        this.budget = budget;
        this.clock = clock;
    }

    /** Returns the range from..to, by default the last minutes. */
    Range range(Call call) throws ApiException {
        return range(call.time("from", null), call.time("to", null));
    }

    Range range(Instant from, Instant to) throws ApiException {
        Instant end = to == null ? clock.instant() : to;
        Instant start = from == null ? end.minus(DEFAULT_RANGE) : from;
        if (!start.isBefore(end)) throw ApiException.badRequest("from: must be before to");
        return new Range(start, end);
    }

    void writeStatus(JsonWriter json) throws IOException {
        HistoryStatus status = store.status();
        json.beginObject();
        json.name("since").value(Json.millis(status.since()));
        json.name("bytes").value(status.bytes());
        json.name("problem").value(status.problem());
        json.name("setAside").value(status.setAside());
        json.name("lostSamples").value(status.lostSamples());
        json.name("resolutions").beginArray();
        for (int resolution : RESOLUTIONS) json.value(resolution);
        json.endArray();
        json.endObject();
    }

    /** Sends the JVMs that ran in a range; for running JVMs, with live figures. */
    void jvms(Call call) throws ApiException, IOException {
        if (call.parameter("from") == null && call.parameter("to") == null) {
            call.json(200, overview.json());
            return;
        }
        Range range = range(call);
        RequestBudget.Share share = budget.take(call, JVMS_BYTES);
        List<Json.Value> others = store.get().jvms(range.from, range.to).stream()
                .filter(jvm -> overview.known(jvm.jvm().id()) == null)
                .map(jvm -> (Json.Value) new JvmState(jvm, range.from, range.to, !keys.isRunning(jvm.jvm()))::write)
                .toList();
        send(call, share, overview.json(others));
    }

    void pools(Call call) throws ApiException, IOException {
        int points = call.number("points", DEFAULT_POINTS, 1, MAX_POOL_POINTS);
        String id = call.path("id");
        OpenedRecordings.Opened recording = opened.find(id);
        Range range = recording == null ? range(call) : range(call, recording);
        RequestBudget.Share share = budget.take(call, MARKS_BYTES + bytes(recording, poolBytes(recording, points)));
        PoolSeries series = recording == null
                ? store.get().pools(id, range.from, range.to, points)
                : series(recording, range, points, 0).pools();
        List<Mark> marks = recording == null ? store.get().marks(id, range.from, range.to) : List.of();
        send(call, share, Json.bytes(json -> SeriesJson.write(json, series, marks)));
    }

    void threads(Call call) throws ApiException, IOException {
        int points = call.number("points", DEFAULT_POINTS, 1, MAX_POINTS);
        int limit = call.number("limit", DEFAULT_THREADS, 1, MAX_THREADS);
        if (limit * points > MAX_VALUES)
            throw ApiException.badRequest("limit and points: at most " + MAX_VALUES
                    + " values (limit times points) can be requested at a time: reduce one of them");
        OpenedRecordings.Opened recording = opened.find(call.path("id"));
        Range range = recording == null ? range(call) : range(call, recording);
        RequestBudget.Share share = budget.take(call, bytes(recording, BYTES_PER_VALUE * points * limit));
        ThreadSeries series = recording == null
                ? store.get().threads(call.path("id"), range.from, range.to, points, limit)
                : series(recording, range, points, limit).threads();
        send(call, share, Json.bytes(json -> SeriesJson.write(json, series)));
    }

    /** Returns what the pools and accounts take. The history has fewer points if there are more than most JVMs have. */
    private static long poolBytes(OpenedRecordings.Opened recording, int points) {
        long values = (long) points * MAX_ROWS;
        return BYTES_PER_VALUE * (recording == null ? Math.min(values, MAX_VALUES) : values);
    }

    /** Returns what an answer takes, with the part of a recording that is expanded at a time. */
    private static long bytes(OpenedRecordings.Opened recording, long bytes) {
        return recording == null ? bytes : bytes + OpenedRecordings.READ_BYTES;
    }

    /** Sends an answer. A client that reads it slowly keeps only its text in memory. */
    private static void send(Call call, RequestBudget.Share share, byte[] json) {
        share.keep(json.length);
        call.json(200, json);
    }

    private Range range(Call call, OpenedRecordings.Opened recording) throws ApiException {
        return range(call.time("from", recording.from()), call.time("to", recording.to()));
    }

    private static RecordingSeries series(OpenedRecordings.Opened opened, Range range, int points, int maxThreads)
            throws IOException {
        try (Recording recording = Recording.open(opened.file())) {
            // Includes one more interval at the end, which may have begun in the range.
            recording.limit(range.from, range.to.plus(LONGEST_INTERVAL));
            return new RecordingSeries(recording, range.from, range.to, points, maxThreads);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    /** Compares two ranges. */
    void compare(Call call) throws ApiException, IOException {
        Range before = range(call.time("from1"), call.time("to1"));
        Range after = range(call.time("from2"), call.time("to2"));
        double threshold = call.number("threshold", DEFAULT_THRESHOLD, 0, MAX_THRESHOLD) / 10_000.0;
        OpenedRecordings.Opened recording = opened.find(call.path("id"));
        RequestBudget.Share share = budget.take(call, bytes(recording, poolBytes(null, COMPARED_POINTS)));
        Comparison comparison = recording == null
                ? new Comparison(intervals(call, before), intervals(call, after), threshold)
                : compare(recording, before, after, threshold);
        if (comparison.secondsBefore() == 0 || comparison.secondsAfter() == 0)
            throw ApiException.notFound("one of the ranges has no data");
        send(call, share, Json.bytes(json -> ComparisonJson.write(json, comparison)));
    }

    private static Comparison compare(OpenedRecordings.Opened opened, Range before, Range after, double threshold)
            throws IOException {
        try (Recording first = Recording.open(opened.file());
                Recording second = Recording.open(opened.file())) {
            first.limit(before.from, before.to);
            second.limit(after.from, after.to);
            return new Comparison(first, second, threshold);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private Iterable<Interval> intervals(Call call, Range range) throws ApiException, IOException {
        String id = call.path("id");
        PoolSeries pools = store.get().pools(id, range.from, range.to, COMPARED_POINTS);
        ThreadSeries threads = store.get().threads(id, range.from, range.to, COMPARED_POINTS, COMPARED_THREADS);
        return HistoryIntervals.of(pools, threads);
    }

    /** Sends a file with the history of a JVM. */
    void export(Call call) throws ApiException, IOException {
        ExportBy by = choice(ExportBy.class, call, "by", ExportBy.POOL);
        ExportFormat format = choice(ExportFormat.class, call, "format", ExportFormat.CSV);
        String id = call.path("id");
        OpenedRecordings.Opened recording = opened.find(id);
        Range range = recording == null ? range(call) : range(call, recording);
        History history = recording == null ? store.get() : null;
        budget.take(call, bytes(recording, EXPORT_BYTES));
        String extension = format.name().toLowerCase(Locale.ROOT);
        call.response.setStatus(200);
        call.response.getHeaders().put(HttpHeader.CONTENT_TYPE, TYPES.get(format));
        call.response
                .getHeaders()
                .put(
                        HttpHeader.CONTENT_DISPOSITION,
                        "attachment; filename=\"taskclock-" + id + "-"
                                + by.name().toLowerCase(Locale.ROOT) + "s." + extension + "\"");
        try (OutputStream out = new BufferedOutputStream(Content.Sink.asOutputStream(call.response), EXPORT_BUFFER)) {
            if (history != null) history.export(id, range.from, range.to, by, format, out);
            else export(recording, range, by, format, out);
        }
        call.callback.succeeded();
    }

    private static void export(
            OpenedRecordings.Opened opened, Range range, ExportBy by, ExportFormat format, OutputStream out)
            throws IOException {
        try (Recording recording = Recording.open(opened.file())) {
            recording.limit(range.from, range.to);
            RecordingExport.write(recording, by, format, out);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static <E extends Enum<E>> E choice(Class<E> type, Call call, String name, E ifAbsent) throws ApiException {
        String text = call.parameter(name);
        if (text == null) return ifAbsent;
        List<String> names = new ArrayList<>();
        for (E value : type.getEnumConstants()) {
            names.add(value.name().toLowerCase(Locale.ROOT));
            if (names.get(names.size() - 1).equals(text)) return value;
        }
        throw ApiException.badRequest(name + ": must be one of " + String.join(", ", names));
    }
}
