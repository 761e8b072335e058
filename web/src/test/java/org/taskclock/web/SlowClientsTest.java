// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.taskclock.web.http.RequestBudget;

/** Clients that send or read slowly: they are disconnected, and others do not notice them. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
final class SlowClientsTest {
    private static final String REQUEST = "GET /api/info HTTP/1.1\r\nHost: localhost\r\n";

    /** {@code WebServer.MAX_CONNECTIONS} and {@code OpenedRecordings.MAX_UPLOADS}. */
    private static final int MAX_CONNECTIONS = 512;

    private static final int MAX_UPLOADS = 4;

    /** More than the threads of the server. */
    private static final int MANY = 50;

    /** Instead of ten seconds. Much longer than a request takes on a busy machine. */
    private static final long RECEIVE_MILLIS = 4_000;

    @TempDir
    Path directory;

    private TestServer server;
    private final List<Socket> sockets = new ArrayList<>();

    @BeforeEach
    void startServer() throws Exception {
        startServer(RECEIVE_MILLIS);
    }

    private void startServer(long receiveMillis) throws Exception {
        TestServer.Settings settings = new TestServer.Settings();
        settings.match = "no such program";
        settings.limits = new ServerLimits(RequestBudget.ofHeap(), 512L << 20, 1 << 20, receiveMillis);
        server = TestServer.start(directory, settings);
    }

    @AfterEach
    void stopServer() throws IOException {
        for (Socket socket : sockets) socket.close();
        server.close();
    }

    private Socket connect(String text) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        sockets.add(socket);
        socket.setSoTimeout(20);
        send(socket, text);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String post(String path, String type, int length) {
        return String.join(
                "\r\n",
                "POST " + path + " HTTP/1.1",
                "Host: localhost",
                "X-TaskClock: 1",
                "Content-Type: " + type,
                "Content-Length: " + length,
                "",
                "x");
    }

    /** Reads a response of a known length and returns its status line. */
    private static String readResponse(Socket socket) throws IOException {
        socket.setSoTimeout(60_000);
        InputStream in = socket.getInputStream();
        StringBuilder header = new StringBuilder();
        while (header.indexOf("\r\n\r\n") < 0) {
            int c = in.read();
            assertThat(c).as("%s", header).isNotNegative();
            header.append((char) c);
        }
        String length = "Content-Length: ";
        int at = header.indexOf(length) + length.length();
        in.readNBytes(Integer.parseInt(header.substring(at, header.indexOf("\r", at))));
        socket.setSoTimeout(20);
        return header.substring(0, header.indexOf("\r"));
    }

    /** Sends a character every 20 ms until the connection is closed, and returns what was received. */
    private static String trickle(Socket socket) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        StringBuilder received = new StringBuilder();
        while (System.nanoTime() < end) {
            int c = 0;
            try {
                socket.getOutputStream().write('x');
                while ((c = socket.getInputStream().read()) >= 0) received.append((char) c);
            } catch (SocketTimeoutException e) {
                // Still open.
            } catch (IOException e) {
                c = -1; // reset
            }
            if (c < 0) return received.toString();
        }
        throw new AssertionError("still open");
    }

    @Test
    void shouldCloseConnectionsThatSendAHeaderSlowly() throws Exception {
        trickle(connect(REQUEST + "X-Slow: "));
        assertThat(server.get("/api/info").statusCode()).isEqualTo(200);
    }

    @Test
    void shouldCloseConnectionsThatSendALaterHeaderSlowly() throws Exception {
        Socket socket = connect("");
        for (int i = 0; i < 3; i++) {
            send(socket, REQUEST + "\r\n");
            assertThat(readResponse(socket)).contains("200");
        }
        send(socket, REQUEST + "X-Slow: ");
        long start = System.nanoTime();
        trickle(socket);
        assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(RECEIVE_MILLIS / 2));
    }

    @Test
    void shouldKeepConnectionsThatSendRequestsFromTimeToTime() throws Exception {
        Socket socket = connect("");
        // Longer than the time in which a request must arrive, and with a pause before each request.
        for (int i = 0; i < 4; i++) {
            send(socket, REQUEST + "\r\n");
            assertThat(readResponse(socket)).contains("200");
            Thread.sleep(RECEIVE_MILLIS * 3 / 10);
        }
    }

    @Test
    void shouldLimitConnections() throws Exception {
        // Long enough that none of them is closed because it sends nothing.
        server.close();
        startServer(60_000);
        for (int i = 0; i < MAX_CONNECTIONS; i++) connect("");
        Socket waiting = connect(REQUEST + "\r\n");
        waiting.setSoTimeout(500);
        assertThatThrownBy(() -> waiting.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        sockets.get(0).close();
        assertThat(readResponse(waiting)).contains("200");
    }

    @Test
    void shouldLimitUploadsAtTheSameTime() throws Exception {
        for (int i = 0; i <= MAX_UPLOADS; i++) connect(post("/api/opened", "application/octet-stream", 200_000_000));
        Socket refused = server.await(() -> {
            for (Socket socket : sockets) if (socket.getInputStream().available() > 0) return socket;
            return null;
        });
        assertThat(readResponse(refused)).startsWith("HTTP/1.1 503 ");
        for (Socket socket : sockets) {
            if (socket != refused)
                assertThat(socket.getInputStream().available()).isZero();
        }
        for (Socket socket : sockets) socket.close();
        server.await(() -> {
            Socket another = connect(post("/api/opened", "application/octet-stream", 1));
            // One byte is no recording.
            return readResponse(another).contains(" 400 ") ? true : null;
        });
    }

    @Test
    void shouldRejectBodiesThatArriveSlowly() throws Exception {
        long start = System.nanoTime();
        for (int i = 0; i < MANY; i++) {
            connect(post("/api/marks", "application/json", 60_000));
            connect(post("/api/opened", "application/octet-stream", 200_000_000));
        }
        assertThat(server.get("/api/info").statusCode()).isEqualTo(200);
        // Before any of them is disconnected.
        assertThat(System.nanoTime() - start).isLessThan(TimeUnit.MILLISECONDS.toNanos(RECEIVE_MILLIS * 3 / 4));
        // One that is silent, because what is sent after the answer may destroy it.
        assertThat(readResponse(sockets.get(0))).startsWith("HTTP/1.1 408 ");
        for (Socket socket : sockets) trickle(socket);
    }
}
