// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Scheduler;

/** The time in which a browser is logged in. Thread-safe. */
final class LoginSession {
    final LoginUser user;
    final Instant expires;

    /** Requests that are being answered: a stream of events must not outlive the session. */
    private final Set<Request> open = ConcurrentHashMap.newKeySet();

    private volatile boolean hasEnded;

    LoginSession(LoginUser user, Instant expires) {
        this.user = user;
        this.expires = expires;
    }

    boolean isValid(Clock clock) {
        return !hasEnded && clock.instant().isBefore(expires);
    }

    /** Closes the connection of a request if the session ends before it is answered. */
    void add(Request request, Clock clock) {
        Request sent = Request.unWrap(request);
        open.add(sent);
        Scheduler.Task end = request.getComponents()
                .getScheduler()
                .schedule(
                        () -> close(request),
                        Math.max(0, Duration.between(clock.instant(), expires).toMillis()),
                        TimeUnit.MILLISECONDS);
        Request.addCompletionListener(request, failure -> {
            end.cancel();
            open.remove(sent);
        });
        if (hasEnded) close(request);
    }

    private static void close(Request request) {
        request.getConnectionMetaData().getConnection().getEndPoint().close();
    }

    /** Ends the session, and all its requests except the one that ends it. */
    void end(Request by) {
        Request last = by == null ? null : Request.unWrap(by);
        hasEnded = true;
        for (Request request : open) if (request != last) close(request);
    }
}
