// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.stream.Stream;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBody;
import org.taskclock.web.http.RequestBudget;

/**
 * Recordings that were dropped on the page, in files that are deleted when the server exits, and profiles. Thread-safe.
 */
final class OpenedRecordings implements AutoCloseable {
    private static final long MAX_BYTES = 256L << 20;

    /** What reading a recording takes: a block, and the interval in it. */
    static final long READ_BYTES = 2 * Recording.MAX_BLOCK_BYTES;

    /** The oldest is closed if there are more. */
    private static final int MAX_OPEN = 20;

    /** The prefix of file names. */
    private static final String OWN = Long.toString(ProcessHandle.current().pid());

    private static final int[] GZIP_MAGIC = {0x1f, 0x8b};

    /** The number of concurrent uploads, each of which occupies a thread. */
    private static final int MAX_UPLOADS = 4;

    /**
     * A recording that is open.
     *
     * @param from when its first interval began
     * @param to when its last interval ended
     */
    record Opened(String id, String name, Path file, long bytes, Instant from, Instant to) {}

    private final Map<String, Opened> opened = new LinkedHashMap<>();
    private final Semaphore uploads = new Semaphore(MAX_UPLOADS);
    private final Path directory;
    private final long quota;
    private final RequestBudget budget;
    private final Profiles profiles;
    private int count;
    private boolean isCleaned;

    /** The size of all files, including those that are being received. */
    private long totalBytes;

    /** @param quota the largest size of all recordings together; the oldest are closed */
    OpenedRecordings(Path directory, long quota, RequestBudget budget, Profiles profiles) {
        this.directory = directory;
        this.quota = quota;
        this.budget = budget;
        this.profiles = profiles;
    }

    /** Receives a recording or a profile. */
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
        String name = call.parameter("name");
        Path file = create();
        long[] size = {0};
        boolean isOpened = false;
        try {
            try (OutputStream out = new FilterOutputStream(Files.newOutputStream(file)) {
                @Override
                public void write(byte[] bytes, int offset, int length) throws IOException {
                    reserve(length);
                    size[0] += length;
                    try {
                        out.write(bytes, offset, length);
                    } catch (IOException e) {
                        throw new StorageException(e.getMessage()); // no space left on device, for example
                    }
                }
            }) {
                if (RequestBody.copy(call.request, out, MAX_BYTES) > MAX_BYTES) throw tooLarge();
            }
            if (!isCompressed(file)) {
                Profiles.Entry profile = profiles.open(name, file);
                call.json(201, Json.bytes(json -> Profiles.write(json, profile)));
                return;
            }
            budget.take(call, READ_BYTES);
            Opened recording = add(name, file, size[0]);
            isOpened = true;
            call.json(201, Json.bytes(json -> write(json, recording)));
        } catch (StorageException e) {
            throw new ApiException(507, "the recording cannot be stored: " + e.getMessage());
        } finally {
            if (!isOpened) delete(file, size[0]);
        }
    }

    /** Returns whether a file is compressed, as recordings of taskclock record are, and profiles are not. */
    private static boolean isCompressed(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return in.read() == GZIP_MAGIC[0] && in.read() == GZIP_MAGIC[1];
        }
    }

    /** Thrown if there is no room for a recording. */
    private static final class StorageException extends IOException {
        private static final long serialVersionUID = 1;

        StorageException(String message) {
            super(message);
        }
    }

    private synchronized Path create() throws ApiException {
        try {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            if (!isCleaned) deleteLeftovers();
            isCleaned = true;
            return Files.createTempFile(directory, OWN + "-", ".gz");
        } catch (IOException e) {
            throw new ApiException(507, "the recording cannot be stored in " + directory + ": " + e.getMessage());
        }
    }

    /**
     * Deletes the files of servers that were killed. A file with our own process id was left by a server in another
     * container.
     */
    private void deleteLeftovers() throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.list(directory)) {
            files = all.toList();
        }
        for (Path file : files) {
            String pid = file.getFileName().toString().split("-", 2)[0];
            boolean isUsed = !pid.equals(OWN) && Files.exists(Path.of("/proc", pid));
            if (!isUsed) Files.deleteIfExists(file);
        }
    }

    /** Makes room for more of a recording that is being received. */
    private synchronized void reserve(long bytes) throws StorageException {
        while (totalBytes + bytes > quota && !opened.isEmpty()) removeOldest();
        if (totalBytes + bytes > quota)
            throw new StorageException("all recordings together may have at most " + (quota >> 20) + " MB");
        totalBytes += bytes;
    }

    private static ApiException tooLarge() {
        return new ApiException(413, "the file is too large: at most " + (MAX_BYTES >> 20) + " MB can be opened");
    }

    private Opened add(String name, Path file, long bytes) throws ApiException, IOException {
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
            if (opened.size() >= MAX_OPEN) removeOldest();
            String id = "r" + ++count;
            Opened recording = new Opened(id, name == null ? "recording" : name, file, bytes, from, to);
            opened.put(id, recording);
            return recording;
        }
    }

    private void removeOldest() {
        Opened oldest = opened.remove(opened.keySet().iterator().next());
        delete(oldest.file, oldest.bytes);
    }

    private synchronized void delete(Path file, long bytes) {
        totalBytes -= bytes;
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            // The next server deletes it.
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
        budget.take(call, READ_BYTES);
        Interval interval;
        try (Recording recording = Recording.open(found.file)) {
            recording.seek(at);
            interval = recording.next();
            if (interval == null) interval = recording.step(0);
        }
        Interval shown = interval;
        List<DatedFinding> findings = shown.findings().stream()
                .map(finding -> new DatedFinding(finding, null))
                .toList();
        call.json(json -> IntervalJson.write(json, shown, List.of(), findings, List.of()));
    }

    @Override
    public synchronized void close() {
        while (!opened.isEmpty()) removeOldest();
    }
}
