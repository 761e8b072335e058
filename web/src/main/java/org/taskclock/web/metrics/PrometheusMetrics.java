// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.taskclock.metrics.Metric;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.monitor.fleet.JvmLabels;
import org.taskclock.monitor.fleet.JvmSnapshot;

/** The metrics of all JVMs, read when Prometheus asks for them. */
public final class PrometheusMetrics implements MultiCollector {
    /** Those of the buckets of histograms. */
    private static final List<Double> BOUNDS = new ArrayList<>(Metric.BOUNDS);

    private static final MetricMetadata INFO = new MetricMetadata(
            "taskclock_jvm", "What is known of a JVM, to be joined with its other series by jvm, job, and instance.");

    private static final Map<Metric, MetricMetadata> METADATA = new EnumMap<>(Metric.class);
    private static final Map<Metric, SeriesText.Names> NAMES = new EnumMap<>(Metric.class);

    static {
        BOUNDS.add(Double.POSITIVE_INFINITY);
        for (Metric metric : Metric.values()) METADATA.put(metric, metadata(metric));
        for (Metric metric : Metric.values()) NAMES.put(metric, new SeriesText.Names(metric, METADATA.get(metric)));
    }

    private final JvmFleet fleet;
    private final ExporterStatus status;
    private final EpochClock clock = new EpochClock();

    /** Of the JVMs in the last response. */
    private final Map<JvmLabels, SeriesLabels> seriesLabels = new ConcurrentHashMap<>();

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
        List<JvmSnapshot> jvms = jvms();
        List<MetricSnapshot> snapshots = new ArrayList<>();
        for (Metric metric : Metric.values()) {
            List<DataPointSnapshot> points = new ArrayList<>();
            for (JvmSnapshot jvm : jvms) {
                SeriesLabels labels = seriesLabels.get(jvm.jvm().labels());
                // Only in OpenMetrics, and only if a property asks for it, because it is a series of its own.
                long created = TimeUnit.NANOSECONDS.toMillis(clock.epochNanos(jvm.startNanos()));
                for (Metric.Point point : jvm.series().get(metric))
                    points.add(snapshot(metric, point, labels.of(metric, point.attributes()), created));
            }
            if (!points.isEmpty()) snapshots.add(snapshot(metric, points));
        }
        snapshots.addAll(others(jvms));
        return new MetricSnapshots(snapshots);
    }

    /** Writes the same as text. The writer is that of a text format, and writes the metrics of the exporter itself. */
    void write(OutputStream out, ExpositionFormatWriter writer) throws IOException {
        List<JvmSnapshot> jvms = jvms();
        SeriesText text = new SeriesText(out, writer instanceof OpenMetricsTextFormatWriter);
        for (Metric metric : Metric.values()) {
            boolean hasBegun = false;
            for (JvmSnapshot jvm : jvms) {
                SeriesLabels labels = seriesLabels.get(jvm.jvm().labels());
                for (Metric.Point point : jvm.series().get(metric)) {
                    if (!hasBegun) text.begin(metric, METADATA.get(metric));
                    hasBegun = true;
                    text.write(metric, NAMES.get(metric), point, labels.text(metric, point.attributes()));
                }
            }
        }
        writer.write(out, new MetricSnapshots(others(jvms)));
    }

    /** Returns what else is known of each JVM, and the metrics of the exporter itself. */
    private List<MetricSnapshot> others(List<JvmSnapshot> jvms) {
        List<MetricSnapshot> snapshots = new ArrayList<>(OwnMetrics.of(status, fleet.status()));
        List<InfoDataPointSnapshot> points = new ArrayList<>();
        for (JvmSnapshot jvm : jvms) {
            List<String> names = new ArrayList<>(JvmLabels.INFO_NAMES);
            List<String> values = new ArrayList<>(jvm.jvm().labels().infoValues());
            jvm.jvm().workload().attributes().forEach((name, value) -> {
                names.add(name(name));
                values.add(value);
            });
            points.add(new InfoDataPointSnapshot(Labels.of(names, values)));
        }
        if (!points.isEmpty()) snapshots.add(new InfoSnapshot(INFO, points));
        return snapshots;
    }

    /** Returns one snapshot for each combination of labels. Two series with the same would make the response fail. */
    private List<JvmSnapshot> jvms() {
        clock.refresh();
        Set<JvmLabels> seen = new HashSet<>();
        List<JvmSnapshot> jvms = new ArrayList<>(fleet.read());
        jvms.removeIf(jvm -> !seen.add(jvm.jvm().labels()));
        for (JvmLabels labels : seen) seriesLabels.computeIfAbsent(labels, SeriesLabels::new);
        status.series = jvms.stream()
                        .flatMap(jvm -> jvm.series().entrySet().stream())
                        .mapToInt(metric -> metric.getValue().size() * seriesOf(metric.getKey()))
                        .sum()
                + jvms.size();
        seriesLabels.keySet().retainAll(seen);
        return jvms;
    }

    private static DataPointSnapshot snapshot(Metric metric, Metric.Point point, Labels labels, long created) {
        return switch (metric.type()) {
            case COUNTER -> new CounterDataPointSnapshot(point.value(), labels, null, created);
            case UP_DOWN_COUNTER, GAUGE -> new GaugeDataPointSnapshot(point.value(), labels, null);
            case HISTOGRAM ->
                new HistogramDataPointSnapshot(
                        ClassicHistogramBuckets.of(BOUNDS, point.counts()),
                        point.value(),
                        labels,
                        Exemplars.EMPTY,
                        created);
        };
    }

    private static MetricSnapshot snapshot(Metric metric, List<DataPointSnapshot> points) {
        MetricMetadata metadata = METADATA.get(metric);
        return switch (metric.type()) {
            case COUNTER -> new CounterSnapshot(metadata, cast(points));
            case UP_DOWN_COUNTER, GAUGE -> new GaugeSnapshot(metadata, cast(points));
            case HISTOGRAM -> new HistogramSnapshot(metadata, cast(points));
        };
    }

    /** A histogram has a series for each bucket, the sum, and the count. */
    private static int seriesOf(Metric metric) {
        return metric.type() == Metric.Type.HISTOGRAM ? BOUNDS.size() + 2 : 1;
    }

    @SuppressWarnings("unchecked")
    private static <T> List<T> cast(List<?> points) {
        return (List<T>) points;
    }
}
