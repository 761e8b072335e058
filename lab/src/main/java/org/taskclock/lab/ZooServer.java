// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.taskclock.zoo.ZooProgram;

/** A process {@code taskclock serve} that watches the programs of the zoo. */
final class ZooServer implements AutoCloseable {
    private static final String READY = "serving on ";
    private static final int START_SECONDS = 60;
    private static final int POLL_MILLIS = 100;

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process process;
    private final String url;
    private CompletableFuture<?> page = CompletableFuture.completedFuture(null);

    /** The findings of the program that runs, when they were first reported. */
    private final Map<String, ZooAnswer.Statement> findings = new LinkedHashMap<>();

    ZooServer(ZooCommand taskclock, Path directory) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        Path log = directory.resolve("log");
        process = taskclock.start(
                log,
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--data",
                directory.resolve("data").toString(),
                "--match",
                ZooProgram.class.getName());
        url = awaitUrl(log);
    }

    private String awaitUrl(Path log) throws IOException, InterruptedException {
        for (int i = 0; i < START_SECONDS * 1_000 / POLL_MILLIS && process.isAlive(); i++) {
            for (String line : Files.readAllLines(log)) {
                int start = line.indexOf(READY);
                if (start >= 0) return line.substring(start + READY.length()).strip();
            }
            Thread.sleep(POLL_MILLIS);
        }
        process.destroy();
        throw new LabException("taskclock serve did not start: " + Files.readString(log));
    }

    /** Forgets the previous program. */
    void begin() {
        page.cancel(true);
        findings.clear();
    }

    /** Reads the findings of a JVM, and shows it as a browser does if that is requested. */
    void poll(long pid, boolean shows) throws IOException, InterruptedException {
        JsonObject jvm = jvm(pid);
        if (jvm == null) return;
        if (shows && page.isDone()) {
            URI live = URI.create(url + "api/jvms/" + jvm.get("id").getAsString() + "/live");
            page = client.sendAsync(HttpRequest.newBuilder(live).build(), BodyHandlers.discarding());
        }
        long now = System.currentTimeMillis();
        for (JsonElement each : jvm.getAsJsonArray("findings")) {
            JsonObject finding = each.getAsJsonObject();
            List<String> lines = new ArrayList<>(List.of(finding.get("text").getAsString()));
            finding.getAsJsonArray("evidence").forEach(line -> lines.add("    " + line.getAsString()));
            String kind = finding.get("kind").getAsString();
            long since = finding.get("since").getAsLong();
            ZooAnswer.Statement known = findings.get(kind + since);
            long seen = known == null ? now : known.seenMillis();
            findings.put(kind + since, new ZooAnswer.Statement(kind, String.join("\n", lines), since, seen));
        }
    }

    /** Returns a running JVM; null if the server does not know it yet. */
    private JsonObject jvm(long pid) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "api/jvms"))
                .timeout(Duration.ofSeconds(START_SECONDS))
                .build();
        String body = client.send(request, BodyHandlers.ofString()).body();
        for (JsonElement each : JsonParser.parseString(body).getAsJsonObject().getAsJsonArray("jvms")) {
            JsonObject jvm = each.getAsJsonObject();
            if (jvm.get("pid").getAsLong() == pid && jvm.get("ended").isJsonNull()) return jvm;
        }
        return null;
    }

    List<ZooAnswer.Statement> findings() {
        return List.copyOf(findings.values());
    }

    @Override
    public void close() {
        process.destroy();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
