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
    /** Added to the id of a histogram for its buckets, as Micrometer does for registries that know no histograms. */
    private static final String BUCKETS = ".histogram";

    /** The tag with the upper bound of a bucket. */
    private static final String BOUND = "le";

    /** One meter, and its value in the last reading. */
    private final class Series {
        private final Metric metric;
        /** If it is a bucket, also its bound. */
        private final List<String> attributes;

        private final boolean isBucket;
        private volatile double value;

        Series(Metric metric, List<String> attributes) {
            this.metric = metric;
            this.attributes = attributes;
            isBucket = attributes.size() > metric.attributes().size();
        }

        double poll() {
            update();
            return value;
        }

        /** Registers the meter. Micrometer holds objects weakly but functions strongly, so the function holds this. */
        void register() {
            String id = isBucket ? metric.id() + BUCKETS : metric.id();
            String unit = metric.unit().equals("s") && !isBucket ? "seconds" : null;
            if (isCumulative(metric))
                FunctionCounter.builder(id, this, ignored -> poll())
                        .description(metric.description())
                        .baseUnit(unit)
                        .tags(tags())
                        .register(registry);
            else
                Gauge.builder(id, this, ignored -> poll())
                        .description(metric.description())
                        .baseUnit(unit)
                        .tags(tags())
                        .register(registry);
        }

        private Tags tags() {
            List<String> names = new ArrayList<>(metric.attributes());
            names.add(BOUND);
            Tags all = extraTags;
            for (int i = 0; i < attributes.size(); i++) all = all.and(names.get(i), attributes.get(i));
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
        for (Metric metric : Metric.values()) series.put(metric, new HashMap<>());
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
            if (!isCumulative(metric)) known.values().forEach(each -> each.value = Double.NaN);
            for (Metric.Point point : metric.points(usage)) {
                set(metric, point.attributes(), point.value(), found);
                setBuckets(metric, point, found);
            }
        });
        return found;
    }

    private void setBuckets(Metric metric, Metric.Point point, List<Series> found) {
        long sum = 0;
        for (int i = 0; i < point.counts().size(); i++) {
            sum += point.counts().get(i);
            List<String> attributes = new ArrayList<>(point.attributes());
            attributes.add(i < Metric.BOUNDS.size() ? Metric.BOUNDS.get(i).toString() : "+Inf");
            set(metric, attributes, (double) sum, found);
        }
    }

    private void set(Metric metric, List<String> attributes, double value, List<Series> found) {
        Series each = series.get(metric).get(attributes);
        if (each == null) {
            each = new Series(metric, attributes);
            series.get(metric).put(attributes, each);
            found.add(each);
        }
        each.value = value;
    }

    private static boolean isCumulative(Metric metric) {
        return metric.type() == Metric.Type.COUNTER || metric.type() == Metric.Type.HISTOGRAM;
    }
}
