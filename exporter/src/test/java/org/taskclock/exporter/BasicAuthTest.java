// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import static org.assertj.core.api.Assertions.assertThat;

import at.favre.lib.crypto.bcrypt.BCrypt;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BasicAuthTest {
    private final BasicAuth auth =
            new BasicAuth(Map.of("alice", BCrypt.withDefaults().hashToString(4, "p\u00e4ss:word".toCharArray())));

    private static String basic(String credentials) {
        return "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldAcceptTheRightPassword() {
        assertThat(auth.verify(basic("alice:p\u00e4ss:word"))).isEqualTo("alice");
        assertThat(auth.verify(basic("alice:p\u00e4ss:word"))).isEqualTo("alice");
        assertThat(auth.verify(basic("alice:p\u00e4ss:word").replace("Basic", "basic")))
                .isEqualTo("alice");
    }

    @Test
    void shouldRejectAWrongPasswordAfterTheRightOne() {
        assertThat(auth.verify(basic("alice:p\u00e4ss:word"))).isEqualTo("alice");
        assertThat(auth.verify(basic("alice:wrong"))).isNull();
        assertThat(auth.verify(basic("bob:p\u00e4ss:word"))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"alice:pass:word", "alice:", "alice", "bob:p\u00e4ss:word", ":", ""})
    void shouldRejectOthers(String credentials) {
        assertThat(auth.verify(basic(credentials))).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Basic", "Basic ", "Basic !", "Bearer x", "Basic YQ"})
    void shouldRejectMalformedHeaders(String header) {
        assertThat(auth.verify(header)).isNull();
    }

    @Test
    void shouldRejectPasswordsThatBcryptWouldTruncate() {
        String longest = "x".repeat(72);
        BasicAuth users = new BasicAuth(Map.of("alice", BCrypt.withDefaults().hashToString(4, longest.toCharArray())));
        assertThat(users.verify(basic("alice:" + longest + "y"))).isNull();
    }

    /** The CPU time of a check shows the cost of the hash, which a client sees as the time of the response. */
    @Test
    void shouldCheckUnknownUsersForAsLongAsKnownOnes() {
        BasicAuth users =
                new BasicAuth(Map.of("alice", BCrypt.withDefaults().hashToString(12, "secret".toCharArray())));
        long known = Long.MAX_VALUE;
        long unknown = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            known = Math.min(known, cpuNanos(users, "alice:wrong" + i));
            unknown = Math.min(unknown, cpuNanos(users, "bob:wrong" + i));
        }
        assertThat((double) unknown / known).isBetween(0.5, 2.0);
    }

    /** If checks overlapped on several processors, they would take less time than CPU time. */
    @Test
    void shouldCheckOnePasswordAtATime() throws Exception {
        BasicAuth users =
                new BasicAuth(Map.of("alice", BCrypt.withDefaults().hashToString(12, "secret".toCharArray())));
        ExecutorService clients = Executors.newFixedThreadPool(4);
        try {
            long start = System.nanoTime();
            List<Future<Long>> checks = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                String credentials = "alice:wrong" + i;
                checks.add(clients.submit(() -> cpuNanos(users, credentials)));
            }
            long cpu = 0;
            for (Future<Long> check : checks) cpu += check.get();
            assertThat(System.nanoTime() - start).isGreaterThan(cpu * 9 / 10);
        } finally {
            clients.shutdown();
        }
    }

    private static long cpuNanos(BasicAuth users, String credentials) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        assertThat(users.verify(basic(credentials))).isNull();
        return threads.getCurrentThreadCpuTime() - start;
    }
}
