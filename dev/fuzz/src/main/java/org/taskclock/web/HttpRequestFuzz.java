// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.taskclock.fuzz.RecordingFile;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.history.HistoryOptions;
import org.taskclock.web.http.Access;
import org.taskclock.web.http.AccessHandler;
import org.taskclock.web.http.HostNames;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.Routes;
import org.taskclock.web.http.Token;
import org.taskclock.web.http.WebSecurity;

/**
 * Requests to {@code serve} as they arrive from the network: paths, parameters, headers, and bodies, answered from a
 * history and an opened recording. Without the token, nothing is shown; no request causes an internal error.
 */
public final class HttpRequestFuzz {
    private static final String TOKEN = "0123456789abcdef";
    private static final Pattern STATUS = Pattern.compile("(?m)^HTTP/1\\.[01] ([0-9]{3}) ");
    private static final String HEALTHY = "TaskClock is healthy.";
    private static final byte[] LINES = ("{\"thread\":0,\"pid\":7,\"tid\":8,\"javaId\":1,\"name\":\"<a>\",\"kind\":"
                    + "\"JAVA\",\"pool\":\"a\",\"totalNanos\":5}\n{\"time\":\"2026-01-01T00:00:01Z\",\"intervalNanos\":"
                    + "1000000000,\"pid\":7,\"name\":\"x\",\"source\":\"agent\",\"totals\":{\"processNanos\":9},"
                    + "\"findings\":[],\"notes\":[],\"rows\":[[0,5,3,1,2,3,\"R\"]],\"gone\":[]}\n")
            .getBytes(StandardCharsets.UTF_8);

    private static final String COOKIE;
    private static final LocalConnector CONNECTOR;

    static {
        try {
            Path directory = Files.createTempDirectory("taskclock-fuzz-");
            Path file = Files.writeString(directory.resolve("token"), TOKEN);
            Token token = Token.read(file, line -> {});
            COOKIE = token.cookie();
            QueuedThreadPool threads = new QueuedThreadPool(8, 2);
            threads.setDaemon(true);
            Server server = new Server(threads);
            CONNECTOR = new LocalConnector(server);
            server.addConnector(CONNECTOR);
            AuditLog audit = new AuditLog(
                    directory.resolve("audit.log"), 1 << 20, new Overview(1)::known, Clock.systemUTC(), line -> {});
            Access access = new Access(
                    new WebSecurity(null, config -> {}, line -> {}),
                    token,
                    new HostNames("127.0.0.1", List.of(), null),
                    audit::watch);
            server.setHandler(new AccessHandler(routes(directory), access));
            server.start();
            byte[] recording = RecordingFile.bytes(LINES);
            String head =
                    "POST /api/opened?name=a HTTP/1.1\r\nHost: localhost\r\nX-TaskClock: 1\r\nAuthorization: Bearer "
                            + TOKEN
                            + "\r\nConnection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: "
                            + recording.length
                            + "\r\n\r\n";
            ByteBuffer request = ByteBuffer.allocate(head.length() + recording.length);
            request.put(head.getBytes(StandardCharsets.US_ASCII)).put(recording).flip();
            String response = answer(request);
            if (!response.startsWith("HTTP/1.1 201")) throw new IllegalStateException(response);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private HttpRequestFuzz() {}

    /** Initializes this class, for which an input does not have enough time. */
    public static void fuzzerInitialize() {}

    private static Routes routes(Path directory) throws InterruptedException {
        Overview overview = new Overview(1);
        RequestBudget budget = RequestBudget.ofHeap();
        EvidenceFiles evidence =
                new EvidenceFiles(directory.resolve("evidence"), Duration.ofDays(1), Clock.systemUTC(), mark -> {});
        Profiles profiles = new Profiles(evidence, budget, Clock.systemUTC());
        OpenedRecordings opened = new OpenedRecordings(directory.resolve("opened"), 1L << 30, budget, profiles);
        HistoryStore store =
                new HistoryStore(DuckDbHistory::open, directory.resolve("data"), HistoryOptions.DEFAULT, line -> {});
        store.start();
        store.awaitOpened(TimeUnit.MINUTES.toMillis(1));
        HistoryApi history = new HistoryApi(store, overview, new JvmKeys(null), opened, budget, Clock.systemUTC());
        JvmActions actions = new JvmActions(true, overview, store, Clock.systemUTC());
        RecordingTasks recordings = new RecordingTasks(
                directory.resolve("recordings"),
                evidence,
                1L << 30,
                actions,
                (pid, redact, file) -> {},
                "1",
                "host",
                line -> {});
        Routes routes = new Routes(line -> {
            throw new AssertionError(line);
        });
        routes.add(
                "GET",
                AccessHandler.HEALTHY,
                call -> call.send(200, "text/plain", HEALTHY.getBytes(StandardCharsets.US_ASCII)));
        Marks marks = new Marks(store, history, actions, budget, Clock.systemUTC());
        TaskClockServer.addRequests(
                routes, history, opened, actions, recordings, new ProfileTasks(actions, profiles), profiles, marks);
        return routes;
    }

    public static void fuzzerTestOneInput(byte[] data) throws Exception {
        String answer = answer(ByteBuffer.wrap(data));
        String request = new String(data, StandardCharsets.ISO_8859_1);
        boolean isAllowed = request.contains(TOKEN) || request.contains(COOKIE);
        Matcher status = STATUS.matcher(answer);
        while (status.find()) {
            String code = status.group(1);
            if (code.equals("500")) throw new AssertionError("internal error: " + answer);
            if (code.startsWith("2") && !isAllowed && !answer.contains(HEALTHY))
                throw new AssertionError("shown without the token: " + answer);
        }
    }

    /** Sends a request and the end of the connection. Returns all answers. */
    private static String answer(ByteBuffer request) throws Exception {
        try (LocalConnector.LocalEndPoint connection = CONNECTOR.connect()) {
            connection.addInput(request);
            connection.addInputEOF();
            // Unlike a socket, this connection stays open after an upload, although its input has ended.
            connection.waitUntilClosedOrIdleFor(5, TimeUnit.SECONDS);
            return connection.takeOutputString(StandardCharsets.ISO_8859_1);
        }
    }
}
