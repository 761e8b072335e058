// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Closes connections that take long to send the header of their first request. Jetty limits only the time in which
 * nothing arrives, so that a client could keep a connection busy by sending a byte from time to time.
 */
final class SlowRequests extends AbstractLifeCycle implements Connection.Listener {
    private static final long MAX_SECONDS = 10;

    private final ServerConnector connector;
    private final Map<Connection, Scheduler.Task> checks = new ConcurrentHashMap<>();

    SlowRequests(ServerConnector connector) {
        this.connector = connector;
    }

    @Override
    public void onOpened(Connection connection) {
        checks.put(
                connection, connector.getScheduler().schedule(() -> check(connection), MAX_SECONDS, TimeUnit.SECONDS));
    }

    private void check(Connection connection) {
        // Of TLS, whose own connection has no messages, the inner connection is checked.
        boolean hasRequest =
                connection.getMessagesIn() > 0 || connection.getEndPoint().getConnection() != connection;
        if (checks.remove(connection) != null && !hasRequest)
            connection.getEndPoint().close();
    }

    @Override
    public void onClosed(Connection connection) {
        Scheduler.Task check = checks.remove(connection);
        if (check != null) check.cancel();
    }
}
