// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.taskclock.metrics.Metric;

/**
 * Writes series in the text formats of Prometheus, as the writers of its library do. Those render and escape the labels
 * of each series, and of each bucket of a histogram, again for each scrape, which takes five times as long.
 */
final class SeriesText {
    private static final byte[][] BOUNDS = Metric.BOUNDS.stream()
            .map(bound -> bytes(",le=\"" + bound + "\"} "))
            .toArray(byte[][]::new);

    private static final byte[] INFINITE = bytes(",le=\"+Inf\"} ");
    private static final byte[] VALUE = bytes("} ");

    private final OutputStream out;
    private final boolean openMetrics;

    /** @param openMetrics whether the format is OpenMetrics */
    SeriesText(OutputStream out, boolean openMetrics) {
        this.out = out;
        this.openMetrics = openMetrics;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the start of the labels of a series, which has at least one. */
    static byte[] labels(Labels labels) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < labels.size(); i++) {
            text.append(i == 0 ? "{" : ",").append(labels.getPrometheusName(i)).append("=\"");
            labels.getValue(i).chars().forEach(c -> {
                if (c == '\\' || c == '"') text.append('\\');
                text.append(c == '\n' ? "\\n" : String.valueOf((char) c));
            });
            text.append('"');
        }
        return bytes(text.toString());
    }

    /** Writes what precedes the series of a metric. */
    void begin(Metric metric, MetricMetadata metadata) throws IOException {
        boolean isTotal = metric.type() == Metric.Type.COUNTER && !openMetrics;
        String name = metadata.getPrometheusName() + (isTotal ? "_total" : "");
        String type =
                switch (metric.type()) {
                    case COUNTER -> "counter";
                    case UP_DOWN_COUNTER, GAUGE -> "gauge";
                    case HISTOGRAM -> "histogram";
                };
        String help = "# HELP " + name + " " + metric.description() + "\n";
        String unit = metadata.getUnit() == null ? "" : "# UNIT " + name + " " + metadata.getUnit() + "\n";
        String typeLine = "# TYPE " + name + " " + type + "\n";
        out.write(bytes(openMetrics ? typeLine + unit + help : help + typeLine));
    }

    /** Writes the lines of one series. */
    void write(Metric metric, Names names, Metric.Point point, byte[] labels) throws IOException {
        if (metric.type() != Metric.Type.HISTOGRAM) {
            line(names.value, labels, VALUE, Double.toString(point.value()));
            return;
        }
        List<Long> counts = point.counts();
        long count = 0;
        for (int i = 0; i < counts.size(); i++) {
            count += counts.get(i);
            line(names.bucket, labels, i < BOUNDS.length ? BOUNDS[i] : INFINITE, Long.toString(count));
        }
        line(names.count, labels, VALUE, Long.toString(count));
        line(names.sum, labels, VALUE, Double.toString(point.value()));
    }

    private void line(byte[] name, byte[] labels, byte[] end, String value) throws IOException {
        out.write(name);
        out.write(labels);
        out.write(end);
        out.write(value.getBytes(StandardCharsets.ISO_8859_1));
        out.write('\n');
    }

    /** The names of the series of a metric. */
    static final class Names {
        private final byte[] value;
        private final byte[] bucket;
        private final byte[] count;
        private final byte[] sum;

        Names(Metric metric, MetricMetadata metadata) {
            String name = metadata.getPrometheusName();
            value = bytes(metric.type() == Metric.Type.COUNTER ? name + "_total" : name);
            bucket = bytes(name + "_bucket");
            count = bytes(name + "_count");
            sum = bytes(name + "_sum");
        }
    }
}
