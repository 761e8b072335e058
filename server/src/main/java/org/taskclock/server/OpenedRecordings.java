// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import org.taskclock.monitor.Interval;
import org.taskclock.monitor.Recording;

/** Recordings that were dropped on the page, in temporary files. Thread-safe. */
final class OpenedRecordings implements AutoCloseable {
    private static final long MAX_BYTES = 256L << 20;

    /** The oldest is closed if there are more. */
    private static final int MAX_OPEN = 20;

    private static final int MAX_NAME_LENGTH = 200;

    /** Recordings that may be received at the same time. Each of them occupies a thread. */
    private static final int MAX_UPLOADS = 4;

    /**
     * A recording that is open.
     *
     * @param from when its first interval began
     * @param to when its last interval ended
     */
    record Opened(String id, String name, Path file, Instant from, Instant to) {}

    private final Map<String, Opened> opened = new LinkedHashMap<>();
    private final Semaphore uploads = new Semaphore(MAX_UPLOADS);
    private int count;

    /** Receives a recording. */
    void open(Call call) throws ApiException, IOException {
        long length = call.request.getLength();
        if (length > MAX_BYTES) throw tooLarge();
        if (!uploads.tryAcquire())
            throw new ApiException(503, "other recordings are being opened: try again in a few seconds");
        try {
            receive(call);
        } finally {
            uploads.release();
        }
    }

    private void receive(Call call) throws ApiException, IOException {
        Path file = Files.createTempFile("taskclock-opened-", ".gz");
        boolean isOpened = false;
        try {
            try (OutputStream out = Files.newOutputStream(file)) {
                if (RequestBody.copy(call.request, out, MAX_BYTES) > MAX_BYTES) throw tooLarge();
            }
            Opened recording = add(call.parameter("name"), file);
            isOpened = true;
            call.json(201, Json.bytes(json -> write(json, recording)));
        } finally {
            if (!isOpened) Files.deleteIfExists(file);
        }
    }

    private static ApiException tooLarge() {
        return new ApiException(413, "the file is too large: at most " + (MAX_BYTES >> 20) + " MB can be opened");
    }

    private Opened add(String name, Path file) throws ApiException, IOException {
        Instant from;
        Instant to;
        try (Recording recording = Recording.open(file)) {
            if (recording.intervalCount() == 0) throw ApiException.badRequest("the recording has no intervals");
            Recording.Position bounds = recording.position();
            from = bounds.start();
            to = bounds.end();
        } catch (IOException e) {
            // The message names the temporary file.
            throw ApiException.badRequest(
                    "this file cannot be opened: it is not a recording of taskclock record, or it" + " is damaged");
        }
        synchronized (this) {
            if (opened.size() >= MAX_OPEN) remove(opened.keySet().iterator().next());
            String id = "r" + ++count;
            Opened recording = new Opened(id, name == null ? "recording" : limited(name), file, from, to);
            opened.put(id, recording);
            return recording;
        }
    }

    private static String limited(String name) {
        return name.substring(0, Math.min(name.length(), MAX_NAME_LENGTH));
    }

    private void remove(String id) {
        Opened recording = opened.remove(id);
        if (recording == null) return;
        try {
            Files.deleteIfExists(recording.file);
        } catch (IOException e) {
            // The directory is cleaned by the system.
        }
    }

    private static void write(JsonWriter json, Opened recording) throws IOException {
        json.beginObject();
        json.name("id").value(recording.id);
        json.name("name").value(recording.name);
        json.name("from").value(Json.millis(recording.from));
        json.name("to").value(Json.millis(recording.to));
        json.endObject();
    }

    synchronized void list(Call call) {
        List<Opened> all = List.copyOf(opened.values());
        call.json(json -> {
            json.beginArray();
            for (Opened recording : all) write(json, recording);
            json.endArray();
        });
    }

    /** Returns an open recording; null if there is none with this id. */
    synchronized Opened find(String id) {
        return opened.get(id);
    }

    /** Sends the interval at a time. */
    void interval(Call call) throws ApiException, IOException {
        Opened found = find(call.path("id"));
        if (found == null) throw ApiException.notFound("no such recording is open: open it again");
        Instant at = call.time("at", found.to);
        Interval interval;
        try (Recording recording = Recording.open(found.file)) {
            recording.seek(at);
            interval = recording.next();
            if (interval == null) interval = recording.step(0);
        }
        Interval shown = interval;
        List<Finding> findings = shown.diagnoses().stream()
                .map(diagnosis -> new Finding(diagnosis, null))
                .toList();
        call.json(json -> IntervalJson.write(json, shown, findings));
    }

    @Override
    public synchronized void close() {
        for (String id : List.copyOf(opened.keySet())) remove(id);
    }
}
