// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.taskclock.web.http.ClientConfig;

class PrometheusApiTest {
    @Test
    @Timeout(60)
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "before JDK 21, an HttpClient cannot be closed")
    void shouldEndRequestsWhenItIsClosed() throws Exception {
        try (FakePrometheus prometheus = new FakePrometheus()) {
            prometheus.delayMillis = 300_000;
            PrometheusApi api = new PrometheusApi(prometheus.url(), ClientConfig.NONE, Duration.ofMinutes(10));
            CompletableFuture<Answer> answer = api.at(Instant.EPOCH, "up");
            while (prometheus.queries.isEmpty()) Thread.sleep(10);
            api.close();
            assertThatThrownBy(() -> answer.get(30, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        }
    }
}
