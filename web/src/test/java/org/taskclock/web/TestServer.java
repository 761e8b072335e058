// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.history.HistoryOptions;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.web.http.OidcOptions;
import org.taskclock.web.http.WebException;
import org.taskclock.web.metrics.ExporterOptions;
import org.taskclock.web.webhook.WebhookTarget;

/** A server on a free port, with a client. */
final class TestServer implements AutoCloseable {
    /** Far longer than anything takes on a busy machine. */
    private static final long TIMEOUT_SECONDS = 60;

    final List<String> log = Collections.synchronizedList(new ArrayList<>());
    private final TaskClockServer server;
    private final HttpClient client;

    /** What may differ between tests. */
    static final class Settings {
        String listen = "127.0.0.1:0";
        Path tokenFile;
        OidcOptions oidc;
        String historyUpload;
        Path webConfig;
        HttpClient client = HttpClient.newHttpClient();
        boolean allowsActions;
        boolean keepsEvidence;
        double profilePercent;
        List<WebhookTarget> webhooks = List.of();
        List<String> allowedHosts = List.of();
        String externalUrl;
        boolean attaches = true;
        String match = "LoadProgram";
        BundleWriter bundles = (pid, redact, file) -> Files.writeString(file, redact ? "redacted" : "bundle of " + pid);
        Clock clock = Clock.systemUTC();
        HistoryStore.Opener opener = DuckDbHistory::open;
        ServerLimits limits = ServerLimits.ofHeap();
    }

    private TestServer(Path data, Settings settings) throws WebException {
        client = settings.client;
        server = new TaskClockServer(options(data, settings), settings.opener, settings.limits, log::add);
    }

    static ServerOptions options(Path data, Settings settings) {
        ExporterOptions exporter = new ExporterOptions(
                settings.listen,
                settings.webConfig,
                new FleetOptions(List.of(), settings.match, 100, Duration.ofMinutes(1), settings.attaches),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                null,
                "1.2.3");
        return new ServerOptions(
                exporter,
                data,
                HistoryOptions.DEFAULT,
                settings.historyUpload,
                settings.tokenFile,
                settings.oidc,
                settings.allowsActions,
                settings.keepsEvidence,
                settings.profilePercent,
                settings.webhooks,
                settings.allowedHosts,
                settings.externalUrl,
                settings.bundles,
                settings.clock);
    }

    static TestServer start(Path data, Settings settings) throws WebException {
        return new TestServer(data, settings);
    }

    List<String> routes() {
        return server.routes();
    }

    String url(String path) {
        return server.url().substring(0, server.url().length() - 1) + path;
    }

    int port() {
        return URI.create(server.url()).getPort();
    }

    HttpResponse<String> get(String path, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url(path)));
        if (headers.length > 0) request.headers(headers);
        return client.send(request.build(), BodyHandlers.ofString());
    }

    HttpResponse<String> post(String path, String body, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url(path)))
                .header("Content-Type", "application/json")
                .header("X-TaskClock", "1")
                .POST(HttpRequest.BodyPublishers.ofString(body));
        if (headers.length > 0) request.headers(headers);
        return client.send(request.build(), BodyHandlers.ofString());
    }

    JsonElement json(String path) throws IOException, InterruptedException {
        HttpResponse<String> response = get(path);
        if (response.statusCode() != 200) throw new AssertionError(path + ": " + response.body());
        return JsonParser.parseString(response.body());
    }

    /** Waits until the overview has a JVM with a known CPU use, and returns it. */
    JsonObject awaitJvm(long pid) throws Exception {
        return await(() -> {
            JsonObject jvm = jvm(pid);
            return jvm == null || jvm.get("cpu").isJsonNull() ? null : jvm;
        });
    }

    /** Returns a JVM of the overview; null if it is not there. */
    JsonObject jvm(long pid) throws IOException, InterruptedException {
        for (JsonElement jvm : json("/api/jvms").getAsJsonObject().getAsJsonArray("jvms"))
            if (jvm.getAsJsonObject().get("pid").getAsLong() == pid) return jvm.getAsJsonObject();
        return null;
    }

    /** Repeats a call until it returns something. */
    <T> T await(Callable<T> call) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        for (T result; System.nanoTime() < end; Thread.sleep(100)) {
            result = call.call();
            if (result != null) return result;
        }
        throw new AssertionError("timeout; log: " + log);
    }

    @Override
    public void close() {
        server.close();
    }
}
