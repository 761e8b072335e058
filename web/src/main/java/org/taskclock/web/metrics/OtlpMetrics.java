// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.PointData;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.resources.Resource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.Metric;
import org.taskclock.monitor.fleet.JvmLabels;
import org.taskclock.monitor.fleet.JvmSnapshot;
import org.taskclock.monitor.fleet.Workload;

/** Converts readings to OpenTelemetry's data model. Each JVM is a resource. Confined to one thread. */
final class OtlpMetrics {
    private record OtlpMetric(
            Resource getResource,
            InstrumentationScopeInfo getInstrumentationScopeInfo,
            String getName,
            String getDescription,
            String getUnit,
            MetricDataType getType,
            Data<?> getData)
            implements MetricData {}

    /**
     * The maximum number of points in a metric, because a metric cannot be split among requests, whose size is limited.
     */
    private static final int MAX_POINTS = 500;

    private final InstrumentationScopeInfo scope;
    private final String host;
    private final EpochClock clock;

    /** Caches the attributes of series, which most pushes share. */
    private Map<Metric, Map<List<String>, Attributes>> attributes = new HashMap<>();

    /** @param node the name of this node of a Kubernetes cluster, instead of that of a pod; null if there is none */
    OtlpMetrics(String version, String node, EpochClock clock) {
        scope = InstrumentationScopeInfo.builder("org.taskclock")
                .setVersion(version)
                .setSchemaUrl(Metric.SCHEMA_URL)
                .build();
        host = node == null ? hostName() : node;
        this.clock = clock;
    }

    /** @param common the attributes that all resources have */
    List<MetricData> of(List<JvmSnapshot> jvms, Resource common) {
        clock.refresh();
        long now = clock.epochNanos(System.nanoTime());
        Map<Metric, Map<List<String>, Attributes>> known = attributes;
        attributes = new HashMap<>();
        List<MetricData> all = new ArrayList<>();
        for (JvmSnapshot jvm : jvms) {
            Resource resource =
                    common.merge(resource(jvm.jvm().labels(), jvm.jvm().workload()));
            long start = clock.epochNanos(jvm.startNanos());
            for (Metric metric : Metric.values()) {
                List<PointData> points = new ArrayList<>();
                for (Metric.Point point : jvm.series().get(metric))
                    points.add(point(metric, point, attributes(known, metric, point.attributes()), start, now));
                for (int from = 0; from < points.size(); from += MAX_POINTS)
                    all.add(metric(resource, metric, points.subList(from, Math.min(points.size(), from + MAX_POINTS))));
            }
        }
        return all;
    }

    private static PointData point(Metric metric, Metric.Point point, Attributes series, long start, long now) {
        if (metric.type() != Metric.Type.HISTOGRAM)
            return DoublePointData.create(start, now, series, point.value(), List.of());
        // The extremes are unknown.
        return HistogramPointData.create(
                start, now, series, point.value(), false, 0, false, 0, Metric.BOUNDS, point.counts());
    }

    private MetricData metric(Resource resource, Metric metric, List<PointData> points) {
        Metric.Type type = metric.type();
        Data<?> data =
                switch (type) {
                    case COUNTER, UP_DOWN_COUNTER ->
                        SumData.createDoubleSumData(
                                type == Metric.Type.COUNTER, AggregationTemporality.CUMULATIVE, cast(points));
                    case GAUGE -> GaugeData.createDoubleGaugeData(cast(points));
                    case HISTOGRAM -> HistogramData.create(AggregationTemporality.CUMULATIVE, cast(points));
                };
        MetricDataType dataType =
                switch (type) {
                    case COUNTER, UP_DOWN_COUNTER -> MetricDataType.DOUBLE_SUM;
                    case GAUGE -> MetricDataType.DOUBLE_GAUGE;
                    case HISTOGRAM -> MetricDataType.HISTOGRAM;
                };
        return new OtlpMetric(resource, scope, metric.id(), metric.description(), metric.unit(), dataType, data);
    }

    @SuppressWarnings("unchecked")
    private static <T> List<T> cast(List<?> points) {
        return (List<T>) points;
    }

    private Resource resource(JvmLabels jvm, Workload workload) {
        AttributesBuilder builder = Attributes.builder()
                .put("service.name", jvm.service())
                .put("service.instance.id", host + ":" + jvm.pid())
                .put("host.name", host)
                .put("process.pid", jvm.pid());
        if (!jvm.serviceVersion().isEmpty()) builder.put("service.version", jvm.serviceVersion());
        if (!jvm.jdkVersion().isEmpty()) builder.put("process.runtime.version", jvm.jdkVersion());
        if (!jvm.containerId().isEmpty()) builder.put("container.id", jvm.containerId());
        if (!jvm.podUid().isEmpty()) builder.put("k8s.pod.uid", jvm.podUid());
        workload.attributes().forEach(builder::put);
        return Resource.create(builder.build());
    }

    private Attributes attributes(
            Map<Metric, Map<List<String>, Attributes>> known, Metric metric, List<String> values) {
        return attributes.computeIfAbsent(metric, m -> new HashMap<>()).computeIfAbsent(values, v -> {
            Attributes found = known.getOrDefault(metric, Map.of()).get(v);
            return found == null ? attributes(metric, v) : found;
        });
    }

    private static Attributes attributes(Metric metric, List<String> values) {
        AttributesBuilder builder = Attributes.builder();
        for (int i = 0; i < values.size(); i++)
            builder.put(AttributeKey.stringKey(metric.attributes().get(i)), values.get(i));
        return builder.build();
    }

    private static String hostName() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
