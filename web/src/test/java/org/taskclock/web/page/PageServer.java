// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.taskclock.history.HistoryOptions;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.web.ServerOptions;
import org.taskclock.web.TaskClockServer;
import org.taskclock.web.http.OidcOptions;
import org.taskclock.web.http.WebException;
import org.taskclock.web.metrics.ExporterOptions;

/** A server of this JVM, which can be restarted at the same address. */
final class PageServer implements AutoCloseable {
    private final HttpClient client;
    private final Path data;
    private final Path token;
    private final String externalUrl;
    private final Path webConfig;
    private final OidcOptions oidc;
    private final Queue<String> log = new ConcurrentLinkedQueue<>();
    private TaskClockServer server;
    private String address = "127.0.0.1:0";

    /** Starts a server. Actions are allowed. {@code token} is null for none. */
    PageServer(Path data, Path token) throws WebException {
        this(data, token, null);
    }

    PageServer(Path data, Path token, String externalUrl) throws WebException {
        this(data, token, externalUrl, null, null, HttpClient.newHttpClient());
    }

    /** Starts a server whose users log in at an identity provider. */
    static PageServer withLogin(Path data, OidcOptions oidc) throws WebException {
        return new PageServer(data, null, null, null, oidc, HttpClient.newHttpClient());
    }

    /** Starts a server with a web configuration file, null for none, and a client that trusts it. */
    PageServer(Path data, Path token, String externalUrl, Path webConfig, HttpClient client) throws WebException {
        this(data, token, externalUrl, webConfig, null, client);
    }

    private PageServer(Path data, Path token, String externalUrl, Path webConfig, OidcOptions oidc, HttpClient client)
            throws WebException {
        this.client = client;
        this.oidc = oidc;
        this.webConfig = webConfig;
        this.data = data;
        this.token = token;
        this.externalUrl = externalUrl;
        start();
    }

    void start() throws WebException {
        ExporterOptions exporter = new ExporterOptions(
                address,
                webConfig,
                new FleetOptions(List.of(), "LoadProgram", 100, Duration.ofMinutes(5), true),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                null,
                "test");
        server = new TaskClockServer(
                new ServerOptions(
                        exporter,
                        data,
                        HistoryOptions.DEFAULT,
                        null,
                        token,
                        oidc,
                        true,
                        true,
                        0,
                        List.of(),
                        List.of(),
                        externalUrl,
                        (pid, redact, file) -> Files.writeString(file, "bundle of " + pid),
                        Clock.systemUTC()),
                log::add);
        address = URI.create(server.url()).getAuthority();
    }

    void stop() {
        server.close();
        server = null;
    }

    String url() {
        return (webConfig == null ? "http://" : "https://") + address + "/";
    }

    /** Returns what the server has logged. */
    List<String> log() {
        return List.copyOf(log);
    }

    JsonObject get(String path) throws IOException, InterruptedException {
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(URI.create(url() + path)).build(), HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new IOException(response.statusCode() + ": " + response.body());
        return JsonParser.parseString(response.body()).getAsJsonObject();
    }

    /** Waits until the history has been opened. */
    void awaitHistory() throws InterruptedException {
        long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (System.nanoTime() < deadline) {
            try {
                get("api/jvms?from=0");
                return;
            } catch (IOException e) {
                Thread.sleep(100);
            }
        }
        throw new AssertionError("the history is not available; log: " + log);
    }

    /** Waits until a JVM is listed and returns its id. */
    String idOf(long pid) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + Duration.ofMinutes(2).toNanos();
        while (System.nanoTime() < deadline) {
            for (var jvm : get("api/jvms").getAsJsonArray("jvms")) {
                if (jvm.getAsJsonObject().get("pid").getAsLong() == pid)
                    return jvm.getAsJsonObject().get("id").getAsString();
            }
            Thread.sleep(100);
        }
        throw new AssertionError("JVM " + pid + " is not listed; log: " + log);
    }

    @Override
    public void close() {
        if (server != null) server.close();
    }
}
