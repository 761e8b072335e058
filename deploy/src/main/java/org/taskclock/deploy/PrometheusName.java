// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.Metric;

/** The names that metrics and their attributes have in Prometheus, as docs/metrics.md defines them. */
final class PrometheusName {
    /** The labels that identify a JVM. Prometheus adds job and instance, and the exporter the others. */
    static final List<String> IDENTITY = List.of("job", "instance", "jvm", "service");

    private PrometheusName() {}

    /** Returns the name of a metric; of a histogram, that of its buckets. */
    static String of(Metric metric) {
        StringBuilder name = new StringBuilder(metric.id().replace('.', '_'));
        if (metric.unit().equals("s")) name.append("_seconds");
        if (metric.type() == Metric.Type.COUNTER) name.append("_total");
        if (metric.type() == Metric.Type.HISTOGRAM) name.append("_bucket");
        return name.toString();
    }

    /** Returns the names of all labels that the series of a metric may have. */
    static List<String> labels(Metric metric) {
        List<String> labels = new ArrayList<>(IDENTITY);
        for (String attribute : metric.attributes()) labels.add(attribute.replace('.', '_'));
        if (metric.type() == Metric.Type.HISTOGRAM) labels.add("le");
        return labels;
    }
}
