// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.time.Clock;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class LoginSessionsTest {
    private final LoginSessions sessions = new LoginSessions(Clock.systemUTC());

    @Test
    void shouldLimitSessionsAndLogins() {
        LoginUser user = new LoginUser("oidc:ann", false);
        String first = sessions.start(user);
        String second = sessions.start(user);
        for (int i = 2; i <= LoginSessions.MAX_SESSIONS; i++) sessions.start(user);
        assertThat(sessions.find(first)).as("makes room for the last one").isNull();
        assertThat(sessions.find(second).user).isEqualTo(user);

        PendingLogin begun = login();
        sessions.begin(begun);
        PendingLogin next = login();
        sessions.begin(next);
        for (int i = 2; i <= LoginSessions.MAX_PENDING; i++) sessions.begin(login());
        assertThat(sessions.take(begun.state())).isNull();
        assertThat(sessions.take(next.state())).isEqualTo(next);
        assertThat(sessions.take(next.state())).as("once").isNull();
    }

    private static PendingLogin login() {
        return new PendingLogin(
                URI.create("http://127.0.0.1/"), "#/", Instant.now().plusSeconds(60));
    }
}
