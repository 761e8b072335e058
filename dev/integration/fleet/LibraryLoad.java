// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.opentelemetry.sdk.resources.Resource;
import java.io.IOException;
import java.time.Duration;
import org.taskclock.opentelemetry.TaskClockMetrics;

/**
 * {@link FleetLoad} with taskclock-opentelemetry as a library, which exports by OTLP:
 * {@code java LibraryLoad NAME PERCENT URL SECONDS}. The service is named "library".
 */
public final class LibraryLoad {
    private LibraryLoad() {}

    public static void main(String[] args) throws IOException {
        OtlpHttpMetricExporter exporter =
                OtlpHttpMetricExporter.builder().setEndpoint(args[2]).build();
        PeriodicMetricReader reader = PeriodicMetricReader.builder(exporter)
                .setInterval(Duration.ofSeconds(Integer.parseInt(args[3])))
                .build();
        Resource resource = Resource.getDefault().toBuilder()
                .put("service.name", "library")
                .put("service.instance.id", args[0])
                .put("process.pid", ProcessHandle.current().pid())
                .build();
        TaskClockMetrics.create(OpenTelemetrySdk.builder()
                .setMeterProvider(SdkMeterProvider.builder()
                        .setResource(resource)
                        .registerMetricReader(reader)
                        .build())
                .build());
        FleetLoad.main(args);
    }
}
