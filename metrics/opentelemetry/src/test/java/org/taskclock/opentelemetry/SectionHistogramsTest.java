// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.TaskClock;

/** The named accounts of this JVM, without TaskClock's agent, as the SDK exports them. */
class SectionHistogramsTest {
    private static final Attributes ACME = Attributes.of(
            AttributeKey.stringKey("taskclock.account.type"), "customer",
            AttributeKey.stringKey("taskclock.account.name"), "acme");

    private final AccountType customers = CpuAccounts.type("customer");
    private final InMemoryMetricReader reader = InMemoryMetricReader.create();

    static {
        // Tests of spans run in this JVM, too, and need this before the first use of a context.
        SpanCpuTime.create();
    }

    @SuppressWarnings("try") // the section only has to be open
    private void work(int millis) {
        try (CpuSection section = customers.of("acme").enter()) {
            long end = TaskClock.cpuNanos() + TimeUnit.MILLISECONDS.toNanos(millis);
            while (TaskClock.cpuNanos() < end) Thread.onSpinWait();
        }
    }

    private Map<String, MetricData> collect() {
        Map<String, MetricData> metrics = new HashMap<>();
        for (MetricData metric : reader.collectAllMetrics()) metrics.put(metric.getName(), metric);
        return metrics;
    }

    @Test
    void shouldReportAccountsAndTheirSections() throws InterruptedException {
        try (OpenTelemetrySdk sdk = OpenTelemetrySdk.builder()
                        .setMeterProvider(SdkMeterProvider.builder()
                                .registerMetricReader(reader)
                                .registerMetricProducer(new SectionHistograms())
                                .build())
                        .build();
                TaskClockMetrics metrics = TaskClockMetrics.create(sdk)) {
            assertThat(metrics).isNotNull();
            work(1);
            assertThat(collect()).doesNotContainKey("taskclock.account.section.cpu.time");
            customers.withDistribution();
            customers.read();
            for (int millis : new int[] {1, 1, 20, 50}) work(millis);
            // Readings of threads are shared for 0.1 s.
            Thread.sleep(110);
            Map<String, MetricData> all = collect();
            DoublePointData cpu = point(all.get("taskclock.account.cpu.time"));
            assertThat(cpu.getValue()).isCloseTo(0.073, within(0.01));
            assertThat(all.get("taskclock.account.sections").getUnit()).isEqualTo("{section}");
            check(all.get("taskclock.account.section.cpu.time"));
        }
    }

    /** Returns the sum of both modes. */
    private static DoublePointData point(MetricData metric) {
        double sum = 0;
        for (DoublePointData point : metric.getDoubleSumData().getPoints())
            if (point.getAttributes().asMap().values().containsAll(ACME.asMap().values())) sum += point.getValue();
        return DoublePointData.create(0, 0, ACME, sum, List.of());
    }

    private static void check(MetricData metric) {
        assertThat(metric.getUnit()).isEqualTo("s");
        assertThat(metric.getInstrumentationScopeInfo().getName()).isEqualTo("org.taskclock");
        assertThat(metric.getHistogramData().getAggregationTemporality()).isEqualTo(AggregationTemporality.CUMULATIVE);
        assertThat(metric.getHistogramData().getPoints()).hasSize(1);
        HistogramPointData point =
                metric.getHistogramData().getPoints().iterator().next();
        assertThat(point.getAttributes()).isEqualTo(ACME);
        assertThat(point.getCount()).isEqualTo(4);
        assertThat(point.getSum()).isCloseTo(0.072, within(0.01));
        assertThat(point.getBoundaries()).hasSize(12).startsWith(1e-5).endsWith(100.0);
        Map<Double, Long> counts = new HashMap<>();
        for (int i = 0; i < 12; i++)
            if (point.getCounts().get(i) > 0)
                counts.put(point.getBoundaries().get(i), point.getCounts().get(i));
        assertThat(counts).isEqualTo(Map.of(0.003, 2L, 0.03, 1L, 0.1, 1L));
        assertThat(TimeUnit.NANOSECONDS.toMillis(point.getEpochNanos() - point.getStartEpochNanos()))
                .isBetween(0L, TimeUnit.HOURS.toMillis(1));
    }
}
