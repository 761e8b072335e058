// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.Metric;

/** The metrics of all JVMs, read when Prometheus asks for them. */
public final class PrometheusMetrics implements MultiCollector {
    private static final Map<Metric, MetricMetadata> METADATA = new EnumMap<>(Metric.class);

    static {
        for (Metric metric : Metric.values()) METADATA.put(metric, metadata(metric));
    }

    private final JvmFleet fleet;
    private final ExporterStatus status;

    public PrometheusMetrics(JvmFleet fleet, ExporterStatus status) {
        this.fleet = fleet;
        this.status = status;
    }

    /** Returns the Prometheus name of a metric or attribute, without unit. */
    static String name(String id) {
        return id.replace('.', '_');
    }

    private static MetricMetadata metadata(Metric metric) {
        // Units in braces are annotations. They are not part of the name.
        if (!metric.unit().equals("s")) return new MetricMetadata(name(metric.id()), metric.description());
        return new MetricMetadata(name(metric.id()) + "_seconds", metric.description(), Unit.SECONDS);
    }

    @Override
    public MetricSnapshots collect() {
        List<JvmSnapshot> jvms = fleet.read();
        List<MetricSnapshot> snapshots = new ArrayList<>();
        int series = 0;
        for (Metric metric : Metric.values()) {
            MetricSnapshot snapshot =
                    metric.type() == Metric.Type.COUNTER ? counter(metric, jvms) : gauge(metric, jvms);
            series += snapshot.getDataPoints().size();
            if (!snapshot.getDataPoints().isEmpty()) snapshots.add(snapshot);
        }
        status.series = series;
        snapshots.addAll(OwnMetrics.of(status));
        return new MetricSnapshots(snapshots);
    }

    private static MetricSnapshot counter(Metric metric, List<JvmSnapshot> jvms) {
        List<CounterDataPointSnapshot> points = new ArrayList<>();
        for (JvmSnapshot jvm : jvms)
            for (Metric.Point point : metric.points(jvm.usage()))
                points.add(new CounterDataPointSnapshot(point.value(), labels(jvm, metric, point), null, 0));
        return new CounterSnapshot(METADATA.get(metric), points);
    }

    private static MetricSnapshot gauge(Metric metric, List<JvmSnapshot> jvms) {
        List<GaugeDataPointSnapshot> points = new ArrayList<>();
        for (JvmSnapshot jvm : jvms)
            for (Metric.Point point : metric.points(jvm.usage()))
                points.add(new GaugeDataPointSnapshot(point.value(), labels(jvm, metric, point), null));
        return new GaugeSnapshot(METADATA.get(metric), points);
    }

    private static Labels labels(JvmSnapshot jvm, Metric metric, Metric.Point point) {
        return jvm.jvm().series.of(metric, point.attributes());
    }
}
