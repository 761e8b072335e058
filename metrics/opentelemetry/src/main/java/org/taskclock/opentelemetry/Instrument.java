// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.opentelemetry;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.ObservableDoubleMeasurement;
import io.opentelemetry.api.metrics.ObservableLongMeasurement;
import io.opentelemetry.api.metrics.ObservableMeasurement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ObjDoubleConsumer;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;

/** The asynchronous instrument of a metric: seconds and processors as floating point, counts as integers. */
final class Instrument {
    private final Metric metric;
    private final ObservableMeasurement measurement;
    private final ObjDoubleConsumer<Attributes> recorder;
    /** By their values. There are as many as series. */
    private final Map<List<String>, Attributes> attributes = new ConcurrentHashMap<>();

    private Instrument(Metric metric, ObservableMeasurement measurement, ObjDoubleConsumer<Attributes> recorder) {
        this.metric = metric;
        this.measurement = measurement;
        this.recorder = recorder;
    }

    private static Instrument of(Metric metric, ObservableLongMeasurement measurement) {
        return new Instrument(metric, measurement, (attributes, value) -> measurement.record((long) value, attributes));
    }

    private static Instrument of(Metric metric, ObservableDoubleMeasurement measurement) {
        return new Instrument(metric, measurement, (attributes, value) -> measurement.record(value, attributes));
    }

    static Instrument of(Meter meter, Metric metric) {
        String id = metric.id();
        String unit = metric.unit();
        String description = metric.description();
        return switch (metric.type()) {
            case COUNTER -> {
                var builder = meter.counterBuilder(id).setUnit(unit).setDescription(description);
                yield unit.equals("s")
                        ? of(metric, builder.ofDoubles().buildObserver())
                        : of(metric, builder.buildObserver());
            }
            case UP_DOWN_COUNTER ->
                of(
                        metric,
                        meter.upDownCounterBuilder(id)
                                .setUnit(unit)
                                .setDescription(description)
                                .buildObserver());
            case GAUGE ->
                of(
                        metric,
                        meter.gaugeBuilder(id)
                                .setUnit(unit)
                                .setDescription(description)
                                .buildObserver());
            case HISTOGRAM -> throw new IllegalArgumentException("no asynchronous instrument: " + id);
        };
    }

    ObservableMeasurement measurement() {
        return measurement;
    }

    void record(JvmUsage usage) {
        for (Metric.Point point : metric.points(usage))
            recorder.accept(
                    attributes.computeIfAbsent(point.attributes(), values -> attributes(metric, values)),
                    point.value());
    }

    static Attributes attributes(Metric metric, List<String> values) {
        AttributesBuilder builder = Attributes.builder();
        for (int i = 0; i < values.size(); i++) builder.put(metric.attributes().get(i), values.get(i));
        return builder.build();
    }
}
