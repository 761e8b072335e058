// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** A browser that receives the events of one or more channels. Thread-safe. */
public final class EventStream {
    /** A browser that misses this many consecutive events of a channel is disconnected. */
    private static final int MAX_MISSED = 15;

    /** What the browser receives from one channel. At most one event of it waits. Guarded by the stream. */
    static final class Subscription {
        final EventStream stream;

        /** The field {@code id} of its events; null for none. */
        final String id;

        private final Runnable onClosed;

        /** Whether an event waits or is being written. */
        private boolean isWaiting;

        private int missed;

        Subscription(EventStream stream, String id, Runnable onClosed) {
            this.stream = stream;
            this.id = id;
            this.onClosed = onClosed;
        }
    }

    private record Event(Subscription from, ByteBuffer text) {}

    private final Response response;
    private final Callback callback;
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final Queue<Subscription> subscriptions = new ArrayDeque<>();
    private final Queue<Event> waiting = new ArrayDeque<>();
    private boolean isWriting = true;
    private boolean isEnding;

    /** Creates a stream to which nothing is sent before {@link #start}. */
    public EventStream(Call call) {
        response = call.response;
        callback = call.callback;
        response.setStatus(200);
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream; charset=utf-8");
        // Proxies such as nginx would collect events.
        response.getHeaders().put("X-Accel-Buffering", "no");
    }

    /** Starts sending. The stream ends when its last subscription does. */
    public void start() {
        synchronized (this) {
            isEnding = subscriptions.isEmpty();
        }
        // Sends the response header, which tells the browser that it is connected.
        write(ByteBuffer.wrap(": connected\n\n".getBytes(StandardCharsets.US_ASCII)), null);
    }

    /** Sends an event that belongs to no channel. */
    public void send(String event, String id, byte[] data) {
        synchronized (this) {
            waiting.add(new Event(null, EventChannel.text(event, id, data)));
            if (isWriting) return;
            isWriting = true;
        }
        writeNext();
    }

    /** Returns false if the stream is closed. */
    synchronized boolean add(Subscription subscription) {
        return !isClosed.get() && subscriptions.add(subscription);
    }

    synchronized boolean isWaiting(Subscription subscription) {
        return subscription.isWaiting;
    }

    /**
     * Sends an event, or skips it if the browser has not yet received the previous one of this channel.
     *
     * @return whether it is sent
     */
    boolean send(Subscription from, ByteBuffer text) {
        boolean isTooSlow;
        synchronized (this) {
            if (isClosed.get()) return false;
            isTooSlow = from.isWaiting && ++from.missed > MAX_MISSED;
            if (from.isWaiting && !isTooSlow) return false;
            if (!isTooSlow) {
                from.isWaiting = true;
                waiting.add(new Event(from, text));
                if (isWriting) return true;
                isWriting = true;
            }
        }
        if (isTooSlow) close(new IllegalStateException("the client reads too slowly"));
        else writeNext();
        return !isTooSlow;
    }

    private void writeNext() {
        Event event;
        synchronized (this) {
            event = waiting.poll();
            isWriting = event != null;
            if (event == null && !isEnding) return;
        }
        if (event == null) close(null);
        else write(event.text, event.from);
    }

    private void write(ByteBuffer text, Subscription from) {
        response.write(false, text, Callback.from(() -> written(from), this::close));
    }

    private void written(Subscription from) {
        synchronized (this) {
            if (from != null) {
                from.isWaiting = false;
                from.missed = 0;
            }
        }
        writeNext();
    }

    /** Ends a subscription after its last event has been sent, and the stream with the last subscription. */
    void end(Subscription subscription) {
        synchronized (this) {
            subscriptions.remove(subscription);
        }
        subscription.onClosed.run();
        synchronized (this) {
            isEnding = subscriptions.isEmpty();
            if (!isEnding || isWriting) return;
        }
        close(null);
    }

    /** Ends the stream immediately. The cause is null if everything has been sent. */
    private void close(Throwable cause) {
        if (!isClosed.compareAndSet(false, true)) return;
        Queue<Subscription> open;
        synchronized (this) {
            open = new ArrayDeque<>(subscriptions);
            subscriptions.clear();
            waiting.clear();
        }
        open.forEach(subscription -> subscription.onClosed.run());
        if (cause == null) response.write(true, null, callback);
        else callback.failed(cause);
    }
}
