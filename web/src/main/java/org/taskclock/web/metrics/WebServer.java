// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.prometheus.metrics.exporter.httpserver.MetricsHandler;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;

/** Serves the metrics. */
final class WebServer implements AutoCloseable {
    private static final int THREADS = 4;
    private static final String TEXT = "text/plain; charset=utf-8";

    static {
        // In seconds. By default, a client that sends nothing occupies a thread forever.
        setDefault("sun.net.httpserver.maxReqTime", "30");
        setDefault("sun.net.httpserver.maxRspTime", "120");
        setDefault("sun.net.httpserver.nodelay", "true");
    }

    private final HttpServer server;
    private final ExecutorService executor;
    private final MetricsHandler metrics;
    private final BooleanSupplier isReady;
    private final String landingPage;

    /**
     * Starts serving.
     *
     * @param isReady whether the figures are current
     */
    WebServer(
            String address, WebSecurity security, PrometheusMetrics collector, BooleanSupplier isReady, String version)
            throws ExporterException {
        this.isReady = isReady;
        landingPage = landingPage(version);
        InetSocketAddress socket = ListenAddress.parse("--web.listen-address", address);
        try {
            HttpsConfigurator configurator = security.https();
            if (configurator == null) {
                server = HttpServer.create(socket, 0);
            } else {
                HttpsServer https = HttpsServer.create();
                https.setHttpsConfigurator(configurator);
                https.bind(socket, 0);
                server = https;
            }
        } catch (IOException e) {
            throw new ExporterException("cannot listen on " + address + ": " + WebConfig.describe(e));
        }
        PrometheusRegistry registry = new PrometheusRegistry();
        registry.register(collector);
        metrics = new MetricsHandler(registry);
        server.createContext("/", this::handle).setAuthenticator(security);
        executor = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "taskclock-web");
            thread.setDaemon(true);
            return thread;
        });
        server.setExecutor(executor);
        server.start();
    }

    private static void setDefault(String property, String value) {
        if (System.getProperty(property) == null) System.setProperty(property, value);
    }

    InetSocketAddress address() {
        return server.getAddress();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            String method = exchange.getRequestMethod();
            if (!method.equals("GET") && !method.equals("HEAD")) {
                exchange.getResponseHeaders().set("Allow", "GET, HEAD");
                respond(exchange, 405, TEXT, "method not allowed\n");
                return;
            }
            switch (exchange.getRequestURI().getPath()) {
                case "/metrics" -> metrics.handle(exchange);
                case "/-/healthy" -> respond(exchange, 200, TEXT, "TaskClock exporter is healthy.\n");
                case "/-/ready" -> {
                    if (isReady.getAsBoolean()) respond(exchange, 200, TEXT, "TaskClock exporter is ready.\n");
                    else respond(exchange, 503, TEXT, "TaskClock exporter has no current sample.\n");
                }
                case "/" -> respond(exchange, 200, "text/html; charset=utf-8", landingPage);
                default -> respond(exchange, 404, TEXT, "not found\n");
            }
        }
    }

    private static void respond(HttpExchange exchange, int code, String type, String text) throws IOException {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", type);
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(code, -1);
            return;
        }
        exchange.sendResponseHeaders(code, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    private static String landingPage(String version) {
        return """
                <!DOCTYPE html>
                <html lang="en">
                <head><meta charset="utf-8"><title>TaskClock exporter</title></head>
                <body>
                <h1>TaskClock exporter</h1>
                <p>CPU time of the JVMs of this machine by thread pool. Version: %s</p>
                <ul>
                <li><a href="metrics">Metrics</a></li>
                <li><a href="-/healthy">Health</a></li>
                <li><a href="-/ready">Readiness</a></li>
                </ul>
                </body>
                </html>
                """.formatted(version.replace("&", "&amp;").replace("<", "&lt;"));
    }

    @Override
    public void close() {
        server.stop(0);
        executor.shutdownNow();
    }
}
