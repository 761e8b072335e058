// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.fleet.LiveJvm;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.recording.RecordingWriter;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.InternalErrors;

/**
 * Recordings and bundles started from the page, whose files stay in a directory until a user deletes them. Evidence of
 * findings can be downloaded in the same way. Thread-safe.
 */
final class RecordingTasks implements AutoCloseable {
    private static final int MAX_SECONDS = 86_400;
    private static final int DEFAULT_SECONDS = 60;
    private static final int MAX_RUNNING = 4;
    private static final int MAX_FILES = 100;
    private static final int MAX_FAILED = 10;
    private static final String SUFFIX = ".gz";
    private static final String BUNDLE_SUFFIX = ".zip";
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss").withZone(ZoneOffset.UTC);

    /**
     * A file.
     *
     * @param problem why there is none; null if there is one
     */
    private record Entry(String name, long bytes, boolean isRunning, String problem) {}

    /** Writes a file. */
    @FunctionalInterface
    private interface Task {
        void write(Path file) throws IOException;
    }

    private final Path directory;
    private final EvidenceFiles evidence;
    private final long quota;
    private final JvmActions actions;
    private final BundleWriter bundles;
    private final String version;
    private final String host;
    private final Consumer<String> log;
    private final Map<String, DaemonThread> running = new ConcurrentHashMap<>();
    private final Set<String> started = ConcurrentHashMap.newKeySet();
    /** Why there is no file of a bundle, by its name. */
    private final Map<String, String> failed = new ConcurrentHashMap<>();

    /** @param quota the size of all recordings together, above which none is started and those that run end */
    RecordingTasks(
            Path directory,
            EvidenceFiles evidence,
            long quota,
            JvmActions actions,
            BundleWriter bundles,
            String version,
            String host,
            Consumer<String> log) {
        this.directory = directory;
        this.evidence = evidence;
        this.quota = quota;
        this.actions = actions;
        this.bundles = bundles;
        this.version = version;
        this.host = host;
        this.log = log;
    }

    /** Starts a recording. */
    void start(Call call) throws ApiException, IOException {
        JvmKey jvm = actions.target(call);
        int seconds = JvmActions.number(call.body(), "seconds", DEFAULT_SECONDS, MAX_SECONDS);
        start(call, jvm, SUFFIX, file -> record(jvm, file, seconds));
    }

    /** Starts writing a bundle. */
    void startBundle(Call call) throws ApiException, IOException {
        JvmKey jvm = actions.target(call);
        JsonElement redact = call.body().get("redact");
        boolean isRedacted = redact != null && redact.isJsonPrimitive() && redact.getAsBoolean();
        start(call, jvm, BUNDLE_SUFFIX, file -> bundles.write(jvm.pid(), isRedacted, file));
    }

    private synchronized void start(Call call, JvmKey jvm, String suffix, Task task) throws ApiException, IOException {
        if (running.size() >= MAX_RUNNING)
            throw new ApiException(503, MAX_RUNNING + " recordings are running: wait until one of them ends");
        Files.createDirectories(directory);
        if (entries().size() >= MAX_FILES)
            throw new ApiException(503, "there are " + MAX_FILES + " recordings: delete some from " + directory);
        if (isFull())
            throw new ApiException(
                    507, "the recordings have half of --max-size: delete some from " + directory + ", or raise it");
        String name = "taskclock-" + jvm.pid() + "-" + TIME.format(Instant.now()) + suffix;
        if (!started.add(name)) throw new ApiException(503, "a recording has just been started: try again");
        DaemonThread thread = new DaemonThread(() -> run(task, directory.resolve(name)), "taskclock-" + name);
        running.put(name, thread);
        thread.start();
        call.json(
                202,
                Json.bytes(json -> json.beginObject().name("name").value(name).endObject()));
    }

    private void run(Task task, Path file) {
        String name = file.getFileName().toString();
        try {
            task.write(file);
        } catch (IOException e) {
            fail(name, String.valueOf(e.getMessage()));
        } catch (RuntimeException | Error e) {
            fail(name, InternalErrors.describe(e));
        } finally {
            running.remove(name);
        }
    }

    private void fail(String name, String problem) {
        log.accept("recording " + name + ": " + problem);
        if (failed.size() >= MAX_FAILED) failed.clear();
        failed.put(name, problem);
    }

    private void record(JvmKey jvm, Path file, int seconds) throws IOException {
        Map<String, String> machine = Map.of(
                "kernel", System.getProperty("os.version"),
                "processors", Integer.toString(Runtime.getRuntime().availableProcessors()),
                "host", host);
        try (LiveJvm live = LiveJvm.of(jvm.pid(), true);
                RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, version, machine)) {
            writer.end(record(live, writer, seconds));
        }
    }

    /** Returns why the recording ends. */
    private String record(LiveJvm live, RecordingWriter writer, int seconds) throws IOException {
        long due = System.nanoTime();
        try {
            for (int i = 0; i < seconds; i++) {
                due += TimeUnit.SECONDS.toNanos(1);
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
                writer.write(live.next());
                if (isFull()) return "size limit of all recordings reached";
            }
            return "time limit reached";
        } catch (InterruptedException e) {
            return "interrupted";
        } catch (MonitorException e) {
            return e.getMessage();
        }
    }

    private boolean isFull() throws IOException {
        return entries().stream().mapToLong(Entry::bytes).sum() >= quota;
    }

    private List<Entry> entries() throws IOException {
        if (!Files.isDirectory(directory)) return List.of();
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> isOurs(file.getFileName().toString()))
                    .map(file -> {
                        String name = file.getFileName().toString();
                        return new Entry(name, file.toFile().length(), running.containsKey(name), null);
                    })
                    .sorted(Comparator.comparing(Entry::name).reversed())
                    .toList();
        }
    }

    /** A file that is being written may begin with a dot. */
    private static boolean isOurs(String name) {
        return !name.startsWith(".") && (name.endsWith(SUFFIX) || name.endsWith(BUNDLE_SUFFIX));
    }

    void list(Call call) throws IOException {
        List<Entry> entries = new ArrayList<>();
        // A bundle has no file before it is complete.
        for (String name : running.keySet())
            if (name.endsWith(BUNDLE_SUFFIX)) entries.add(new Entry(name, 0, true, null));
        failed.forEach((name, problem) -> entries.add(new Entry(name, 0, false, problem)));
        for (Entry entry : entries())
            if (entries.stream().noneMatch(other -> other.name.equals(entry.name))) entries.add(entry);
        for (Path file : evidence.files())
            entries.add(new Entry(file.getFileName().toString(), file.toFile().length(), false, null));
        call.json(json -> {
            json.beginArray();
            for (Entry entry : entries) {
                json.beginObject();
                json.name("name").value(entry.name);
                json.name("bytes").value(entry.bytes);
                json.name("running").value(entry.isRunning);
                json.name("problem").value(entry.problem);
                json.endObject();
            }
            json.endArray();
        });
    }

    void download(Call call) throws ApiException, IOException {
        String name = call.path("name");
        Stream<Path> recorded = entries().stream().map(entry -> directory.resolve(entry.name));
        Path file = Stream.concat(recorded, evidence.files().stream())
                .filter(listed -> listed.getFileName().toString().equals(name))
                .findAny()
                .orElseThrow(() -> ApiException.notFound("no such recording: see /api/recordings"));
        call.response.setStatus(200);
        call.response
                .getHeaders()
                .put(HttpHeader.CONTENT_TYPE, name.endsWith(SUFFIX) ? "application/gzip" : "application/zip");
        call.response.getHeaders().put(HttpHeader.CONTENT_DISPOSITION, "attachment; filename=\"" + name + "\"");
        try (InputStream in = Files.newInputStream(file);
                OutputStream out = Content.Sink.asOutputStream(call.response)) {
            in.transferTo(out);
        }
        call.callback.succeeded();
    }

    @Override
    public void close() {
        for (DaemonThread thread : List.copyOf(running.values())) thread.end(TimeUnit.SECONDS.toMillis(5));
    }
}
