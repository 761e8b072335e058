// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The clients of one tenant. */
final class StormClients {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final StormServer server;
    private final String tenant;
    private final HttpClient http;
    private volatile boolean isStopped;
    private volatile Outcome outcome = new Outcome();

    /** What became of the requests sent in one phase. Latencies of successful requests are in microseconds. */
    static final class Outcome {
        final Histogram latencies = new ConcurrentHistogram(3);
        final LongAdder sent = new LongAdder();
        final LongAdder shed = new LongAdder();
        final LongAdder failed = new LongAdder();
    }

    StormClients(StormServer server, String tenant) {
        this.server = server;
        this.tenant = tenant;
        http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .executor(Executors.newVirtualThreadPerTaskExecutor())
                .build();
    }

    /** Starts a new phase, and returns the outcome of its requests, which is complete after a timeout. */
    Outcome startPhase() {
        Outcome next = new Outcome();
        outcome = next;
        return next;
    }

    /**
     * Sends requests at a constant rate, however long they take. Latencies include the time by which a request was sent
     * too late.
     */
    void sendAtRate(int perSecond) {
        long intervalNanos = Duration.ofSeconds(1).toNanos() / perSecond;
        Thread.ofPlatform().daemon().name("clients of " + tenant).start(() -> {
            for (long due = System.nanoTime(); !isStopped; due += intervalNanos) {
                long wait = due - System.nanoTime();
                while (wait > 0) {
                    LockSupport.parkNanos(wait);
                    wait = due - System.nanoTime();
                }
                Outcome phase = outcome;
                long dueNanos = due;
                Thread.startVirtualThread(() -> send(phase, dueNanos));
            }
        });
    }

    /** Starts clients that send one request after another. */
    void flood(int clients) {
        for (int i = 0; i < clients; i++) {
            Thread.startVirtualThread(() -> {
                while (!isStopped) send(outcome, System.nanoTime());
            });
        }
    }

    void stop() {
        isStopped = true;
    }

    private void send(Outcome phase, long dueNanos) {
        phase.sent.increment();
        URI uri = server.uri("/" + tenant);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(TIMEOUT)
                .header("X-Tenant", tenant)
                .build();
        try {
            int status =
                    http.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
            if (status == 200) {
                phase.latencies.recordValue((System.nanoTime() - dueNanos) / 1000);
            } else if (status == 429) {
                phase.shed.increment();
            } else {
                phase.failed.increment();
            }
        } catch (IOException e) {
            phase.failed.increment();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
