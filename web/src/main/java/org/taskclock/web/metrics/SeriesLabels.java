// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.Metric;
import org.taskclock.monitor.fleet.JvmLabels;

/** The Prometheus labels of the series of a JVM. Each is created only once, because a lookup is faster. */
final class SeriesLabels {
    private final List<String> jvm;
    private final Map<Metric, Map<List<String>, Labels>> cache = new EnumMap<>(Metric.class);
    private final Map<Metric, Map<List<String>, byte[]>> texts = new EnumMap<>(Metric.class);

    SeriesLabels(JvmLabels jvm) {
        this.jvm = jvm.values();
    }

    /** Returns the labels of a series as in {@link SeriesText#labels}. Thread-safe. */
    synchronized byte[] text(Metric metric, List<String> attributes) {
        return texts.computeIfAbsent(metric, m -> new HashMap<>())
                .computeIfAbsent(attributes, values -> SeriesText.labels(create(metric, values)));
    }

    /** Returns the labels of a series. Its attributes are those of {@link Metric#attributes}. Thread-safe. */
    synchronized Labels of(Metric metric, List<String> attributes) {
        return cache.computeIfAbsent(metric, m -> new HashMap<>())
                .computeIfAbsent(attributes, values -> create(metric, values));
    }

    private Labels create(Metric metric, List<String> attributes) {
        List<String> names = new ArrayList<>(JvmLabels.NAMES);
        for (String attribute : metric.attributes()) names.add(PrometheusMetrics.name(attribute));
        List<String> values = new ArrayList<>(jvm);
        values.addAll(attributes);
        return Labels.of(names, values);
    }
}
