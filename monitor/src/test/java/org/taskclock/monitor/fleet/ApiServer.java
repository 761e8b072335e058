// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.taskclock.testing.TestCertificate;

/** An API server that answers one request, the pods of a node, and the service account of a pod for it. */
final class ApiServer implements AutoCloseable {
    final Path account;

    /** The queries of the requests so far. */
    final List<String> queries = Collections.synchronizedList(new ArrayList<>());

    volatile String pods = "{\"kind\": \"PodList\", \"items\": []}";
    volatile int status = 200;
    private volatile String token = "token-1";
    private final HttpsServer server;

    ApiServer(Path directory) throws Exception {
        account = Files.createDirectory(directory.resolve("serviceaccount"));
        TestCertificate certificate = TestCertificate.create(directory, "api");
        Files.copy(directory.resolve("api.crt"), account.resolve("ca.crt"));
        Files.writeString(account.resolve("token"), token + "\n");
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(certificate.clientContext(certificate)));
        server.createContext("/", this::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String authorization = exchange.getRequestHeaders().getFirst("Authorization");
            boolean isKnown = ("Bearer " + token).equals(authorization)
                    && exchange.getRequestURI().getPath().equals("/api/v1/pods");
            queries.add(exchange.getRequestURI().getQuery());
            byte[] body = pods.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(isKnown ? status : 401, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** Accepts only this token from now on. */
    void expire(String next) {
        token = next;
    }

    KubernetesApi api() {
        return new KubernetesApi(
                URI.create("https://127.0.0.1:" + server.getAddress().getPort()), account, "node-1");
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
