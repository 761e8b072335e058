// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Runs SQL on a history: in the process that is writing it, if there is one, and otherwise on the file, opened
 * read-only.
 */
public final class HistoryQueries {
    private static final int BUFFER = 65_536;
    private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final Duration STACKS_TIMEOUT = Duration.ofMinutes(1);
    private static final int MAX_PROGRAMS = 1_000;

    /** When a JVM was last seen is written once a minute. */
    private static final int LAST_SEEN_SECONDS = 60;

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** The process that writes the history, or else the file. */
    private record Source(SocketChannel process, Connection file) implements AutoCloseable {
        @Override
        public void close() throws IOException, SQLException {
            if (process != null) process.close();
            else file.close();
        }
    }

    private final Path directory;

    private HistoryQueries(Path directory) {
        this.directory = directory;
    }

    /**
     * Returns the queries for the history in a directory.
     *
     * @throws HistoryException if there is no history
     */
    public static HistoryQueries of(Path directory) throws HistoryException {
        if (!Files.isReadable(directory) && Files.exists(directory))
            throw new HistoryException(directory + ": permission denied: run as the user that wrote the history");
        if (!Files.exists(directory.resolve(HistoryDatabase.FILE)))
            throw new HistoryException(
                    directory + ": no history here: run taskclock serve, or choose another --data" + " directory");
        return new HistoryQueries(directory);
    }

    /**
     * Runs one SQL statement, which can only read.
     *
     * @param maxRows further rows are omitted
     * @return whether rows were omitted
     * @throws HistoryException if the statement is wrong, or takes too long
     */
    public boolean query(String sql, int maxRows, Duration timeout, RowConsumer out) throws IOException {
        int seconds = (int) Math.max(1, Math.min(86_400, timeout.toSeconds()));
        try (Source source = source()) {
            if (source.process != null)
                return ask(source.process, new QueryServer.Request(sql, maxRows, seconds, null), out, null);
            return new QuerySession(source.file, directory).query(sql, maxRows, seconds, out);
        } catch (SQLException e) {
            throw new HistoryException("SQL: " + Failures.describe(e), e);
        }
    }

    /**
     * A program in the history: all its runs together.
     *
     * @param name the display name
     * @param ids the ids of its JVMs
     */
    public record Program(String name, List<String> ids) {}

    /**
     * Returns the programs that ran in a time range.
     *
     * @param text a process id, part of a display name, or part of the name of a main class or jar, ignoring case
     */
    public List<Program> programs(String text, Instant from, Instant to) throws IOException {
        String pattern = HistoryDatabase.quote(text.toLowerCase(Locale.ROOT));
        String sql = """
                SELECT service, string_agg(id, ' ') AS ids FROM jvm_key WHERE first_seen < %d AND last_seen >= %d
                    AND (contains(lower(service), %3$s) OR contains(lower(command), %3$s) OR pid::VARCHAR = %3$s
                        OR id = %3$s)
                GROUP BY service ORDER BY service
                """.formatted(to.getEpochSecond(), from.getEpochSecond() - LAST_SEEN_SECONDS, pattern);
        List<Program> programs = new ArrayList<>();
        query(sql, MAX_PROGRAMS, STACKS_TIMEOUT, new RowConsumer() {
            @Override
            public void columns(List<String> names) {
                // Those of the SQL above.
            }

            @Override
            public void row(List<Object> row) {
                programs.add(new Program((String) row.get(0), List.of(((String) row.get(1)).split(" ", -1))));
            }
        });
        return programs;
    }

    /** Returns the stacks of a program, like {@link History#stacks}. */
    public StackHistory stacks(Program program, Instant from, Instant to, String pool, int maxStacks)
            throws IOException {
        String ids =
                program.ids().stream().map(HistoryDatabase::quote).collect(Collectors.joining(",", "id IN (", ")"));
        StackReader reader = new StackReader();
        query(StackReader.sql(ids, from, to, pool, maxStacks), Integer.MAX_VALUE - 1, STACKS_TIMEOUT, reader);
        return reader.result();
    }

    /**
     * Exports everything as Parquet files, one for each view, host, and day. Exports of several hosts can be written to
     * the same directory.
     *
     * @return the number of files
     */
    public int export(Path target) throws IOException {
        int[] count = {0};
        QuerySession.FileConsumer out = (name, content) -> {
            Path file = target.resolve(name).normalize();
            if (!file.startsWith(target.normalize())) throw new IOException("not a name of an exported file: " + name);
            Files.createDirectories(file.getParent());
            Files.copy(content, file, StandardCopyOption.REPLACE_EXISTING);
            count[0]++;
        };
        export(null, out);
        return count[0];
    }

    /** Exports one day, as {@link #export(Path)}; null for all days. */
    void export(LocalDate day, QuerySession.FileConsumer out) throws IOException {
        String only = day == null ? null : day.toString();
        try (Source source = source()) {
            if (source.process != null) ask(source.process, new QueryServer.Request(null, 0, 0, only), null, out);
            else new QuerySession(source.file, directory).export(only, out);
        } catch (SQLException e) {
            throw new HistoryException("the history cannot be exported: " + Failures.describe(e), e);
        }
    }

    /** Returns the days in UTC on which something was measured, the earliest first. */
    List<LocalDate> days() throws IOException {
        List<LocalDate> days = new ArrayList<>();
        String sql =
                "SELECT DISTINCT strftime(time AT TIME ZONE 'UTC', '%Y-%m-%d') AS day FROM process_cpu ORDER BY day";
        query(sql, MAX_PROGRAMS * 10, STACKS_TIMEOUT, new RowConsumer() {
            @Override
            public void columns(List<String> names) {
                // That of the SQL above.
            }

            @Override
            public void row(List<Object> row) {
                days.add(LocalDate.parse((String) row.get(0)));
            }
        });
        return days;
    }

    /**
     * Waits for a while if another process has opened the file but does not answer, because it is starting or exiting.
     */
    private Source source() throws HistoryException {
        long deadline = System.nanoTime() + MAX_WAIT_NANOS;
        while (true) {
            SocketChannel process = connect();
            if (process != null) return new Source(process, null);
            try {
                return new Source(
                        null,
                        HistoryDatabase.execute(
                                HistoryDatabase.connect(directory, true), "BEGIN TRANSACTION READ ONLY"));
            } catch (SQLException e) {
                if (!Failures.isLocked(e))
                    throw new HistoryException(
                            directory.resolve(HistoryDatabase.FILE) + ": " + Failures.describe(e), e);
                if (System.nanoTime() - deadline > 0)
                    throw new HistoryException(
                            directory + ": in use by a process that does not answer: try again later", e);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
            if (Thread.currentThread().isInterrupted()) throw new HistoryException(directory + ": interrupted");
        }
    }

    /** Returns a connection to the process that writes the history; null if there is none. */
    private SocketChannel connect() {
        Path socket = directory.resolve(QueryServer.SOCKET);
        if (!Files.exists(socket)) return null;
        try {
            return SocketChannel.open(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            return null; // left by a process that was killed
        }
    }

    private static boolean ask(
            SocketChannel process, QueryServer.Request request, RowConsumer rows, QuerySession.FileConsumer files)
            throws IOException {
        send(process, QueryServer.GSON.toJson(request) + "\n");
        InputStream in = new BufferedInputStream(Channels.newInputStream(process), BUFFER);
        while (true) {
            QueryServer.Answer answer = QueryServer.GSON.fromJson(readLine(in), QueryServer.Answer.class);
            if (answer.error() != null) throw new HistoryException(answer.error());
            if (answer.columns() != null) rows.columns(answer.columns());
            else if (answer.row() != null) rows.row(answer.row());
            else if (answer.file() != null) copy(in, answer, files);
            else return answer.isTruncated();
        }
    }

    private static void send(SocketChannel process, String request) {
        try {
            Channels.newOutputStream(process).write(request.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            // The process has refused the request without reading it. Its answer says why.
        }
    }

    private static void copy(InputStream in, QueryServer.Answer answer, QuerySession.FileConsumer files)
            throws IOException {
        Path file = Files.createTempFile("taskclock-export", ".tmp");
        try {
            try (OutputStream out = Files.newOutputStream(file)) {
                byte[] buffer = new byte[BUFFER];
                for (long left = answer.bytes(); left > 0; ) {
                    int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                    if (count < 0) throw new EOFException("the process that writes the history has ended");
                    out.write(buffer, 0, count);
                    left -= count;
                }
            }
            files.file(answer.file(), file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static String readLine(InputStream in) throws HistoryException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        try {
            for (int b = in.read(); b != '\n'; b = in.read()) {
                if (b < 0) throw new EOFException();
                line.write(b);
            }
        } catch (IOException e) {
            throw new HistoryException("the process that writes the history has ended: try again", e);
        }
        return line.toString(StandardCharsets.UTF_8);
    }
}
