// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.ClientConfig;
import org.taskclock.web.http.HttpClients;
import org.taskclock.web.http.WebException;

/**
 * Sends queries to a server with Prometheus' HTTP API, such as Prometheus, Thanos, Mimir, or VictoriaMetrics. Equal
 * queries within a few seconds are sent once, so that many viewers cost no more than one. Thread-safe.
 */
final class PrometheusApi implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** How long an answer serves other requests. Queries are for times that are multiples of this. */
    static final Duration FRESH = Duration.ofSeconds(15);

    private static final int MAX_KEPT = 64;
    private static final long MAX_BYTES = 64 << 20;

    /** Statuses with which a proxy, or a server of another kind, answers. */
    private static final Set<Integer> OF_OTHERS = Set.of(401, 403, 404, 405);

    private static final int BAD_GATEWAY = 502;
    private static final int GATEWAY_TIMEOUT = 504;

    private record Kept(CompletableFuture<Answer> answer, long time) {}

    /** Shown to users and in health. */
    private final String url;

    private final URI base;
    private final ClientConfig config;
    private final Duration timeout;

    /** Reads answers. The number of concurrent requests limits the number of threads. */
    private final ExecutorService readers =
            Executors.newCachedThreadPool(task -> new DaemonThread(task, "taskclock-fleet"));

    private final HttpClient client;
    private final Map<String, Kept> kept = new LinkedHashMap<>();

    /** Why the last query failed; null if it succeeded. */
    private volatile String problem;

    PrometheusApi(String url, ClientConfig config, Duration timeout) throws WebException {
        this.url = url;
        this.config = config;
        this.timeout = timeout;
        base = parse(url);
        HttpClient.Builder builder =
                HttpClient.newBuilder().connectTimeout(timeout).executor(readers);
        if (config.tls() != null) builder.sslContext(config.tls());
        client = builder.build();
    }

    private static URI parse(String url) throws WebException {
        try {
            URI uri = new URI(url.endsWith("/") ? url : url + "/");
            if (uri.getUserInfo() != null)
                throw new WebException("--fleet: must not contain a password: use --fleet-config FILE");
            boolean isWeb = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
            if (isWeb && uri.getHost() != null && uri.getQuery() == null && uri.getFragment() == null) return uri;
        } catch (URISyntaxException e) {
            // Reported below.
        }
        throw new WebException("--fleet " + url + ": must be the address of a Prometheus API, such as"
                + " http://prometheus:9090 or https://mimir.example.com/prometheus");
    }

    String url() {
        return url;
    }

    String problem() {
        return problem;
    }

    /** Evaluates an expression at a time. */
    CompletableFuture<Answer> at(Instant time, String expression) {
        return send("query", Map.of("query", expression, "time", seconds(time)));
    }

    /** Evaluates an expression at each step from a time to another. */
    CompletableFuture<Answer> range(Instant from, Instant to, Duration step, String expression) {
        return send(
                "query_range",
                Map.of(
                        "query",
                        expression,
                        "start",
                        seconds(from),
                        "end",
                        seconds(to),
                        "step",
                        Long.toString(step.toSeconds())));
    }

    private static String seconds(Instant time) {
        return Long.toString(time.getEpochSecond());
    }

    private CompletableFuture<Answer> send(String path, Map<String, String> parameters) {
        String body = parameters.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(parameter -> parameter.getKey() + "=" + encode(parameter.getValue()))
                .collect(Collectors.joining("&"));
        String key = path + "?" + body;
        synchronized (kept) {
            long now = System.nanoTime();
            kept.values().removeIf(old -> now - old.time > FRESH.toNanos() || old.answer.isCompletedExceptionally());
            Kept known = kept.get(key);
            if (known != null) return known.answer;
            if (kept.size() >= MAX_KEPT) kept.remove(kept.keySet().iterator().next());
            CompletableFuture<Answer> answer = request(path, body);
            kept.put(key, new Kept(answer, now));
            return answer;
        }
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private CompletableFuture<Answer> request(String path, String body) {
        HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve("api/v1/" + path))
                .timeout(timeout)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .header("Accept", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body + "&timeout=" + timeout.toMillis() + "ms"));
        try {
            config.headers().forEach(request::header);
        } catch (WebException e) {
            problem = "--fleet-config: " + e.getMessage();
            return CompletableFuture.failedFuture(new ApiException(BAD_GATEWAY, problem));
        }
        AtomicReference<InputStream> open = new AtomicReference<>();
        return client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofInputStream())
                .thenApplyAsync(
                        response -> {
                            open.set(response.body());
                            try (Reader in = reader(response.body())) {
                                return answer(response, in);
                            } catch (IOException | IllegalStateException e) {
                                throw new CompletionException(explain(response, e));
                            }
                        },
                        readers)
                .orTimeout(timeout.toMillis() + timeout.toMillis() / 10, TimeUnit.MILLISECONDS)
                .handle((answer, failure) -> {
                    if (failure == null) {
                        problem = null;
                        return answer;
                    }
                    // Ends a body that never does.
                    if (open.get() != null) close(open.get());
                    ApiException explained = explain(failure);
                    problem = explained.getMessage();
                    throw new CompletionException(explained);
                });
    }

    private static void close(InputStream in) {
        try {
            in.close();
        } catch (IOException e) {
            // It is no longer needed.
        }
    }

    /** Returns a reader that fails if the answer is larger than this server can keep. */
    private static Reader reader(InputStream in) {
        return new InputStreamReader(in, StandardCharsets.UTF_8) {
            private long size;

            @Override
            public int read(char[] chars, int offset, int length) throws IOException {
                int read = super.read(chars, offset, length);
                size += Math.max(0, read);
                if (size > MAX_BYTES) throw new IOException("too large");
                return read;
            }
        };
    }

    private Answer answer(HttpResponse<InputStream> response, Reader in) throws IOException {
        int status = response.statusCode();
        if (isRedirect(status) || OF_OTHERS.contains(status)) throw new IOException("status " + status);
        Answer answer = Answer.read(in);
        if (answer.error() != null)
            throw new CompletionException(
                    new ApiException(BAD_GATEWAY, url + ": refuses the query: " + line(answer.error())));
        return answer;
    }

    private static boolean isRedirect(int status) {
        return status >= 300 && status < 400;
    }

    /** Explains an answer that is none of the API. */
    private ApiException explain(HttpResponse<InputStream> response, Exception e) {
        int status = response.statusCode();
        String location = response.headers().firstValue("Location").orElse("nowhere");
        String reason =
                switch (status) {
                    case 200 -> "does not answer as Prometheus does: " + line(e.getMessage());
                    case 401, 403 -> "rejects the credentials (" + status + "): check --fleet-config";
                    case 404, 405 ->
                        "has no api/v1/query (" + status + "): --fleet must be the address in front of it,"
                                + " such as http://prometheus:9090";
                    default ->
                        isRedirect(status)
                                ? "redirects to " + line(location) + ": give that address to --fleet"
                                : "answers with status " + status + ": see its log";
                };
        return new ApiException(BAD_GATEWAY, url + ": " + reason);
    }

    private ApiException explain(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException && cause.getCause() != null) cause = cause.getCause();
        if (cause instanceof ApiException known) return known;
        boolean isConnecting = cause instanceof HttpConnectTimeoutException;
        if (cause instanceof TimeoutException || (cause instanceof HttpTimeoutException && !isConnecting))
            return new ApiException(
                    GATEWAY_TIMEOUT,
                    url + ": no answer within " + timeout.toSeconds()
                            + " s: choose a shorter range, and see whether Prometheus is overloaded");
        String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : line(cause.getMessage());
        return new ApiException(
                BAD_GATEWAY, url + ": cannot be reached: " + reason + ": check --fleet, and whether the server runs");
    }

    private static String line(String text) {
        String line = String.valueOf(text).lines().findFirst().orElse("");
        return line.length() > 200 ? line.substring(0, 200) + "..." : line;
    }

    /** Waits for an answer. */
    static Answer await(CompletableFuture<Answer> answer) throws ApiException {
        try {
            return answer.join();
        } catch (CompletionException e) {
            Throwable cause = e;
            while (cause instanceof CompletionException && cause.getCause() != null) cause = cause.getCause();
            if (cause instanceof ApiException known) throw known;
            throw e;
        }
    }

    @Override
    public void close() {
        HttpClients.close(client);
        readers.shutdownNow();
    }
}
