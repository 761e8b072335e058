// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.Metric;

/** The meters in one registry. Polling any of them updates all of them, and registers those that are new. */
final class RegistryMeters {
    /** One meter, and its value in the last reading. */
    private final class Series {
        private final Metric metric;
        private final List<String> attributes;
        private volatile double value;

        Series(Metric metric, List<String> attributes) {
            this.metric = metric;
            this.attributes = attributes;
        }

        double poll() {
            update();
            return value;
        }

        /** Registers the meter. Micrometer holds objects weakly but functions strongly, so the function holds this. */
        void register() {
            String unit = metric.unit().equals("s") ? "seconds" : null;
            if (metric.type() == Metric.Type.COUNTER)
                FunctionCounter.builder(metric.id(), this, ignored -> poll())
                        .description(metric.description())
                        .baseUnit(unit)
                        .tags(tags())
                        .register(registry);
            else
                Gauge.builder(metric.id(), this, ignored -> poll())
                        .description(metric.description())
                        .baseUnit(unit)
                        .tags(tags())
                        .register(registry);
        }

        private Tags tags() {
            Tags all = extraTags;
            for (int i = 0; i < attributes.size(); i++)
                all = all.and(metric.attributes().get(i), attributes.get(i));
            return all;
        }
    }

    private final MeterRegistry registry;
    private final Supplier<JvmUsage> reader;
    private final Tags extraTags;
    private final Map<Metric, Map<List<String>, Series>> series = new EnumMap<>(Metric.class);
    private JvmUsage last;

    RegistryMeters(MeterRegistry registry, Supplier<JvmUsage> reader, Tags extraTags) {
        this.registry = registry;
        this.reader = reader;
        this.extraTags = extraTags;
        for (Metric metric : Metric.values())
            if (metric != Metric.PROCESS_CPU_TIME) series.put(metric, new HashMap<>());
    }

    /** Takes a reading, unless the last one is recent. */
    void update() {
        // Registered without our lock: the registry has its own, which it may hold while it polls.
        for (Series found : read()) found.register();
    }

    /** Sets all values and returns the series that are new. */
    @SuppressWarnings("ReferenceEquality") // the same reading
    private synchronized List<Series> read() {
        JvmUsage usage = reader.get();
        if (usage == last) return List.of();
        last = usage;
        List<Series> found = new ArrayList<>();
        series.forEach((metric, known) -> {
            // A gauge may become unknown. A counter keeps its value.
            if (metric.type() != Metric.Type.COUNTER) known.values().forEach(each -> each.value = Double.NaN);
            for (Metric.Point point : metric.points(usage)) {
                Series each = known.get(point.attributes());
                if (each == null) {
                    each = new Series(metric, point.attributes());
                    known.put(point.attributes(), each);
                    found.add(each);
                }
                each.value = point.value();
            }
        });
        return found;
    }
}
