// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.profile.CollapsedStacks;
import org.taskclock.monitor.profile.FindingProfiler;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.profile.ProfileFigures;
import org.taskclock.monitor.profile.ProfileSelection;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.InternalErrors;

/** Profiles that are taken from the page: one at a time of a JVM, and few at a time in all. Thread-safe. */
final class ProfileTasks implements AutoCloseable {
    private static final int DEFAULT_SECONDS = 5;
    private static final int MAX_SECONDS = 10;
    private static final int MAX_RUNNING = 2;

    private final JvmActions actions;
    private final Profiles profiles;
    private final Map<String, DaemonThread> running = new ConcurrentHashMap<>();

    ProfileTasks(JvmActions actions, Profiles profiles) {
        this.actions = actions;
        this.profiles = profiles;
    }

    /** Takes a profile, and answers when it is complete. */
    void start(Call call) throws ApiException {
        JvmKey jvm = actions.target(call);
        JsonObject body = call.body();
        int seconds = JvmActions.number(body, "seconds", DEFAULT_SECONDS, MAX_SECONDS);
        ProfileSelection selection = selection(body);
        DaemonThread thread =
                new DaemonThread(() -> take(call, jvm, selection, seconds), "taskclock-profile-" + jvm.pid());
        synchronized (this) {
            if (running.containsKey(jvm.id()))
                throw new ApiException(503, "this JVM is being profiled: try again in a few seconds");
            if (running.size() >= MAX_RUNNING)
                throw new ApiException(503, MAX_RUNNING + " JVMs are being profiled: try again in a few seconds");
            running.put(jvm.id(), thread);
        }
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            running.remove(jvm.id()); // there are too many threads
            throw e;
        }
    }

    private static ProfileSelection selection(JsonObject body) throws ApiException {
        if (body.has("carriers")) return ProfileSelection.carriers();
        if (body.has("tid"))
            return ProfileSelection.thread(Integer.toString(JvmActions.number(body, "tid", 0, Integer.MAX_VALUE)));
        JsonElement pool = body.get("pool");
        if (pool == null || pool.isJsonNull()) return ProfileSelection.all();
        if (!pool.isJsonPrimitive()) throw ApiException.badRequest("pool: must be the name of a pool");
        return ProfileSelection.pool(Call.limited("pool", pool.getAsString()));
    }

    private void take(Call call, JvmKey jvm, ProfileSelection selection, int seconds) {
        try {
            Profiles.Entry entry;
            try {
                Profile profile = FindingProfiler.profile(jvm.pid(), selection, Duration.ofSeconds(seconds));
                entry = add(jvm, profile);
            } finally {
                // Before sending the answer, because the client may then take the next one.
                running.remove(jvm.id());
            }
            call.json(201, Json.bytes(json -> Profiles.write(json, entry)));
        } catch (IOException e) {
            call.error(503, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            call.error(500, InternalErrors.describe(e));
        }
    }

    private Profiles.Entry add(JvmKey jvm, Profile profile) {
        CollapsedStacks stacks = CollapsedStacks.of(profile.collapsed());
        List<String> notes = new ArrayList<>(profile.notes());
        notes.addAll(stacks.notes());
        return profiles.add(jvm.service() + ", " + profile.threads(), ProfileFigures.of(profile), notes, stacks);
    }

    @Override
    public void close() {
        for (DaemonThread thread : List.copyOf(running.values())) thread.end(TimeUnit.SECONDS.toMillis(5));
    }
}
