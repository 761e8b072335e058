// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events to browsers that read them, and to others that do not. */
@Tag("slow17")
final class EventChannelTest {
    /** More than the buffers of a connection hold. */
    private static final int EVENT_BYTES = 16 << 20;

    /** The number of events that a client may miss. */
    private static final int MAX_MISSED = 15;

    private static final int SLOW_CLIENTS = 4;

    private final EventChannel channel = new EventChannel();
    private final List<Socket> sockets = new ArrayList<>();
    private final byte[] data = new byte[EVENT_BYTES];
    private final AtomicLong received = new AtomicLong();
    private WebServer server;
    private InetSocketAddress address;

    @BeforeEach
    void startServer() throws WebException {
        Arrays.fill(data, (byte) 'x');
        Routes routes = new Routes(message -> {});
        routes.add("GET", "/api/live", channel::add);
        WebSecurity security = new WebSecurity(null, config -> {}, line -> {});
        server = new WebServer(ListenAddress.parse("--listen", "127.0.0.1:0"), Access.of(security), routes);
        address = new InetSocketAddress(
                InetAddress.getLoopbackAddress(), URI.create(server.url()).getPort());
    }

    @AfterEach
    void stopServer() throws IOException {
        for (Socket socket : sockets) socket.close();
        server.close();
    }

    /** Connects a client and reads until it is connected. */
    private Socket connect() throws IOException, InterruptedException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.setReceiveBufferSize(4_096);
        socket.setSoTimeout(60_000);
        socket.connect(address);
        String request = "GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        StringBuilder text = new StringBuilder();
        while (text.indexOf(": connected\n\n") < 0)
            text.append((char) socket.getInputStream().read());
        awaitIdle();
        return socket;
    }

    /** Waits until no client misses the next event. */
    private void awaitIdle() throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!channel.isIdle()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(1);
        }
    }

    /** Counts the bytes of events that arrive. */
    private void readAll(Socket socket) {
        Thread thread = new Thread(() -> {
            byte[] buffer = new byte[1 << 16];
            try (InputStream in = socket.getInputStream()) {
                for (int read; (read = in.read(buffer)) >= 0; ) received.addAndGet(read);
            } catch (IOException e) {
                // Closed at the end of the test.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void awaitReceived(long bytes) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (received.get() < bytes) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(5);
        }
    }

    private static long usedHeap() {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    @Test
    void shouldDisconnectClientsThatDoNotRead() throws Exception {
        for (int i = 0; i < SLOW_CLIENTS; i++) connect();
        channel.send("first", data);
        for (int i = 0; i < MAX_MISSED; i++) channel.send("missed", new byte[1]);
        assertThat(channel.isEmpty()).isFalse();
        channel.send("last", new byte[1]);
        assertThat(channel.isEmpty()).isTrue();
        // The header and the rest of what was in the buffers arrive before the end.
        for (Socket socket : sockets) {
            try (InputStream in = socket.getInputStream()) {
                byte[] buffer = new byte[1 << 16];
                int read = 0;
                while (read >= 0) read = in.read(buffer);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("reset");
            }
        }
    }

    @Test
    void shouldNeitherWaitForSlowClientsNorKeepEventsForThem() throws Exception {
        Socket fast = connect();
        for (int i = 0; i < SLOW_CLIENTS; i++) connect();
        readAll(fast);
        long before = usedHeap();
        for (int i = 1; i <= MAX_MISSED; i++) {
            channel.send("event", data);
            // The fast client gets each event before the next one, although others have not read the first.
            awaitReceived((long) i * EVENT_BYTES);
        }
        assertThat(channel.isEmpty()).isFalse();
        assertThat(usedHeap() - before).isLessThan(MAX_MISSED / 2 * (long) EVENT_BYTES);
    }

    @Test
    void shouldKeepClientsThatCatchUp() throws Exception {
        Socket socket = connect();
        for (int round = 1; round <= 3; round++) {
            channel.send("large", data);
            for (int i = 0; i < MAX_MISSED; i++) channel.send("missed", new byte[1]);
            if (round == 1) readAll(socket);
            awaitReceived((long) round * EVENT_BYTES);
            awaitIdle();
        }
        assertThat(channel.isEmpty()).isFalse();
    }

    @Test
    void shouldEndAllStreams() throws Exception {
        InputStream in = connect().getInputStream();
        channel.send("event", new byte[] {'1'});
        channel.close();
        StringBuilder text = new StringBuilder();
        while (text.indexOf("\r\n0\r\n\r\n") < 0) text.append((char) in.read());
        assertThat(text).contains("event: event\ndata: 1\n\n");
        assertThat(channel.isEmpty()).isTrue();
    }
}
