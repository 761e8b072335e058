// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.ToNumberPolicy;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * Answers queries from other processes of the same user on a socket in the directory, because only one process can open
 * a DuckDB file for writing. A request is one line of JSON. The answer has one line for the columns, one for each row,
 * and one for the end or an error. The content of an exported file follows its line.
 */
final class QueryServer implements AutoCloseable {
    static final String SOCKET = "query.sock";
    static final Gson GSON = new GsonBuilder()
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
            .serializeNulls()
            .disableHtmlEscaping()
            .create();

    private static final int MAX_QUERIES = 4;
    private static final int MAX_REQUEST = 1_000_000;

    /**
     * A client that neither sends nor reads would keep a transaction open, which prevents the space of deleted rows
     * from being reused.
     */
    private static final int REQUEST_SECONDS = 10;

    private static final int GRACE_SECONDS = 60;
    private static final int EXPORT_SECONDS = 3_600;

    /** A request; {@code sql} is null for an export, of this day if it is not null. */
    record Request(String sql, int rows, int seconds, String day) {}

    /** A line of the answer. Only one of the first four is set. */
    record Answer(List<String> columns, List<Object> row, String file, String error, long bytes, boolean isTruncated) {
        static final Answer END = new Answer(null, null, null, null, 0, false);
        static final Answer TRUNCATED = new Answer(null, null, null, null, 0, true);

        static Answer columns(List<String> names) {
            return new Answer(names, null, null, null, 0, false);
        }

        static Answer row(List<Object> values) {
            return new Answer(null, values, null, null, 0, false);
        }

        static Answer file(String name, long bytes) {
            return new Answer(null, null, name, null, bytes, false);
        }

        static Answer error(String message) {
            return new Answer(null, null, null, message, 0, false);
        }
    }

    private final HistoryDatabase database;
    private final ServerSocketChannel server;
    private final Path socket;
    private final Semaphore permits = new Semaphore(MAX_QUERIES);
    private final Set<SocketChannel> clients = ConcurrentHashMap.newKeySet();
    private final ScheduledExecutorService deadlines =
            Executors.newSingleThreadScheduledExecutor(task -> new DaemonThread(task, "taskclock-query-deadline"));

    private QueryServer(HistoryDatabase database, ServerSocketChannel server, Path socket) {
        this.database = database;
        this.server = server;
        this.socket = socket;
    }

    static QueryServer start(HistoryDatabase database) throws HistoryException {
        Path socket = database.directory.resolve(SOCKET);
        try {
            // The file was left by a killed process, because this process holds the lock.
            Files.deleteIfExists(socket);
            ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                server.bind(UnixDomainSocketAddress.of(socket));
                Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
            } catch (IOException e) {
                server.close();
                throw e;
            }
            QueryServer queries = new QueryServer(database, server, socket);
            startThread(queries::accept);
            return queries;
        } catch (IOException | IllegalArgumentException e) {
            throw new HistoryException(
                    socket + ": no socket can be made for queries: " + Failures.describe(e)
                            + ": choose a --data directory with a shorter path, on a local file system",
                    e);
        }
    }

    private static void startThread(Runnable task) {
        new DaemonThread(task, "taskclock-query").start();
    }

    private void accept() {
        while (server.isOpen()) {
            SocketChannel client = null;
            try {
                client = server.accept();
                SocketChannel accepted = client;
                clients.add(accepted);
                startThread(() -> answer(accepted));
            } catch (IOException | RuntimeException | Error e) {
                // Errors, such as a lack of threads, must not end this loop either.
                close(client);
                if (server.isOpen() && !pause()) return;
            }
        }
    }

    private void close(SocketChannel client) {
        if (client == null) return;
        clients.remove(client);
        try {
            client.close();
        } catch (IOException e) {
            // The server is closed.
        }
    }

    /** Waits briefly, for example for file descriptors to become available. */
    private static boolean pause() {
        try {
            Thread.sleep(100);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    private void answer(SocketChannel client) {
        try (client;
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(Channels.newInputStream(client), StandardCharsets.UTF_8));
                OutputStream bytes = Channels.newOutputStream(client);
                Writer out = new BufferedWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8))) {
            Answer last;
            if (permits.tryAcquire()) {
                Future<?> deadline = deadlines.schedule(() -> close(client), REQUEST_SECONDS, TimeUnit.SECONDS);
                try {
                    Request request = readRequest(in);
                    deadline.cancel(false);
                    int seconds = request == null || request.sql == null ? EXPORT_SECONDS : request.seconds;
                    deadline = deadlines.schedule(() -> close(client), seconds + GRACE_SECONDS, TimeUnit.SECONDS);
                    last = answer(request, bytes, out);
                } catch (JsonParseException e) {
                    last = Answer.error("malformed request");
                } catch (OutOfMemoryError e) {
                    last = Answer.error("SQL: the result needs too much memory: select less");
                } finally {
                    deadline.cancel(false);
                    permits.release();
                }
            } else {
                last = Answer.error("too many queries at once: try again later");
            }
            write(out, last);
        } catch (IOException e) {
            // The client has disconnected.
        } finally {
            clients.remove(client);
        }
    }

    private static Request readRequest(BufferedReader in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c >= 0 && c != '\n'; c = in.read()) {
            if (line.length() == MAX_REQUEST) throw new IOException("the request is too long");
            line.append((char) c);
        }
        return GSON.fromJson(line.toString(), Request.class);
    }

    private Answer answer(Request request, OutputStream bytes, Writer out) throws IOException {
        if (request == null) return Answer.error("empty request");
        try (Connection connection = database.reader()) {
            QuerySession session = new QuerySession(connection, database.directory);
            if (request.sql == null) {
                session.export(request.day, (name, content) -> {
                    write(out, Answer.file(name, Files.size(content)));
                    out.flush();
                    Files.copy(content, bytes);
                });
                return Answer.END;
            }
            boolean isTruncated = session.query(request.sql, request.rows, request.seconds, new RowConsumer() {
                @Override
                public void columns(List<String> names) throws IOException {
                    write(out, Answer.columns(names));
                }

                @Override
                public void row(List<Object> values) throws IOException {
                    write(out, Answer.row(values));
                }
            });
            return isTruncated ? Answer.TRUNCATED : Answer.END;
        } catch (HistoryException e) {
            return Answer.error(e.getMessage());
        } catch (SQLException e) {
            return Answer.error("SQL: " + Failures.describe(e));
        }
    }

    private static void write(Writer out, Answer answer) throws IOException {
        GSON.toJson(answer, out);
        out.write('\n');
    }

    @Override
    public void close() {
        try {
            deadlines.shutdownNow();
            server.close();
            for (SocketChannel client : clients) client.close();
            Files.deleteIfExists(socket);
        } catch (IOException e) {
            // The next server deletes the socket.
        }
    }
}
