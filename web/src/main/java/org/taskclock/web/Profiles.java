// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.eclipse.jetty.http.HttpHeader;
import org.taskclock.monitor.finding.Evidence;
import org.taskclock.monitor.profile.CollapsedStacks;
import org.taskclock.monitor.profile.ProfileException;
import org.taskclock.monitor.profile.ProfileFigures;
import org.taskclock.monitor.profile.ProfileFile;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBudget;

/**
 * The profiles that the page can show and compare: those that were taken or opened there, the latest of which are in
 * memory, and those in evidence of findings. Thread-safe.
 */
final class Profiles {
    private static final Duration READ_LIMIT = Duration.ofSeconds(30);
    private static final int MAX_KEPT = 20;
    /** Of all that are in memory. */
    private static final long MAX_CHARS = 2L * CollapsedStacks.MAX_CHARS;

    private static final int MAX_METHODS = 100;

    /** A profile. */
    record Entry(
            String id, String name, Instant time, ProfileFigures figures, List<String> notes, CollapsedStacks stacks) {}

    private final Map<String, Entry> entries = new LinkedHashMap<>();
    private final Semaphore reading = new Semaphore(1);
    private final EvidenceFiles evidence;
    private final RequestBudget budget;
    private final Clock clock;
    private int count;

    Profiles(EvidenceFiles evidence, RequestBudget budget, Clock clock) {
        this.evidence = evidence;
        this.budget = budget;
        this.clock = clock;
    }

    /** Adds a profile. The oldest ones make room for it. */
    synchronized Entry add(String name, ProfileFigures figures, List<String> notes, CollapsedStacks stacks) {
        Entry added = new Entry("p" + ++count, name, clock.instant(), figures, notes, stacks);
        entries.put(added.id, added);
        while (entries.size() > MAX_KEPT
                || entries.values().stream()
                                .mapToLong(entry -> entry.stacks.chars())
                                .sum()
                        > MAX_CHARS) entries.remove(entries.keySet().iterator().next());
        return added;
    }

    /** Reads a file that was dropped on the page. */
    Entry open(String name, Path file) throws ApiException, IOException {
        if (!reading.tryAcquire())
            throw new ApiException(503, "another profile is being opened: try again in a few seconds");
        try {
            ProfileFile read = ProfileFile.read(file, READ_LIMIT);
            CollapsedStacks stacks = read.stacks();
            ProfileFigures figures = ProfileFigures.of("all threads", read.source(), read.samples());
            return add(name == null ? "profile" : name, figures, read.notes(), stacks);
        } catch (ProfileException e) {
            throw ApiException.badRequest("this file cannot be opened: " + e.getMessage());
        } finally {
            reading.release();
        }
    }

    void list(Call call) throws IOException {
        List<Entry> all;
        synchronized (this) {
            all = new ArrayList<>(entries.values());
        }
        List<Path> files = evidence.files();
        call.json(json -> {
            json.beginArray();
            for (int i = all.size() - 1; i >= 0; i--) writeName(json, all.get(i).id, all.get(i).name);
            for (Path file : files) {
                String name = file.getFileName().toString();
                writeName(json, name, name);
            }
            json.endArray();
        });
    }

    private static void writeName(JsonWriter json, String id, String name) throws IOException {
        json.beginObject().name("id").value(id).name("name").value(name).endObject();
    }

    private Entry find(String id) throws ApiException, IOException {
        synchronized (this) {
            Entry entry = entries.get(id);
            if (entry != null) return entry;
        }
        Path file = evidence.find(id);
        if (file == null) throw ApiException.notFound("no such profile: see /api/profiles");
        CollapsedStacks stacks = CollapsedStacks.of(EvidenceFiles.part(file, Evidence.PROFILE));
        List<String> notes = new ArrayList<>(stacks.notes());
        notes.addAll(EvidenceFiles.part(file, Evidence.WHY).lines().toList());
        ProfileFigures figures = ProfileFigures.ofJson(EvidenceFiles.part(file, Evidence.FIGURES));
        return new Entry(id, id, Files.getLastModifiedTime(file).toInstant(), figures, notes, stacks);
    }

    private Entry find(Call call) throws ApiException, IOException {
        return find(call.path("id"));
    }

    private Entry base(Call call) throws ApiException, IOException {
        String id = call.parameter("base");
        return id == null ? null : find(id);
    }

    /** Sends the figures and the methods with the most samples. */
    void show(Call call) throws ApiException, IOException {
        FlameGraphResponse.reserve(call, budget);
        Entry entry = find(call);
        call.json(json -> write(json, entry));
    }

    static void write(JsonWriter json, Entry entry) throws IOException {
        ProfileFigures figures = entry.figures;
        json.beginObject();
        json.name("id").value(entry.id);
        json.name("name").value(entry.name);
        json.name("time").value(Json.millis(entry.time));
        json.name("threads").value(figures.threads());
        json.name("source").value(figures.source());
        json.name("seconds").value(figures.seconds());
        json.name("cpu").value(figures.cpu());
        json.name("user").value(figures.user());
        json.name("samples").value(Json.known(figures.samples()));
        json.name("notes").beginArray();
        for (String note : entry.notes) json.value(note);
        json.endArray();
        double all = entry.stacks.samples();
        json.name("methods").beginArray();
        for (CollapsedStacks.Frame frame :
                entry.stacks.frames().stream().limit(MAX_METHODS).toList()) {
            json.beginObject();
            json.name("name").value(frame.name());
            json.name("self").value(100 * frame.self() / all);
            json.name("total").value(100 * frame.total() / all);
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    void flame(Call call) throws ApiException, IOException {
        RequestBudget.Share share = FlameGraphResponse.reserve(call, budget);
        Entry base = base(call);
        FlameGraphResponse.send(call, share, base == null ? null : base.stacks, find(call).stacks);
    }

    void download(Call call) throws ApiException, IOException {
        FlameGraphResponse.reserve(call, budget);
        Entry entry = find(call);
        String name = "taskclock-" + entry.id.replaceFirst("\\.zip$", "") + ".collapsed";
        call.response.getHeaders().put(HttpHeader.CONTENT_DISPOSITION, "attachment; filename=\"" + name + "\"");
        call.text(200, entry.stacks.text());
    }

    /** Compares the shares of methods in two profiles. */
    void compare(Call call) throws ApiException, IOException {
        FlameGraphResponse.reserve(call, budget);
        Entry base = base(call);
        if (base == null) throw ApiException.badRequest("base: is missing: add the id of a profile");
        Entry entry = find(call);
        if (base.stacks.isEmpty() || entry.stacks.isEmpty())
            throw ApiException.notFound("one of the profiles has no samples");
        List<CollapsedStacks.Change> changes = CollapsedStacks.compare(base.stacks, entry.stacks);
        call.json(json -> {
            json.beginObject().name("methods").beginArray();
            for (CollapsedStacks.Change change :
                    changes.stream().limit(MAX_METHODS).toList()) {
                json.beginObject();
                json.name("name").value(change.name());
                json.name("selfA").value(change.selfA());
                json.name("selfB").value(change.selfB());
                json.name("totalA").value(change.totalA());
                json.name("totalB").value(change.totalB());
                json.endObject();
            }
            json.endArray().endObject();
        });
    }

    /** Sends the thread dump of evidence. */
    void threads(Call call) throws ApiException, IOException {
        Path file = evidence.find(call.path("id"));
        if (file == null) throw ApiException.notFound("no such evidence: see /api/recordings");
        FlameGraphResponse.reserve(call, budget);
        call.text(200, EvidenceFiles.part(file, Evidence.THREADS));
    }
}
