// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import static org.assertj.core.api.Assertions.assertThat;

import at.favre.lib.crypto.bcrypt.BCrypt;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow17")
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

    @Test
    void shouldCheckOnePasswordAtATime() throws Exception {
        BasicAuth users =
                new BasicAuth(Map.of("alice", BCrypt.withDefaults().hashToString(12, "secret".toCharArray())));
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            String credentials = basic("alice:wrong" + i);
            clients.add(new Thread(() -> users.verify(credentials)));
        }
        for (Thread client : clients) client.start();
        long[] ids = clients.stream().mapToLong(Thread::getId).toArray();
        List<Long> checking = new ArrayList<>();
        while (clients.stream().anyMatch(Thread::isAlive)) {
            // The stacks of all threads at the same moment.
            ThreadInfo[] infos = ManagementFactory.getThreadMXBean().getThreadInfo(ids, Integer.MAX_VALUE);
            checking.add(Stream.of(infos).filter(BasicAuthTest::isChecking).count());
        }
        assertThat(checking).contains(1L).allMatch(threads -> threads <= 1);
    }

    /** A check of bob's hash takes seconds. */
    @Test
    void shouldNotLetAcceptedClientsWaitForAGuess() throws Exception {
        String slow = "$2y$14$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";
        BasicAuth users = new BasicAuth(
                Map.of("alice", BCrypt.withDefaults().hashToString(4, "secret".toCharArray()), "bob", slow));
        assertThat(users.verify(basic("alice:secret"))).isEqualTo("alice");
        Thread guess = new Thread(() -> users.verify(basic("bob:wrong")));
        guess.start();
        while (!isChecking(ManagementFactory.getThreadMXBean().getThreadInfo(guess.getId(), Integer.MAX_VALUE)))
            Thread.onSpinWait();
        List<String> accepted = Collections.synchronizedList(new ArrayList<>());
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 20; i++) clients.add(new Thread(() -> accepted.add(users.verify(basic("alice:secret")))));
        for (Thread client : clients) client.start();
        for (Thread client : clients) client.join();
        assertThat(guess.isAlive()).as("the guess is still being checked").isTrue();
        assertThat(accepted).hasSize(20).containsOnly("alice");
        guess.join();
    }

    @Test
    void shouldCheckTheHashOnceForConcurrentFirstRequests() throws Exception {
        BasicAuth users =
                new BasicAuth(Map.of("alice", BCrypt.withDefaults().hashToString(12, "secret".toCharArray())));
        long one = cpuNanos(users, "alice:wrong");
        AtomicLong all = new AtomicLong();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < 8; i++)
            clients.add(new Thread(() -> {
                ThreadMXBean threads = ManagementFactory.getThreadMXBean();
                long start = threads.getCurrentThreadCpuTime();
                users.verify(basic("alice:secret"));
                all.addAndGet(threads.getCurrentThreadCpuTime() - start);
            }));
        for (Thread client : clients) client.start();
        for (Thread client : clients) client.join();
        assertThat(all.get()).as("CPU time of eight clients").isLessThan(4 * one);
    }

    private static boolean isChecking(ThreadInfo thread) {
        return thread != null
                && Stream.of(thread.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().startsWith(BCrypt.class.getName()));
    }

    private static long cpuNanos(BasicAuth users, String credentials) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long start = threads.getCurrentThreadCpuTime();
        assertThat(users.verify(basic(credentials))).isNull();
        return threads.getCurrentThreadCpuTime() - start;
    }
}
