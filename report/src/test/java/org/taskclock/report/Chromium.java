// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A headless browser with one page, controlled through the DevTools protocol. */
final class Chromium implements AutoCloseable {
    private static final long TIMEOUT_SECONDS = 30;
    private static final Gson GSON = new Gson();

    record Event(String method, JsonObject params) {}

    private final Process process;
    private final Path profile;
    private final WebSocket socket;
    private final AtomicInteger ids = new AtomicInteger();
    private final Map<Integer, CompletableFuture<JsonObject>> replies = new ConcurrentHashMap<>();
    private final List<Event> events = new CopyOnWriteArrayList<>();
    private final String target;
    private String session;

    /** Returns the path of the browser; empty if none is installed. */
    static Optional<String> installed() {
        return Stream.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
                .flatMap(name -> Stream.of(System.getenv("PATH").split(":", -1)).map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst();
    }

    Chromium(String program) throws Exception {
        profile = Files.createTempDirectory("taskclock-chromium");
        List<String> command = new ArrayList<>(List.of(
                program,
                "--headless=new",
                "--remote-debugging-port=0",
                "--user-data-dir=" + profile,
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
                "about:blank"));
        // The sandbox does not work for root, and tests in containers run as root.
        if ("root".equals(System.getProperty("user.name"))) command.add(1, "--no-sandbox");
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        socket = HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create(address()), new Replies())
                .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        target = send("Target.createTarget", Map.of("url", "about:blank"))
                .get("targetId")
                .getAsString();
        session = send("Target.attachToTarget", Map.of("targetId", target, "flatten", true))
                .get("sessionId")
                .getAsString();
        for (String domain : List.of("Page", "Runtime", "Log", "Network")) send(domain + ".enable", Map.of());
    }

    private String address() throws IOException {
        BufferedReader out =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        StringBuilder output = new StringBuilder();
        for (String line; (line = out.readLine()) != null; ) {
            output.append(line).append('\n');
            if (!line.startsWith("DevTools listening on ")) continue;
            // Drains the rest of the output, which would otherwise fill the pipe.
            Thread drain = new Thread(() -> out.lines().forEach(rest -> {}), "chromium output");
            drain.setDaemon(true);
            drain.start();
            return line.substring("DevTools listening on ".length()).trim();
        }
        throw new IOException("chromium has exited: " + output);
    }

    private JsonObject send(String method, Map<String, ?> params)
            throws InterruptedException, ExecutionException, TimeoutException {
        int id = ids.incrementAndGet();
        CompletableFuture<JsonObject> reply = new CompletableFuture<>();
        replies.put(id, reply);
        JsonObject message = new JsonObject();
        message.addProperty("id", id);
        message.addProperty("method", method);
        message.add("params", GSON.toJsonTree(params));
        if (session != null) message.addProperty("sessionId", session);
        socket.sendText(GSON.toJson(message), true).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        return reply.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** Opens a page and waits until it has loaded. Discards earlier events. */
    void open(Path page, String scheme, int width) throws Exception {
        events.clear();
        send(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
        send(
                "Emulation.setEmulatedMedia",
                Map.of("media", "", "features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
        send("Page.navigate", Map.of("url", page.toUri().toString()));
        evaluate("new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))");
    }

    /** Applies the styles for paper to the page. */
    void showAsPrinted() throws Exception {
        send("Emulation.setEmulatedMedia", Map.of("media", "print"));
    }

    /** Waits until a script returns true. */
    void await(String script) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!evaluate(script).getAsBoolean()) {
            if (System.nanoTime() > deadline) throw new AssertionError("timed out: " + script);
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** Returns the value of a script as JSON. */
    JsonElement evaluate(String script) throws InterruptedException, ExecutionException, TimeoutException {
        return evaluate(script, Map.of());
    }

    /** Returns the value of a script that runs in the page's only iframe, which the page itself cannot access. */
    JsonElement evaluateInFrame(String script) throws InterruptedException, ExecutionException, TimeoutException {
        JsonObject context = events("Runtime.executionContextCreated").stream()
                .map(event -> event.params.getAsJsonObject("context"))
                .filter(c -> !c.getAsJsonObject("auxData")
                        .get("frameId")
                        .getAsString()
                        .equals(target))
                .reduce((earlier, later) -> later)
                .orElseThrow();
        return evaluate(script, Map.of("contextId", context.get("id").getAsInt()));
    }

    private JsonElement evaluate(String script, Map<String, ?> where)
            throws InterruptedException, ExecutionException, TimeoutException {
        Map<String, Object> params = new HashMap<>(where);
        params.putAll(Map.of("expression", script, "awaitPromise", true, "returnByValue", true));
        JsonObject reply = send("Runtime.evaluate", params);
        if (reply.has("exceptionDetails")) throw new AssertionError(script + ": " + reply.get("exceptionDetails"));
        return reply.getAsJsonObject("result").get("value");
    }

    List<Event> events(String method) {
        return events.stream().filter(event -> event.method.equals(method)).toList();
    }

    /** Returns uncaught exceptions and console messages of the page. */
    List<String> problems() {
        return events.stream()
                .filter(event -> List.of("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
                        .contains(event.method))
                .map(Event::toString)
                .toList();
    }

    @Override
    public void close() throws IOException {
        session = null;
        try {
            send("Browser.close", Map.of());
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) process.destroyForcibly();
        } catch (ExecutionException | TimeoutException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        try (Stream<Path> files = Files.walk(profile)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
        }
    }

    private final class Replies implements WebSocket.Listener {
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
            text.append(part);
            if (last) {
                JsonObject message = JsonParser.parseString(text.toString()).getAsJsonObject();
                text.setLength(0);
                if (message.has("id")) {
                    CompletableFuture<JsonObject> reply =
                            replies.remove(message.get("id").getAsInt());
                    if (message.has("error"))
                        reply.completeExceptionally(
                                new IOException(message.get("error").toString()));
                    else reply.complete(message.getAsJsonObject("result"));
                } else {
                    events.add(new Event(message.get("method").getAsString(), message.getAsJsonObject("params")));
                }
            }
            from.request(1);
            return null;
        }

        @Override
        public void onError(WebSocket from, Throwable error) {
            replies.values().forEach(reply -> reply.completeExceptionally(error));
        }
    }
}
