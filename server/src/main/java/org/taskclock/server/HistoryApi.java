// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

import com.google.gson.JsonObject;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.taskclock.history.HistoryStatus;
import org.taskclock.history.JvmHistory;
import org.taskclock.history.Mark;
import org.taskclock.history.PoolSeries;
import org.taskclock.history.ThreadSeries;

/** The answers that come from the history. */
final class HistoryApi {
    private static final int DEFAULT_POINTS = 600;
    private static final int MAX_POINTS = 10_000;
    private static final int DEFAULT_THREADS = 50;
    private static final int MAX_THREADS = 1_000;
    private static final int MAX_MARK_LENGTH = 500;
    private static final Duration DEFAULT_RANGE = Duration.ofMinutes(10);
    private static final List<Integer> RESOLUTIONS = List.of(1, 10, 60);

    /** A time range. */
    record Range(Instant from, Instant to) {}

    private final HistoryStore store;
    private final Overview overview;
    private final Clock clock;

    HistoryApi(HistoryStore store, Overview overview, Clock clock) {
        this.store = store;
        this.overview = overview;
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

    /** Answers with the JVMs that ran in a range, those that are running with their live figures. */
    void jvms(Call call) throws ApiException, IOException {
        if (call.parameter("from") == null && call.parameter("to") == null) {
            call.json(200, overview.json());
            return;
        }
        Range range = range(call);
        List<Json.Value> others = store.get().jvms(range.from, range.to).stream()
                .filter(jvm -> overview.known(jvm.jvm().id()) == null)
                .map(jvm -> (Json.Value) json -> writeJvm(json, jvm, range))
                .toList();
        call.json(200, overview.json(others));
    }

    private static void writeJvm(JsonWriter json, JvmHistory jvm, Range range) throws IOException {
        json.beginObject();
        JvmState.writeKey(json, jvm.jvm());
        json.name("ended").value(Json.millis(jvm.lastSeen()));
        json.name("threads").value(0);
        Instant from = jvm.firstSeen().isAfter(range.from) ? jvm.firstSeen() : range.from;
        Instant to = jvm.lastSeen().isBefore(range.to) ? jvm.lastSeen() : range.to;
        json.name("cpu")
                .value(Json.percent(jvm.cpuNanos(), Duration.between(from, to).toNanos()));
        json.name("user").nullValue();
        json.name("system").nullValue();
        json.name("throttled").nullValue();
        json.name("container").nullValue();
        json.name("limit").nullValue();
        json.name("sparkline").beginArray().endArray();
        json.name("findings").beginArray().endArray();
        json.name("agent").value(false);
        json.endObject();
    }

    void pools(Call call) throws ApiException, IOException {
        Range range = range(call);
        int points = call.number("points", DEFAULT_POINTS, 1, MAX_POINTS);
        String id = call.path("id");
        PoolSeries series = store.get().pools(id, range.from, range.to, points);
        List<Mark> marks = store.get().marks(id, range.from, range.to);
        call.json(json -> SeriesJson.write(json, series, marks));
    }

    void threads(Call call) throws ApiException, IOException {
        Range range = range(call);
        int points = call.number("points", DEFAULT_POINTS, 1, MAX_POINTS);
        int limit = call.number("limit", DEFAULT_THREADS, 1, MAX_THREADS);
        ThreadSeries series = store.get().threads(call.path("id"), range.from, range.to, points, limit);
        call.json(json -> SeriesJson.write(json, series));
    }

    void marks(Call call) throws ApiException, IOException {
        Range range = range(call);
        List<Mark> marks = store.get().marks(call.parameter("jvm"), range.from, range.to);
        call.json(json -> {
            json.beginArray();
            for (Mark mark : marks) SeriesJson.write(json, mark);
            json.endArray();
        });
    }

    /** Adds a mark, such as that of a deployment. */
    void addMark(Call call) throws ApiException, IOException {
        JsonObject body = call.body();
        Mark mark;
        try {
            String text = body.has("text") ? body.get("text").getAsString().strip() : "";
            if (text.isEmpty() || text.length() > MAX_MARK_LENGTH)
                throw ApiException.badRequest("text: must have 1 to " + MAX_MARK_LENGTH + " characters");
            Instant time = body.has("time") && !body.get("time").isJsonNull()
                    ? Instant.ofEpochMilli(body.get("time").getAsLong())
                    : clock.instant();
            String jvm = body.has("jvm") && !body.get("jvm").isJsonNull()
                    ? body.get("jvm").getAsString()
                    : null;
            String kind = body.has("kind") ? body.get("kind").getAsString() : "user";
            if (!kind.equals("user") && !kind.equals("deployment"))
                throw ApiException.badRequest("kind: must be user or deployment");
            mark = new Mark(time, jvm, kind, text);
        } catch (IllegalStateException | UnsupportedOperationException | NumberFormatException | DateTimeException e) {
            throw ApiException.badRequest("text and jvm must be text, and time milliseconds since 1970");
        }
        store.get().add(mark);
        call.json(201, Json.bytes(json -> SeriesJson.write(json, mark)));
    }
}
