// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class WebServerTest {
    /** A request that is refused would not load the classes for an answer. */
    @Test
    void shouldAnswerItsOwnRequest() throws Exception {
        AtomicInteger answers = new AtomicInteger();
        Routes routes = new Routes(line -> {});
        routes.add("GET", "/metrics", call -> {
            answers.incrementAndGet();
            call.text(200, "");
        });
        WebSecurity security = new WebSecurity(null, config -> {}, line -> {});
        try (WebServer server =
                new WebServer(ListenAddress.parse("--listen", "127.0.0.1:0"), Access.of(security), routes)) {
            server.warmUp("/metrics");
            assertThat(answers).hasValue(1);
        }
    }
}
