// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.http.HttpHeader;

/** Sends the same events to all browsers that have the same view open. Thread-safe. */
public final class EventChannel {
    private final Set<EventStream> streams = ConcurrentHashMap.newKeySet();

    /** As of System.nanoTime. */
    private volatile long emptySince = System.nanoTime();

    /** Starts sending events to the client. */
    public void add(Call call) {
        call.response.setStatus(200);
        call.response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/event-stream; charset=utf-8");
        EventStream[] added = new EventStream[1];
        added[0] = new EventStream(call.response, call.callback, () -> remove(added[0]));
        streams.add(added[0]);
        // Sends the response header, which tells the browser that it is connected.
        added[0].send(ByteBuffer.wrap(": connected\n\n".getBytes(StandardCharsets.US_ASCII)));
    }

    private void remove(EventStream stream) {
        streams.remove(stream);
        emptySince = System.nanoTime();
    }

    public boolean isEmpty() {
        return streams.isEmpty();
    }

    /** Returns whether all previous events have been sent to all clients, so that none misses the next one. */
    boolean isIdle() {
        return streams.stream().noneMatch(EventStream::isWriting);
    }

    /** Returns whether there has been no client for the given time. */
    public boolean isEmptyFor(long nanos) {
        return streams.isEmpty() && System.nanoTime() - emptySince >= nanos;
    }

    /** Sends an event. The data is one line. */
    public void send(String event, byte[] data) {
        byte[] head = ("event: " + event + "\ndata: ").getBytes(StandardCharsets.US_ASCII);
        ByteBuffer buffer = ByteBuffer.allocate(head.length + data.length + 2);
        buffer.put(head).put(data).put((byte) '\n').put((byte) '\n').flip();
        for (EventStream stream : streams) stream.send(buffer.asReadOnlyBuffer());
    }

    /** Ends all streams. */
    public void close() {
        for (EventStream stream : streams) stream.end();
    }
}
