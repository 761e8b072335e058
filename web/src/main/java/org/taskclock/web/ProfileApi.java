// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import org.taskclock.history.HistoryException;
import org.taskclock.monitor.profile.MethodComparison;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBudget;

/** The API requests that are answered from the profiles in the history. */
final class ProfileApi {
    private static final int MAX_STACKS = 2_000;

    /** With up to 200 frames, whose names are parts of one text, and then lists. */
    private static final long BYTES_PER_STACK = 6_000;

    private static final int DEFAULT_METHODS = 100;
    private static final int MAX_METHODS = 10_000;
    private static final double PERCENT = 100;

    private final HistoryStore store;
    private final HistoryApi history;
    private final RequestBudget budget;

    ProfileApi(HistoryStore store, HistoryApi history, RequestBudget budget) {
        this.store = store;
        this.history = history;
        this.budget = budget;
    }

    private Profile read(Call call, HistoryApi.Range range) throws ApiException, HistoryException {
        String pool = call.parameter("pool");
        Profile profile = store.get()
                .stacks(call.path("id"), range.from(), range.to(), pool, MAX_STACKS)
                .profile(0, call.path("id"), pool == null ? "all threads" : "pool " + pool, range.to(), List.of());
        if (profile.intervalNanos() == 0)
            throw ApiException.notFound(
                    "there are no profiles of this JVM in this range: start the server with --profile");
        return profile;
    }

    /** Sends the methods of one range, or those of two ranges, which are compared. */
    void methods(Call call) throws ApiException, IOException {
        int limit = call.number("limit", DEFAULT_METHODS, 1, MAX_METHODS);
        boolean isComparison = call.parameter("from2") != null || call.parameter("to2") != null;
        RequestBudget.Share share = budget.take(call, BYTES_PER_STACK * MAX_STACKS * (isComparison ? 2 : 1));
        Profile profile = read(call, history.range(call));
        byte[] json;
        if (isComparison) {
            Profile second = read(call, history.range(call.time("from2"), call.time("to2")));
            json = Json.bytes(out -> write(out, profile, second, limit));
        } else {
            json = Json.bytes(out -> write(out, profile, limit));
        }
        share.keep(json.length);
        call.json(200, json);
    }

    private static void write(JsonWriter json, Profile profile, int limit) throws IOException {
        json.beginObject();
        json.name("seconds").value(profile.intervalNanos() / 1_000_000_000);
        json.name("cpu").value(percent(profile.cpuNanos(), profile));
        json.name("methods").beginArray();
        for (Profile.Method method : profile.methods().stream().limit(limit).toList()) {
            json.beginObject();
            json.name("method").value(method.name());
            json.name("self").value(percent(method.selfNanos(), profile));
            json.name("total").value(percent(method.totalNanos(), profile));
            json.endObject();
        }
        json.endArray().endObject();
    }

    private static Double percent(long nanos, Profile profile) {
        return Json.percent(nanos, profile.intervalNanos());
    }

    private static void write(JsonWriter json, Profile first, Profile second, int limit) throws IOException {
        json.beginObject();
        json.name("seconds").value(first.intervalNanos() / 1_000_000_000);
        json.name("seconds2").value(second.intervalNanos() / 1_000_000_000);
        json.name("cpu").value(percent(first.cpuNanos(), first));
        json.name("cpu2").value(percent(second.cpuNanos(), second));
        json.name("methods").beginArray();
        for (MethodComparison.Change change :
                MethodComparison.of(first, second).stream().limit(limit).toList()) {
            json.beginObject();
            json.name("method").value(change.name());
            json.name("self").value(rounded(change.selfA()));
            json.name("self2").value(rounded(change.selfB()));
            json.name("total").value(rounded(change.totalA()));
            json.name("total2").value(rounded(change.totalB()));
            json.endObject();
        }
        json.endArray().endObject();
    }

    private static double rounded(double cores) {
        return Math.round(cores * PERCENT * PERCENT) / PERCENT;
    }

    /** Sends a flame graph, which begins with the pools. */
    void flame(Call call) throws ApiException, IOException {
        RequestBudget.Share share = budget.take(call, BYTES_PER_STACK * MAX_STACKS);
        String collapsed = read(call, history.range(call)).collapsed();
        share.keep(2L * collapsed.length());
        FlameGraphResponse.send(call, budget, collapsed);
    }
}
