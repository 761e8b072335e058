// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.DaemonThread;

/** The settings of the interactive view that are kept in a file. */
final class SavedSettings {
    private static final int MAX_BYTES = 1 << 16;
    private static final int MAX_MESSAGE = 60;

    /** Null if nothing is to be saved. */
    private final Path file;

    private final Map<String, String> loaded;
    private final String error;
    /** The settings as they were last compared. */
    private Map<String, String> last = Map.of();
    /** What the user has changed; a null value removes the setting. */
    private final Map<String, String> changed = new HashMap<>();

    /** Writes the file, because a home directory may be slow. Null as long as there is nothing to write. */
    private ExecutorService writer;

    private SavedSettings(Path file, Map<String, String> loaded, String error) {
        this.file = file;
        this.loaded = loaded;
        this.error = error;
    }

    /** Returns settings that are neither read nor saved. */
    static SavedSettings none() {
        return new SavedSettings(null, new HashMap<>(), "");
    }

    /** Returns the path of the file, or null if there is no home directory. */
    static Path file(Map<String, String> environment) {
        String config = environment.getOrDefault("XDG_CONFIG_HOME", "");
        // The XDG specification says that relative paths are to be ignored.
        if (config.startsWith("/")) return Path.of(config, "taskclock", "top.properties");
        String home = environment.getOrDefault("HOME", "");
        return home.startsWith("/") ? Path.of(home, ".config", "taskclock", "top.properties") : null;
    }

    static SavedSettings load(Path file) {
        if (file == null) return none();
        try {
            Map<String, String> values = read(file);
            ViewState scratch = new ViewState();
            values.forEach((key, value) -> set(scratch, key, value));
            // As they are saved, without escaped characters that the file would have to escape again.
            Map<String, String> saved = get(scratch);
            values.replaceAll((key, value) -> saved.get(key));
            return new SavedSettings(file, values, "");
        } catch (IOException | IllegalArgumentException e) {
            String why = CellFormat.truncate(CellFormat.sanitize(describe(e)), MAX_MESSAGE);
            return new SavedSettings(
                    file, new HashMap<>(), file + ": " + why + ": using the defaults; correct or delete the file");
        }
    }

    private static String describe(Exception e) {
        if (e instanceof CharacterCodingException) return "not a text file";
        return e instanceof IOException i ? RecordCommand.describe(i) : e.getMessage();
    }

    /** Returns the settings in the file, none if there is no file. */
    private static Map<String, String> read(Path file) throws IOException {
        Map<String, String> values = new HashMap<>();
        if (!Files.exists(file)) return values; // or another user's home
        if (!Files.isRegularFile(file)) throw new IllegalArgumentException("not a regular file");
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            if (Files.size(file) > MAX_BYTES) throw new IllegalArgumentException("not a settings file");
            properties.load(reader);
        } catch (NoSuchFileException e) {
            return values;
        }
        for (String key : properties.stringPropertyNames()) values.put(key, properties.getProperty(key));
        return values;
    }

    /** Returns why the file could not be used, or an empty string. */
    String error() {
        return error;
    }

    /** Makes {@link #apply} leave these settings as they are. */
    void ignore(String... keys) {
        for (String key : keys) loaded.remove(key);
    }

    /** Changes the view as the file says. */
    void apply(ViewState view) {
        if (view.isRecording) ignore("interval"); // it is the playback speed
        loaded.forEach((key, value) -> set(view, key, value));
        if (!error.isEmpty()) view.message = error;
        last = get(view);
    }

    /** Saves the settings that the user has changed since the previous call. */
    void save(ViewState view) {
        if (file == null || !error.isEmpty()) return; // the user may want to correct it
        Map<String, String> now = get(view);
        if (now.equals(last)) return;
        for (Map.Entry<String, String> entry : now.entrySet()) {
            if (!Objects.equals(entry.getValue(), last.get(entry.getKey())))
                changed.put(entry.getKey(), entry.getValue());
        }
        last = now;
        // A direction without its column would apply to the column of an earlier session.
        for (String key : List.of("sort", "reverse"))
            if (changed.containsKey("sort") || changed.containsKey("reverse")) changed.put(key, now.get(key));
        if (view.isRecording) changed.remove("interval");
        if (changed.isEmpty()) return;
        if (writer == null) {
            writer = Executors.newSingleThreadExecutor(task -> new DaemonThread(task, "taskclock-settings"));
        }
        Map<String, String> toWrite = new HashMap<>(changed);
        writer.execute(() -> write(toWrite));
    }

    /** Waits a moment for the file to be written. */
    void close() {
        if (writer == null) return;
        writer.shutdown();
        try {
            if (!writer.awaitTermination(1, TimeUnit.SECONDS)) writer.shutdownNow();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void write(Map<String, String> changes) {
        Map<String, String> values;
        try {
            // Another instance may have written it meanwhile.
            SavedSettings current = load(file);
            if (!current.error.isEmpty()) return;
            values = new TreeMap<>(current.loaded);
            changes.forEach((key, value) -> {
                if (value == null) values.remove(key);
                else values.put(key, value);
            });
            String text = values.entrySet().stream()
                    .map(entry -> entry.getKey() + "=" + entry.getValue() + "\n")
                    .collect(Collectors.joining("", "# Saved by taskclock top.\n", ""));
            Files.createDirectories(file.getParent());
            // The file may be a link into a directory that is under version control.
            Path target = Files.exists(file) ? file.toRealPath() : file;
            Path temporary = Files.createTempFile(target.getParent(), "top", ".tmp");
            try {
                Files.writeString(temporary, text);
                Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            // The settings last until the program ends.
        }
    }

    private static Map<String, String> get(ViewState view) {
        Map<String, String> values = new HashMap<>();
        values.put("sort", view.sort.id);
        values.put("reverse", Boolean.toString(view.reversed));
        values.put("interval", Double.toString(view.intervalSeconds));
        values.put("pools", Boolean.toString(view.groupByPool));
        values.put(
                "columns",
                view.columns == null
                        ? null
                        : view.columns.stream().map(column -> column.id).collect(Collectors.joining(",")));
        return values;
    }

    private static void set(ViewState view, String key, String value) {
        try {
            switch (key) {
                case "sort" -> view.sort = sortable(value.trim());
                case "reverse" -> view.reversed = parseBoolean(value.trim());
                case "interval" -> view.intervalSeconds = parseInterval(value.trim());
                case "pools" -> view.groupByPool = parseBoolean(value.trim());
                case "columns" -> view.columns = parseColumns(value.trim());
                default -> throw new IllegalArgumentException(key);
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("invalid setting \"" + key + "=" + value + '"', e);
        }
    }

    private static ThreadColumn sortable(String label) {
        ThreadColumn column = ThreadColumn.of(label);
        if (!column.isSortable()) throw new IllegalArgumentException(label);
        return column;
    }

    private static boolean parseBoolean(String text) {
        if (text.equals("true")) return true;
        if (text.equals("false")) return false;
        throw new IllegalArgumentException(text);
    }

    private static double parseInterval(String text) {
        double seconds = Double.parseDouble(text);
        if (seconds >= ViewState.MIN_INTERVAL_SECONDS && seconds <= ViewState.MAX_INTERVAL_SECONDS) return seconds;
        throw new IllegalArgumentException(text);
    }

    private static List<ThreadColumn> parseColumns(String text) {
        List<ThreadColumn> columns = new ArrayList<>();
        for (String label : text.isEmpty() ? new String[0] : text.split(",", -1)) {
            ThreadColumn column = ThreadColumn.of(label.trim());
            if (column == ThreadColumn.NAME || columns.contains(column)) throw new IllegalArgumentException(text);
            columns.add(column);
        }
        return columns;
    }
}
