// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.ResourceMetrics;
import io.opentelemetry.proto.metrics.v1.ScopeMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Receives metrics by OTLP over HTTP, and keeps the last one of each name in TaskClock's scope. */
final class OtlpReceiver implements AutoCloseable {
    private volatile String version;
    private final HttpServer server;
    private final Map<String, Metric> metrics = new ConcurrentHashMap<>();
    private final Map<String, Metric> others = new ConcurrentHashMap<>();

    OtlpReceiver() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/v1/metrics", this::receive);
        server.start();
    }

    private void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            ExportMetricsServiceRequest request = ExportMetricsServiceRequest.parseFrom(exchange.getRequestBody());
            for (ResourceMetrics resource : request.getResourceMetricsList())
                for (ScopeMetrics scope : resource.getScopeMetricsList()) {
                    boolean isOurs = scope.getScope().getName().equals(TaskClockMetrics.SCOPE);
                    if (isOurs) version = scope.getScope().getVersion();
                    for (Metric metric : scope.getMetricsList())
                        (isOurs ? metrics : others).put(metric.getName(), metric);
                }
            exchange.sendResponseHeaders(200, -1);
        }
    }

    String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Returns the version of TaskClock's scope; null before the first metrics. */
    String version() {
        return version;
    }

    /** Returns the metrics of TaskClock by name. */
    Map<String, Metric> metrics() {
        return new TreeMap<>(metrics);
    }

    /** Returns the names of the metrics of other scopes. */
    Map<String, Metric> others() {
        return new TreeMap<>(others);
    }

    /** Returns the values of a metric by their attributes, which are separated by commas and sorted by key. */
    Map<String, Double> values(String name) {
        Metric metric = metrics.getOrDefault(name, Metric.getDefaultInstance());
        List<NumberDataPoint> points = metric.hasSum()
                ? metric.getSum().getDataPointsList()
                : metric.getGauge().getDataPointsList();
        Map<String, Double> values = new HashMap<>();
        for (NumberDataPoint point : points) {
            Map<String, String> attributes = new TreeMap<>();
            for (KeyValue attribute : point.getAttributesList())
                attributes.put(attribute.getKey(), attribute.getValue().getStringValue());
            values.put(
                    String.join(",", attributes.values()), point.hasAsInt() ? point.getAsInt() : point.getAsDouble());
        }
        return values;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
