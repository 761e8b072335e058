// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A process that is not a JVM, and a socket that answers attach requests in its place. */
public final class FakeJvm implements AutoCloseable {
    /** Closes the connection without a reply. */
    public static final String NO_REPLY = "";

    private static final String ENDLESS_REPLY = "endless";
    private static final int TIMEOUT_SECONDS = 20;

    private final Process process;
    private final Path socket;
    private final ServerSocketChannel server;
    private final UnaryOperator<String> replies;
    private final BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    private final List<SocketChannel> unanswered = new ArrayList<>();
    private final CountDownLatch disconnected = new CountDownLatch(1);

    /**
     * Starts the process.
     *
     * @param replies returns the reply to a request; {@link #NO_REPLY}; or null to let the client wait
     */
    public FakeJvm(UnaryOperator<String> replies) throws IOException {
        this.replies = replies;
        process = new ProcessBuilder("sleep", "600").start();
        socket = Path.of("/tmp/.java_pid" + process.pid());
        Files.deleteIfExists(socket); // left by a killed JVM that had the same id
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(socket));
        Thread thread = new Thread(this::serve, "fake JVM");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns a process whose replies never end: a byte every 10 ms, until the client disconnects. */
    static FakeJvm endless() throws IOException {
        return new FakeJvm(request -> ENDLESS_REPLY);
    }

    public long pid() {
        return process.pid();
    }

    public AttachClient client() {
        return AttachClient.of(pid());
    }

    private void serve() {
        try {
            while (true) {
                SocketChannel channel = server.accept();
                ByteBuffer bytes = ByteBuffer.allocate(10_000);
                channel.read(bytes);
                String request = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
                request = request.replace('\0', ' ');
                String reply = replies.apply(request);
                requests.add(request);
                if (reply == null) {
                    unanswered.add(channel);
                } else if (reply.equals(ENDLESS_REPLY)) {
                    sendUntilDisconnected(channel);
                } else {
                    send(channel, reply);
                }
            }
        } catch (IOException e) {
            return; // closed
        }
    }

    private static void send(SocketChannel channel, String reply) {
        try (channel) {
            if (!reply.isEmpty()) channel.write(ByteBuffer.wrap(("0\n" + reply).getBytes(StandardCharsets.UTF_8)));
        } catch (IOException e) {
            return; // the client has read enough
        }
    }

    private void sendUntilDisconnected(SocketChannel channel) throws IOException {
        try (channel) {
            channel.write(ByteBuffer.wrap("0\n".getBytes(StandardCharsets.UTF_8)));
            while (server.isOpen()) {
                channel.write(ByteBuffer.wrap(new byte[] {'x'}));
                TimeUnit.MILLISECONDS.sleep(10);
            }
        } catch (IOException e) {
            disconnected.countDown();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** Waits until a client has disconnected from an endless reply. */
    void awaitDisconnection() throws InterruptedException {
        if (!disconnected.await(TIMEOUT_SECONDS, TimeUnit.SECONDS)) throw new AssertionError("still connected");
    }

    /** Returns the next request, with spaces instead of zeros. */
    public String nextRequest() throws InterruptedException {
        String request = requests.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (request == null) throw new AssertionError("no request");
        return request;
    }

    /** Returns the number of requests since the last call. */
    int takeRequests() {
        return requests.drainTo(new ArrayList<>());
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.deleteIfExists(socket);
        for (SocketChannel channel : unanswered) channel.close();
        process.destroyForcibly();
    }
}
