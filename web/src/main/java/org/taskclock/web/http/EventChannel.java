// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.taskclock.web.http.EventStream.Subscription;

/** Sends the same events to all browsers that have the same view open. Thread-safe. */
public final class EventChannel {
    /** The event whose data is what changed since the previous event. */
    public static final String CHANGES = "changes";

    /** What a client receives. */
    private enum Kind {
        /** Complete states only. */
        STATES,
        /** Changes. The client has the previous state. */
        CHANGES,
        /** Changes. The client has no state, or has missed an event. */
        OUTDATED
    }

    private final Map<Subscription, Kind> subscriptions = new ConcurrentHashMap<>();

    /** As of System.nanoTime. */
    private volatile long emptySince = System.nanoTime();

    /** The last state, for clients that connect; null if nobody has received it. */
    private volatile Event last;

    /** An event whose text is the same for all clients with the same id. */
    private static final class Event {
        private final String name;
        private final Supplier<byte[]> data;
        private final Map<String, ByteBuffer> texts = new HashMap<>();

        Event(String name, Supplier<byte[]> data) {
            this.name = name;
            this.data = data;
        }

        synchronized boolean sendTo(Subscription one) {
            ByteBuffer text = texts.computeIfAbsent(one.id, id -> text(name, id, data.get()));
            return one.stream.send(one, text.asReadOnlyBuffer());
        }
    }

    /** Starts sending events to a client that has no other channel. */
    public void add(Call call) {
        EventStream stream = new EventStream(call);
        add(stream, null, Kind.STATES);
        stream.start();
    }

    /** Starts sending changes to a client, in events with an id. */
    public void addChanges(EventStream stream, String id) {
        add(stream, id, Kind.OUTDATED);
    }

    private synchronized void add(EventStream stream, String id, Kind kind) {
        Subscription[] added = new Subscription[1];
        added[0] = new Subscription(stream, id, () -> remove(added[0]));
        subscriptions.put(added[0], kind);
        Event state = last;
        if (!stream.add(added[0])) remove(added[0]);
        else if (kind == Kind.OUTDATED && state != null) sendState(added[0], state);
    }

    private void remove(Subscription subscription) {
        subscriptions.remove(subscription);
        emptySince = System.nanoTime();
        if (subscriptions.isEmpty()) last = null;
    }

    public boolean isEmpty() {
        return subscriptions.isEmpty();
    }

    /** Returns whether all previous events have been sent to all clients, so that none misses the next one. */
    boolean isIdle() {
        return subscriptions.keySet().stream().noneMatch(one -> one.stream.isWaiting(one));
    }

    /** Returns whether there has been no client for the given time. */
    public boolean isEmptyFor(long nanos) {
        return subscriptions.isEmpty() && System.nanoTime() - emptySince >= nanos;
    }

    /** Sends an event that is no state. The data is one line. */
    public void send(String event, byte[] data) {
        Event sent = new Event(event, () -> data);
        subscriptions.keySet().forEach(sent::sendTo);
    }

    /**
     * Sends a state: all of it, or what changed since the previous one to clients that have that and asked for changes.
     *
     * @param changes null if the difference is unknown
     */
    public synchronized void send(String event, Supplier<byte[]> state, byte[] changes) {
        Event all = new Event(event, state);
        Event difference = changes == null ? null : new Event(CHANGES, () -> changes);
        last = all;
        subscriptions.forEach((one, kind) -> {
            if (kind != Kind.CHANGES || difference == null) sendState(one, all);
            else if (!difference.sendTo(one)) become(one, Kind.OUTDATED);
        });
    }

    private void sendState(Subscription one, Event state) {
        boolean isSent = state.sendTo(one);
        if (subscriptions.get(one) != Kind.STATES) become(one, isSent ? Kind.CHANGES : Kind.OUTDATED);
    }

    /** Does nothing for a client that has disconnected. */
    private void become(Subscription one, Kind kind) {
        subscriptions.computeIfPresent(one, (key, old) -> kind);
    }

    /** Returns the text of an event. The id is null for none. */
    static ByteBuffer text(String event, String id, byte[] data) {
        String head = (id == null ? "" : "id: " + id + "\n") + "event: " + event + "\ndata: ";
        ByteBuffer buffer = ByteBuffer.allocate(head.length() + data.length + 2);
        buffer.put(head.getBytes(StandardCharsets.US_ASCII))
                .put(data)
                .put((byte) '\n')
                .put((byte) '\n');
        return buffer.flip();
    }

    /** Ends all subscriptions. */
    public void close() {
        for (Subscription subscription : subscriptions.keySet()) subscription.stream.end(subscription);
    }
}
