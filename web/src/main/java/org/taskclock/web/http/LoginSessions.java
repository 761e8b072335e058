// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.eclipse.jetty.server.Request;

/** The browsers that are logged in, and those that are about to be, in memory: a restart ends all. Thread-safe. */
final class LoginSessions {
    static final Duration LENGTH = Duration.ofHours(8);
    static final Duration MAX_PENDING_TIME = Duration.ofMinutes(10);

    static final int MAX_SESSIONS = 1_000;
    static final int MAX_PENDING = 10_000;

    private final Clock clock;

    /** The oldest first, which makes room for a new one. */
    private final Map<String, LoginSession> sessions = new LinkedHashMap<>();

    private final Map<String, PendingLogin> pending = new LinkedHashMap<>();

    LoginSessions(Clock clock) {
        this.clock = clock;
    }

    synchronized void begin(PendingLogin login) {
        pending.values().removeIf(known -> !known.expires().isAfter(clock.instant()));
        if (pending.size() >= MAX_PENDING)
            pending.remove(pending.keySet().iterator().next());
        pending.put(login.state(), login);
    }

    /** Returns a login that has begun, once, so that a response cannot be used again; null if there is none. */
    synchronized PendingLogin take(String state) {
        PendingLogin login = pending.remove(state);
        return login == null || !login.expires().isAfter(clock.instant()) ? null : login;
    }

    /** Starts a session, and returns its identifier, which is always a new one. */
    String start(LoginUser user) {
        String id = PendingLogin.random();
        LoginSession removed = null;
        synchronized (this) {
            sessions.values().removeIf(session -> !session.isValid(clock));
            if (sessions.size() >= MAX_SESSIONS)
                removed = sessions.remove(sessions.keySet().iterator().next());
            sessions.put(id, new LoginSession(user, clock.instant().plus(LENGTH)));
        }
        if (removed != null) removed.end(null);
        return id;
    }

    /** Returns the session with this identifier; null if there is none. */
    synchronized LoginSession find(String id) {
        LoginSession session = sessions.get(id);
        return session == null || !session.isValid(clock) ? null : session;
    }

    /** Ends a session, if there is one, and all its requests except this one. */
    void end(String id, Request by) {
        LoginSession session;
        synchronized (this) {
            session = sessions.remove(id);
        }
        if (session != null) session.end(by);
    }
}
