// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.taskclock.history.JvmKey;
import org.taskclock.internal.JdkVersions;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.attach.ThreadStacks;
import org.taskclock.monitor.attach.YieldCount;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;

/** The actions that the page performs on JVMs, if allowed. Thread-safe. */
final class JvmActions {
    private static final int MAX_YIELD_SECONDS = 60;
    private static final int DEFAULT_YIELD_SECONDS = 5;

    private final boolean isAllowed;
    private final Overview overview;
    private final HistoryStore history;
    private final Clock clock;

    /** The JVMs whose agent is in use. Two concurrent uses would undo each other. */
    private final Set<String> busy = ConcurrentHashMap.newKeySet();

    JvmActions(boolean isAllowed, Overview overview, HistoryStore history, Clock clock) {
        this.isAllowed = isAllowed;
        this.overview = overview;
        this.history = history;
        this.clock = clock;
    }

    void checkAllowed() throws ApiException {
        if (!isAllowed) throw new ApiException(403, "actions are not allowed: start the server with --allow-actions");
    }

    /** Returns the running JVM of a call, if actions are allowed. */
    JvmKey target(Call call) throws ApiException {
        checkAllowed();
        JvmKey key = overview.running(call.path("id"));
        if (key == null) throw ApiException.notFound("no such JVM is running: see /api/jvms");
        return key;
    }

    /** Returns a whole number in the body. */
    static int number(JsonObject body, String name, int ifAbsent, int max) throws ApiException {
        JsonElement value = body.get(name);
        if (value == null || value.isJsonNull()) return ifAbsent;
        try {
            int number = value.getAsInt();
            if (number >= 1 && number <= max) return number;
        } catch (RuntimeException e) {
            // Reported below.
        }
        throw ApiException.badRequest(name + ": must be a number from 1 to " + max);
    }

    void stack(Call call) throws ApiException, IOException {
        JvmKey jvm = target(call);
        int tid;
        try {
            tid = Integer.parseInt(call.path("tid"));
        } catch (NumberFormatException e) {
            throw ApiException.badRequest("the id of the thread must be a number");
        }
        List<String> lines = ThreadStacks.of(jvm.pid(), tid);
        call.json(json -> {
            json.beginObject().name("lines").beginArray();
            for (String line : lines) json.value(line);
            json.endArray().endObject();
        });
    }

    /** Counts yields, and answers when the count is complete. */
    void yields(Call call) throws ApiException, IOException {
        JvmKey jvm = target(call);
        int seconds = number(call.body(), "seconds", DEFAULT_YIELD_SECONDS, MAX_YIELD_SECONDS);
        start(jvm);
        Thread thread = new DaemonThread(() -> count(call, jvm, seconds), "taskclock-yields-" + jvm.pid());
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            busy.remove(jvm.id()); // there are too many threads
            throw e;
        }
    }

    private void count(Call call, JvmKey jvm, int seconds) {
        try {
            YieldCount count;
            try {
                count = YieldCount.of(jvm.pid(), Duration.ofSeconds(seconds), JvmActions::sleep);
            } finally {
                // Before sending the answer, because the client may then use the agent again.
                busy.remove(jvm.id());
            }
            call.json(json -> write(json, count));
        } catch (IOException e) {
            call.error(503, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            call.error(500, "internal error: " + e);
        }
    }

    private void start(JvmKey jvm) throws ApiException {
        if (!busy.add(jvm.id()))
            throw new ApiException(503, "the agent of this JVM is being used: try again in a few seconds");
    }

    private static void sleep(Duration duration) {
        try {
            Thread.sleep(duration.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void write(JsonWriter json, YieldCount count) throws IOException {
        json.beginObject();
        json.name("seconds").value(count.seconds());
        json.name("platformPerSecond").value(count.platformPerSecond());
        json.name("virtualPerSecond").value(count.virtualPerSecond());
        json.name("platformCpu").value(count.platformPercent());
        json.name("schedulingCpu").value(count.schedulingPercent());
        json.name("truncated").value(count.truncated());
        json.name("callSites").beginArray();
        for (YieldCount.CallSite site : count.callSites()) {
            json.beginObject();
            json.name("site").value(site.site());
            json.name("perSecond").value(site.perSecond());
            json.name("virtualPerSecond").value(site.virtualPerSecond());
            json.name("cpu").value(site.cpuNanosPerSecond() < 0 ? null : site.cpuNanosPerSecond() / 1e7);
            json.name("stack").beginArray();
            for (String line : site.stack()) json.value(line);
            json.endArray();
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    /** Loads the agent, which shows virtual threads and named accounts. */
    void attach(Call call) throws ApiException, IOException {
        JvmKey jvm = target(call);
        start(jvm);
        try {
            if (TargetJvm.of(jvm.pid()).feature() < JdkVersions.VIRTUAL_THREADS) TargetJvm.showAccounts(jvm.pid());
            else TargetJvm.showVirtualThreads(jvm.pid());
        } finally {
            busy.remove(jvm.id());
        }
        finish(call, jvm, true);
    }

    void detach(Call call) throws ApiException, IOException {
        JvmKey jvm = target(call);
        start(jvm);
        String state;
        try {
            TargetJvm target = TargetJvm.of(jvm.pid());
            if (target.yieldMode() == null) throw ApiException.notFound("the agent is not loaded in this JVM");
            state = target.configureAgent("detach");
        } finally {
            busy.remove(jvm.id());
        }
        if (state.startsWith("failed: ")) throw new ApiException(503, "agent: " + state);
        finish(call, jvm, false);
    }

    private void finish(Call call, JvmKey jvm, boolean isAttached) {
        overview.setAgent(jvm.id(), isAttached);
        history.add(new Mark(
                clock.instant(),
                jvm.id(),
                isAttached ? "attach" : "detach",
                "agent " + (isAttached ? "attached to " : "detached from ") + jvm.service()));
        call.json(json -> json.beginObject().name("agent").value(isAttached).endObject());
    }
}
