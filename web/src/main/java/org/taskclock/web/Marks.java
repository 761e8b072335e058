// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.time.Clock;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.List;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.SeriesJson;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBudget;

/** Lets clients read and add marks in the history. Thread-safe. */
final class Marks {
    /** Enough for a script that marks the deployment of many services. */
    private static final int MAX_PER_MINUTE = 60;

    private static final long MINUTE_MILLIS = 60_000;

    private final HistoryStore store;
    private final HistoryApi history;
    private final JvmActions actions;
    private final RequestBudget budget;
    private final Clock clock;

    private long minute;
    private int addedInMinute;

    Marks(HistoryStore store, HistoryApi history, JvmActions actions, RequestBudget budget, Clock clock) {
        this.store = store;
        this.history = history;
        this.actions = actions;
        this.budget = budget;
        this.clock = clock;
    }

    void list(Call call) throws ApiException, IOException {
        HistoryApi.Range range = history.range(call);
        budget.take(call, HistoryApi.MARKS_BYTES);
        List<Mark> marks = store.get().marks(call.parameter("jvm"), range.from(), range.to());
        call.json(json -> {
            json.beginArray();
            for (Mark mark : marks) SeriesJson.write(json, mark);
            json.endArray();
        });
    }

    /** Adds a mark, such as that of a deployment. */
    void add(Call call) throws ApiException, IOException {
        actions.checkAllowed();
        JsonObject body = call.body();
        Mark mark;
        try {
            String text = text(body, "text", "").strip();
            if (text.isEmpty()) throw ApiException.badRequest("text: is missing");
            JsonElement sent = body.get("time");
            Instant time = sent == null || sent.isJsonNull() ? clock.instant() : Call.time(sent.getAsLong());
            String kind = text(body, "kind", "user");
            if (!kind.equals("user") && !kind.equals("deployment"))
                throw ApiException.badRequest("kind: must be user or deployment");
            mark = new Mark(time, text(body, "jvm", null), kind, text);
        } catch (IllegalStateException | UnsupportedOperationException | NumberFormatException | DateTimeException e) {
            throw ApiException.badRequest("text and jvm must be text, and time milliseconds since 1970");
        }
        countOne();
        store.get().add(mark);
        call.json(201, Json.bytes(json -> SeriesJson.write(json, mark)));
    }

    private static String text(JsonObject body, String name, String ifAbsent) throws ApiException {
        JsonElement value = body.get(name);
        if (value == null || value.isJsonNull()) return ifAbsent;
        return Call.limited(name, value.getAsString());
    }

    private synchronized void countOne() throws ApiException {
        long now = clock.millis() / MINUTE_MILLIS;
        if (now != minute) {
            minute = now;
            addedInMinute = 0;
        }
        if (++addedInMinute > MAX_PER_MINUTE)
            throw new ApiException(429, "more than " + MAX_PER_MINUTE + " marks in a minute: try again later");
    }
}
