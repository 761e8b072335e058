// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.taskclock.CpuTime;
import org.taskclock.metrics.JvmThreads;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;
import org.taskclock.metrics.VirtualThreadCounts;

/**
 * The CPU time of the sections of named accounts, as histograms. OpenTelemetry's API has no asynchronous histograms, so
 * {@link TaskClockMetrics} cannot report them. Register this with the SDK:
 *
 * <pre>{@code
 * SdkMeterProvider.builder().registerMetricProducer(new SectionHistograms())
 * }</pre>
 *
 * <p>OpenTelemetry's Java agent and auto-configuration do so by themselves. The histograms are cumulative, whatever the
 * exporter prefers, and exist for types of accounts that count their sections by CPU time.
 *
 * <p>Thread-safe.
 */
public final class SectionHistograms implements MetricProducer {
    private record Histograms(
            Resource getResource,
            InstrumentationScopeInfo getInstrumentationScopeInfo,
            String getName,
            String getDescription,
            String getUnit,
            MetricDataType getType,
            Data<?> getData)
            implements MetricData {}

    private static final Metric METRIC = Metric.ACCOUNT_SECTION_CPU_TIME;
    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.builder(TaskClockMetrics.SCOPE)
            .setVersion(TaskClockMetrics.VERSION)
            .setSchemaUrl(Metric.SCHEMA_URL)
            .build();

    private final long start =
            TimeUnit.MILLISECONDS.toNanos(ManagementFactory.getRuntimeMXBean().getStartTime());

    /** Creates a producer. */
    public SectionHistograms() {}

    @Override
    public Collection<MetricData> produce(Resource resource) {
        long now = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
        JvmUsage usage =
                new JvmUsage(List.of(), CpuTime.UNKNOWN, VirtualThreadCounts.UNKNOWN, JvmThreads.accounts(), null);
        List<HistogramPointData> points = new ArrayList<>();
        for (Metric.Point point : METRIC.points(usage)) {
            Attributes attributes = Instrument.attributes(METRIC, point.attributes());
            // The extremes are unknown.
            points.add(HistogramPointData.create(
                    start, now, attributes, point.value(), false, 0, false, 0, Metric.BOUNDS, point.counts()));
        }
        if (points.isEmpty()) return List.of();
        return List.of(new Histograms(
                resource,
                SCOPE,
                METRIC.id(),
                METRIC.description(),
                METRIC.unit(),
                MetricDataType.HISTOGRAM,
                HistogramData.create(AggregationTemporality.CUMULATIVE, points)));
    }
}
