// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.Executors;

/** Clients of a web server. Each runs on a virtual thread and requests one path after another without pauses. */
public final class HttpClients {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private HttpClients() {}

    /** Starts the clients. Each may send its first request before the server listens. */
    public static void start(Load load, int port, int clients, String... paths) {
        HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .executor(Executors.newVirtualThreadPerTaskExecutor())
                .build();
        for (int i = 0; i < clients; i++) {
            int first = i;
            Thread.ofVirtual().name("client").start(() -> {
                for (int next = first; ; next++) request(load, http, port, paths[next % paths.length]);
            });
        }
    }

    private static void request(Load load, HttpClient http, int port, String path) {
        try {
            URI uri = URI.create("http://127.0.0.1:" + port + path);
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(uri).timeout(TIMEOUT).build(), HttpResponse.BodyHandlers.ofString());
            if (response.statusCode() != 200) throw new IOException(path + ": status " + response.statusCode());
            load.answer(path, response.body());
        } catch (IOException | RuntimeException e) {
            load.fail(e);
        } catch (InterruptedException e) {
            load.fail(e);
            Thread.currentThread().interrupt();
        }
    }
}
