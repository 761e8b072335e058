// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountUsage;
import org.taskclock.ProcessClock;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;

/** The instruments as a library: readings of this JVM, and readings that the tests make up. */
class TaskClockMetricsTest {
    private static final AttributeKey<String> POOL = AttributeKey.stringKey("taskclock.pool.name");

    static {
        // Tests of spans run in this JVM, too, and need this before the first use of a context.
        SpanCpuTime.create();
    }

    private final InMemoryMetricReader reader = InMemoryMetricReader.create();

    private static OpenTelemetrySdk sdk(io.opentelemetry.sdk.metrics.export.MetricReader... readers) {
        var provider = SdkMeterProvider.builder();
        for (var each : readers) provider.registerMetricReader(each);
        return OpenTelemetrySdk.builder().setMeterProvider(provider.build()).build();
    }

    private static Map<String, MetricData> byName(InMemoryMetricReader reader) {
        Map<String, MetricData> metrics = new TreeMap<>();
        for (MetricData metric : reader.collectAllMetrics()) metrics.put(metric.getName(), metric);
        return metrics;
    }

    private static PoolUsage pool(String name, long seconds) {
        return new PoolUsage(name, ThreadKind.JAVA, 1, seconds * 1_000_000_000, 0, 5, 6, 7, 8);
    }

    @Test
    void shouldReportThisJvm() {
        try (OpenTelemetrySdk sdk = sdk(reader);
                TaskClockMetrics metrics = TaskClockMetrics.create(sdk)) {
            assertThat(metrics).isNotNull();
            Map<String, MetricData> all = byName(reader);
            assertThat(all)
                    .containsKeys(
                            "taskclock.thread.cpu.time",
                            "taskclock.threads",
                            "taskclock.thread.wait.time",
                            "taskclock.thread.context_switches",
                            "taskclock.process.cpu.time")
                    .doesNotContainKey("taskclock.thread.yield.count");
            MetricData cpu = all.get("taskclock.thread.cpu.time");
            assertThat(cpu.getUnit()).isEqualTo("s");
            assertThat(cpu.getInstrumentationScopeInfo().getName()).isEqualTo("org.taskclock");
            assertThat(cpu.getInstrumentationScopeInfo().getSchemaUrl()).isEqualTo(Metric.SCHEMA_URL);
            assertThat(cpu.getDoubleSumData().isMonotonic()).isTrue();
            double sum = 0;
            for (var point : cpu.getDoubleSumData().getPoints()) sum += point.getValue();
            double process = ProcessClock.current().cpuNanos() / 1e9;
            assertThat(sum).isCloseTo(process, within(0.01 * process + 0.1));
            assertThat(all.get("taskclock.threads").getLongSumData().isMonotonic())
                    .isFalse();
            assertThat(all.get("taskclock.threads").getLongSumData().getPoints())
                    .anySatisfy(
                            point -> assertThat(point.getAttributes().get(POOL)).isEqualTo("main"));
        }
    }

    @Test
    void shouldReportAllMetricsWithTheirTypes() {
        JvmUsage usage = new JvmUsage(
                List.of(pool("a", 3)),
                new org.taskclock.CpuTime(30, 20, 10),
                new VirtualThreadCounts(9, 2, 3, 2),
                List.of(new AccountUsage("tenant", "acme", 30, 20, 5, 6, 1, 0, 0, 0, null)),
                new JvmUsage.ContainerUsage(1_000_000_000, 2_000_000_000, 1.5, 20, 10),
                List.of(new JvmUsage.FindingStatus("yield-storm", true, 1_000)));
        try (OpenTelemetrySdk sdk = sdk(reader);
                TaskClockMetrics metrics = new TaskClockMetrics(sdk, () -> usage)) {
            assertThat(metrics).isNotNull();
            Map<String, MetricData> all = byName(reader);
            assertThat(all.keySet()).hasSize(Metric.values().length - 1);
            for (Metric metric : Metric.values()) {
                if (metric.type() == Metric.Type.HISTOGRAM) continue; // not an instrument
                MetricData data = all.get(metric.id());
                assertThat(data.getUnit()).isEqualTo(metric.unit());
                assertThat(data.getDescription()).isEqualTo(metric.description());
                assertThat(data.getData().getPoints()).hasSameSizeAs(metric.points(usage));
            }
            assertThat(all.get("taskclock.container.cpu.limit")
                            .getDoubleGaugeData()
                            .getPoints()
                            .iterator()
                            .next()
                            .getValue())
                    .isEqualTo(1.5);
            assertThat(all.get("taskclock.thread.context_switches")
                            .getLongSumData()
                            .getPoints())
                    .extracting(point -> point.getValue())
                    .containsExactlyInAnyOrder(6L, 7L);
        }
    }

    @Test
    void shouldTakeOneReadingPerCollectionAndListNewPoolsImmediately() {
        AtomicInteger readings = new AtomicInteger();
        List<PoolUsage> pools = new ArrayList<>(List.of(pool("a", 1)));
        InMemoryMetricReader second = InMemoryMetricReader.create();
        OpenTelemetrySdk sdk = sdk(reader, second);
        TaskClockMetrics metrics = new TaskClockMetrics(sdk, () -> {
            readings.incrementAndGet();
            return new JvmUsage(
                    List.copyOf(pools), org.taskclock.CpuTime.UNKNOWN, VirtualThreadCounts.UNKNOWN, List.of(), null);
        });
        assertThat(byName(reader).get("taskclock.threads").getLongSumData().getPoints())
                .hasSize(1);
        assertThat(readings.get()).isEqualTo(1);
        for (int i = 0; i < 256; i++) pools.add(pool("name " + (char) i, 1));
        pools.add(pool("", 1));
        assertThat(byName(second).get("taskclock.threads").getLongSumData().getPoints())
                .hasSize(258);
        assertThat(readings.get()).isEqualTo(2);
        metrics.close();
        assertThat(reader.collectAllMetrics()).isEmpty();
        assertThat(readings.get()).isEqualTo(2);
        sdk.close();
    }

    @Test
    void shouldExportByOtlp() throws Exception {
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            OtlpHttpMetricExporter exporter = OtlpHttpMetricExporter.builder()
                    .setEndpoint(receiver.endpoint() + "/v1/metrics")
                    .build();
            try (OpenTelemetrySdk sdk = sdk(PeriodicMetricReader.create(exporter));
                    TaskClockMetrics metrics = TaskClockMetrics.create(sdk, 20)) {
                assertThat(metrics).isNotNull();
                sdk.getSdkMeterProvider().forceFlush();
            }
            assertThat(receiver.values("taskclock.thread.cpu.time")).containsKeys("user,java,main", "system,java,main");
            assertThat(receiver.values("taskclock.threads")).containsEntry("java,main", 1.0);
            assertThat(receiver.values("taskclock.process.cpu.time")).containsOnlyKeys("user", "system");
        }
    }

    @Test
    void shouldRefuseTooFewPools() {
        try (OpenTelemetrySdk sdk = sdk(reader)) {
            assertThatThrownBy(() -> TaskClockMetrics.create(sdk, 13))
                    .hasMessage("limit of 13 pools is below the minimum of 14");
        }
    }
}
