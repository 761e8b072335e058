// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** A browser that receives events. Thread-safe. */
final class EventStream {
    /** A browser that misses this many consecutive events is disconnected. */
    private static final int MAX_MISSED = 15;

    private final Response response;
    private final Callback callback;
    private final Runnable onClosed;
    private final AtomicBoolean isClosed = new AtomicBoolean();

    /** Whether an event is still being written. */
    private boolean isWriting;

    private boolean isEnding;
    private int missed;

    EventStream(Response response, Callback callback, Runnable onClosed) {
        this.response = response;
        this.callback = callback;
        this.onClosed = onClosed;
    }

    synchronized boolean isWriting() {
        return isWriting;
    }

    /** Sends an event, or skips it if the browser has not yet received the previous one. */
    void send(ByteBuffer event) {
        boolean isTooSlow;
        synchronized (this) {
            if (isClosed.get()) return;
            isTooSlow = isWriting && ++missed > MAX_MISSED;
            if (isWriting && !isTooSlow) return;
            isWriting = true;
        }
        if (isTooSlow) {
            close(new IllegalStateException("the client reads too slowly"));
            return;
        }
        response.write(false, event, Callback.from(this::written, this::close));
    }

    private void written() {
        synchronized (this) {
            isWriting = false;
            missed = 0;
            if (!isEnding) return;
        }
        close(null);
    }

    /** Ends the stream after the last event has been sent. */
    void end() {
        synchronized (this) {
            isEnding = true;
            if (isWriting) return;
        }
        close(null);
    }

    /** Ends the stream immediately. The cause is null if everything has been sent. */
    private void close(Throwable cause) {
        if (!isClosed.compareAndSet(false, true)) return;
        onClosed.run();
        if (cause == null) response.write(true, null, callback);
        else callback.failed(cause);
    }
}
