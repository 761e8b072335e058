// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporterBuilder;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporter;
import io.opentelemetry.exporter.otlp.metrics.OtlpGrpcMetricExporterBuilder;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.resources.Resource;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.taskclock.web.http.WebException;

/**
 * The exporter and the resource that OpenTelemetry's own autoconfiguration makes of the variables OTEL_EXPORTER_OTLP_*
 * (such as CLIENT_KEY and CLIENT_CERTIFICATE) and OTEL_RESOURCE_ATTRIBUTES. Options precede them, and our defaults
 * follow.
 */
final class OtlpConfiguration {
    private static final String PREFIX = "otel.exporter.otlp.";
    private static final String METRICS = PREFIX + "metrics.";
    private static final String HTTP = "http/protobuf";

    /** The time limit of one request including its retries. */
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    private static final Map<String, String> DEFAULTS =
            Map.of(PREFIX + "protocol", HTTP, PREFIX + "compression", "gzip");

    private final ExporterOptions.Push options;
    private final RetryPolicy retries;

    /** What the SDK would export to. */
    private MetricExporter configured;

    private ConfigProperties properties;
    private Resource resource;
    private MetricExporter exporter;

    private OtlpConfiguration(ExporterOptions.Push options, RetryPolicy retries) {
        this.options = options;
        this.retries = retries;
    }

    static OtlpConfiguration of(ExporterOptions.Push options, RetryPolicy retries) throws WebException {
        OtlpConfiguration configuration = new OtlpConfiguration(options, retries);
        configuration.read();
        return configuration;
    }

    MetricExporter exporter() {
        return exporter;
    }

    /** Returns the attributes of OTEL_RESOURCE_ATTRIBUTES, which all JVMs have in common. */
    Resource resource() {
        return resource;
    }

    /** Returns where pushes go. */
    String endpoint() {
        String common = properties.getString(PREFIX + "endpoint");
        String endpoint = properties.getString(METRICS + "endpoint", common == null ? "" : common);
        return endpoint.isEmpty() ? "the OpenTelemetry receiver on this host" : endpoint;
    }

    private void read() throws WebException {
        checkEndpoint();
        OtlpHeaders headers = options.headersFile() == null ? null : new OtlpHeaders(options.headersFile());
        try {
            AutoConfiguredOpenTelemetrySdk.builder()
                    .disableShutdownHook()
                    .addPropertiesSupplier(() -> DEFAULTS)
                    .addPropertiesCustomizer(this::overrides)
                    .addResourceCustomizer((found, config) -> {
                        resource = found;
                        return found;
                    })
                    .addMetricExporterCustomizer((created, config) -> {
                        configured = created;
                        properties = config;
                        return created;
                    })
                    .build()
                    .getOpenTelemetrySdk()
                    .close(); // readings have a resource for each JVM, which the SDK cannot export
            if (configured != null) exporter = adapt(headers);
        } catch (RuntimeException e) {
            throw new WebException(option() + ": " + e.getMessage());
        }
        if (exporter == null) throw new WebException(option() + ": is turned off by OTEL_SDK_DISABLED");
    }

    private String option() {
        return options.endpoint() == null ? "--push" : "--otlp-endpoint " + options.endpoint();
    }

    /** Returns the properties of our options, which precede the variables. */
    private Map<String, String> overrides(ConfigProperties variables) {
        Map<String, String> overrides = new HashMap<>();
        overrides.put("otel.metrics.exporter", "otlp");
        overrides.put("otel.traces.exporter", "none");
        overrides.put("otel.logs.exporter", "none");
        String protocol = variables.getString(METRICS + "protocol", variables.getString(PREFIX + "protocol", HTTP));
        if (options.protocol() != null) protocol = options.protocol();
        overrides.put(METRICS + "protocol", protocol);
        if (options.endpoint() == null) return overrides;
        // With a path, it is the address for metrics.
        String path = URI.create(options.endpoint()).getPath();
        boolean isBase = protocol.equals(HTTP) && (path.isEmpty() || path.equals("/"));
        overrides.put(
                METRICS + "endpoint",
                isBase ? options.endpoint().replaceAll("/$", "") + "/v1/metrics" : options.endpoint());
        return overrides;
    }

    private void checkEndpoint() throws WebException {
        if (options.endpoint() == null) return;
        try {
            URI uri = new URI(options.endpoint());
            if (uri.getHost() == null || !Set.of("http", "https").contains(String.valueOf(uri.getScheme())))
                throw new WebException(option() + ": must be a URL such as http://127.0.0.1:4318");
        } catch (URISyntaxException e) {
            throw new WebException(option() + ": " + e.getMessage());
        }
    }

    /** The same exporter with our retries, and a time for them unless the environment says another one. */
    private MetricExporter adapt(OtlpHeaders headers) {
        Duration common = properties.getDuration(PREFIX + "timeout", TIMEOUT);
        Duration timeout = properties.getDuration(METRICS + "timeout", common);
        if (configured instanceof OtlpGrpcMetricExporter grpc) {
            OtlpGrpcMetricExporterBuilder builder =
                    grpc.toBuilder().setTimeout(timeout).setRetryPolicy(retries);
            if (headers != null) builder.setHeaders(headers);
            return builder.build();
        }
        OtlpHttpMetricExporterBuilder builder = ((OtlpHttpMetricExporter) configured)
                .toBuilder().setTimeout(timeout).setRetryPolicy(retries);
        if (headers != null) builder.setHeaders(headers);
        return builder.build();
    }
}
