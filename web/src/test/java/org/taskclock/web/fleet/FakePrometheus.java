// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.DoubleUnaryOperator;

/** The query API of Prometheus on a free port of loopback. It answers each query with the first series that fit. */
public final class FakePrometheus implements AutoCloseable {
    private static final long WEEK_SECONDS = 604_800;

    /** An answer that is none of Prometheus, or an error. */
    public record Reply(int status, String body, Map<String, String> headers) {}

    private record Known(String part, Map<String, String> labels, DoubleUnaryOperator value) {}

    /** The queries that arrived. */
    public final List<String> queries = new CopyOnWriteArrayList<>();

    /** The headers of the requests. */
    public final List<Map<String, List<String>>> headers = new CopyOnWriteArrayList<>();

    /** Null to answer queries. */
    public volatile Reply reply;

    public volatile long delayMillis;

    private final List<Known> series = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final HttpServer server;

    public FakePrometheus() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.setExecutor(threads);
        server.start();
    }

    public String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Adds a series to the answers to queries that contain a text, with a value for each time in seconds. */
    public void add(String part, Map<String, String> labels, DoubleUnaryOperator value) {
        series.add(new Known(part, labels, value));
    }

    public void add(String part, Map<String, String> labels, double value) {
        add(part, labels, time -> value);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            headers.add(Map.copyOf(exchange.getRequestHeaders()));
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            Map<String, String> parameters = new HashMap<>();
            for (String pair : body.split("&", -1)) {
                String[] parts = pair.split("=", 2);
                parameters.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
            }
            queries.add(parameters.get("query"));
            Thread.sleep(delayMillis);
            Reply now = reply;
            if (now == null) now = new Reply(200, success(parameters), Map.of("Content-Type", "application/json"));
            now.headers.forEach(exchange.getResponseHeaders()::set);
            byte[] bytes = now.body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(now.status, bytes.length == 0 ? -1 : bytes.length);
            if (bytes.length > 0) exchange.getResponseBody().write(bytes);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String success(Map<String, String> parameters) {
        String query = parameters.get("query");
        double offset = query.contains("offset 1w") ? WEEK_SECONDS : 0;
        String first = series.stream()
                .map(Known::part)
                .filter(query::contains)
                .findFirst()
                .orElse(null);
        JsonArray result = new JsonArray();
        for (Known known : series) {
            if (!known.part.equals(first)) continue;
            JsonObject one = new JsonObject();
            JsonObject labels = new JsonObject();
            known.labels.forEach(labels::addProperty);
            one.add("metric", labels);
            if (parameters.containsKey("time")) {
                one.add("value", sample(known, Double.parseDouble(parameters.get("time")), offset));
            } else {
                JsonArray values = new JsonArray();
                double end = Double.parseDouble(parameters.get("end"));
                for (double time = Double.parseDouble(parameters.get("start"));
                        time <= end;
                        time += Double.parseDouble(parameters.get("step"))) {
                    JsonArray sample = sample(known, time, offset);
                    if (!sample.get(1).getAsString().equals("NaN")) values.add(sample);
                }
                one.add("values", values);
            }
            result.add(one);
        }
        JsonObject data = new JsonObject();
        data.addProperty("resultType", parameters.containsKey("time") ? "vector" : "matrix");
        data.add("result", result);
        JsonObject root = new JsonObject();
        root.addProperty("status", "success");
        root.add("data", data);
        return root.toString();
    }

    private static JsonArray sample(Known known, double time, double offset) {
        JsonArray sample = new JsonArray();
        sample.add(time);
        sample.add(Double.toString(known.value.applyAsDouble(time - offset)));
        return sample;
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }
}
