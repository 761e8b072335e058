// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Closes connections that take too long to send a request header, and new ones that send none. Jetty limits only idle
 * time, so a client could keep a connection open by sending a byte from time to time.
 */
final class SlowRequests extends Handler.Wrapper implements Connection.Listener {
    /** The attribute of a request that has the limit, for its body. */
    static final String MAX_MILLIS = SlowRequests.class.getName();

    /** A connection that is sending a header, is idle, or waits for a response: for several with HTTP/2. */
    private static final class State {
        private int answering;

        /** The number of bytes received up to the end of the last request, including TLS overhead. */
        private long bytesBefore;

        /** When the first byte of the header was noticed, as of System.nanoTime. */
        private long startedAt = System.nanoTime();

        private boolean isReceiving = true;

        synchronized void startAnswering() {
            answering++;
        }

        synchronized void endAnswering(long bytes) {
            answering--;
            isReceiving = false;
            bytesBefore = bytes;
        }

        synchronized boolean isTooSlow(long bytes, long now, long maxNanos) {
            if (answering > 0) return false;
            if (!isReceiving && bytes != bytesBefore) {
                isReceiving = true;
                startedAt = now;
            }
            return isReceiving && now - startedAt > maxNanos;
        }
    }

    private final Map<Connection, State> states = new ConcurrentHashMap<>();
    private final Scheduler scheduler;
    private final long maxMillis;
    private volatile Scheduler.Task check;

    SlowRequests(Handler handler, Scheduler scheduler, long maxMillis) {
        super(handler);
        this.scheduler = scheduler;
        this.maxMillis = maxMillis;
    }

    @Override
    public void onOpened(Connection connection) {
        // The TLS connection wraps the one that handles requests.
        if (!(connection instanceof SslConnection)) states.put(connection, new State());
    }

    @Override
    public void onClosed(Connection connection) {
        states.remove(connection);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        request.setAttribute(MAX_MILLIS, maxMillis);
        Connection connection = request.getConnectionMetaData().getConnection();
        State state = states.get(connection);
        if (state != null) {
            state.startAnswering();
            Request.addCompletionListener(request, failure -> state.endAnswering(bytesIn(connection)));
        }
        return super.handle(request, response, callback);
    }

    /** Returns the number of bytes received, including those of incomplete TLS records. */
    private static long bytesIn(Connection connection) {
        return connection.getEndPoint() instanceof SslConnection.SslEndPoint tls
                ? tls.getSslConnection().getBytesIn()
                : connection.getBytesIn();
    }

    private void check() {
        try {
            long now = System.nanoTime();
            long maxNanos = TimeUnit.MILLISECONDS.toNanos(maxMillis);
            states.forEach((connection, state) -> {
                if (!state.isTooSlow(bytesIn(connection), now, maxNanos)) return;
                // With HTTP/2, bytes need not belong to a request, so the client is told that the connection ends.
                if (connection instanceof HTTP2Connection) connection.close();
                else connection.getEndPoint().close();
            });
        } finally {
            schedule();
        }
    }

    private void schedule() {
        if (!isStopping() && !isStopped())
            check = scheduler.schedule(this::check, maxMillis / 10, TimeUnit.MILLISECONDS);
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        schedule();
    }

    @Override
    protected void doStop() throws Exception {
        if (check != null) check.cancel();
        super.doStop();
    }
}
