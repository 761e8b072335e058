// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/** Uploads each day of a history to an object storage, once it is over. */
public final class HistoryUpload {
    /** The last day that was uploaded, and where to. */
    private static final String STATE = "uploaded";

    private final Path directory;
    private final String url;

    /**
     * @param directory of the history
     * @param url s3://BUCKET/PREFIX
     */
    public HistoryUpload(Path directory, String url) throws HistoryException {
        ObjectStore.check(url);
        this.directory = directory;
        this.url = url;
    }

    /**
     * Uploads the days before this one that have not been uploaded yet.
     *
     * @return the number of days
     */
    public int run(LocalDate today) throws IOException {
        LocalDate last = last();
        // Nothing to ask for: the history knows days in UTC, and this is called often.
        if (last != null && !last.plusDays(1).isBefore(today)) return 0;
        HistoryQueries queries = HistoryQueries.of(directory);
        List<LocalDate> days = queries.days().stream()
                .filter(day -> day.isBefore(today) && (last == null || day.isAfter(last)))
                .toList();
        if (days.isEmpty()) return 0;
        try (ObjectStore store = ObjectStore.open(url)) {
            for (LocalDate day : days) {
                upload(queries, day, store);
                write(day);
            }
        }
        return days.size();
    }

    /** Exports first, because a slow upload would keep the space of deleted rows in use. */
    private static void upload(HistoryQueries queries, LocalDate day, ObjectStore store) throws IOException {
        Path exported = Files.createTempDirectory("taskclock-upload"); // only its owner may read it
        List<String> names = new ArrayList<>();
        try {
            queries.export(day, (name, content) -> {
                names.add(name);
                Files.copy(content, exported.resolve(Integer.toString(names.size())));
            });
            for (int i = 0; i < names.size(); i++) store.put(names.get(i), exported.resolve(Integer.toString(i + 1)));
        } finally {
            for (int i = 1; i <= names.size(); i++) Files.deleteIfExists(exported.resolve(Integer.toString(i)));
            Files.deleteIfExists(exported);
        }
    }

    private LocalDate last() throws IOException {
        try {
            String[] state = Files.readString(directory.resolve(STATE)).strip().split(" ", 2);
            return state.length == 2 && state[1].equals(url) ? LocalDate.parse(state[0]) : null;
        } catch (NoSuchFileException | DateTimeException e) {
            return null;
        }
    }

    private void write(LocalDate day) throws IOException {
        Path part = Files.writeString(directory.resolve(STATE + ".part"), day + " " + url + "\n");
        Files.move(part, directory.resolve(STATE), StandardCopyOption.ATOMIC_MOVE);
    }
}
