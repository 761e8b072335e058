// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ObjDoubleConsumer;

/** The rows of a table, each from the answers to several queries. */
final class UsageRows {
    static final double PERCENT = 100;

    /** An outlier uses this many times the median of its service, as in the rules. */
    private static final double OUTLIER = 2;

    /** JVMs that are nearly idle differ, in processors. */
    private static final double MIN_OUTLIER = 0.1;

    private static final int MIN_SIBLINGS = 3;

    /** A row. Unknown values are NaN, and CPU use is in processors. */
    static final class Row {
        private final Map<String, String> labels = new LinkedHashMap<>();
        double cpu = Double.NaN;
        double weekEarlier = Double.NaN;
        double hours = Double.NaN;
        double jvms = Double.NaN;
        double outliers = Double.NaN;
        double findings = Double.NaN;
        private boolean isOutlier;
    }

    private final FleetQueries queries;
    private final HostUrl hostUrl;
    private final Map<List<String>, Row> rows = new HashMap<>();

    UsageRows(FleetQueries queries, HostUrl hostUrl) {
        this.queries = queries;
        this.hostUrl = hostUrl;
    }

    private List<String> key(Answer.Series series) {
        return queries.labels().stream().map(series::label).toList();
    }

    /** Adds a value to the row of each series. */
    void add(Answer answer, ObjDoubleConsumer<Row> setter) {
        for (Answer.Series series : answer.series()) {
            Row row = rows.computeIfAbsent(key(series), key -> new Row());
            row.labels.putAll(series.labels());
            setter.accept(row, series.value());
        }
    }

    /** Adds a value, and labels, to the rows that exist. */
    void describe(Answer answer, ObjDoubleConsumer<Row> setter) {
        for (Answer.Series series : answer.series()) {
            Row row = rows.get(key(series));
            if (row == null) continue;
            row.labels.putAll(series.labels());
            setter.accept(row, series.value());
        }
    }

    void markOutliers(double median) {
        long running = rows.values().stream().filter(row -> row.cpu >= 0).count();
        if (running < MIN_SIBLINGS) return;
        for (Row row : rows.values()) row.isOutlier = row.cpu > MIN_OUTLIER && row.cpu > OUTLIER * median;
    }

    /** Writes the rows into an object, the largest first. */
    void write(JsonWriter json) throws IOException {
        List<Row> sorted = new ArrayList<>(rows.values());
        sorted.sort((a, b) -> Double.compare(known(b.cpu), known(a.cpu)));
        json.name("truncated").value(sorted.size() >= FleetQueries.MAX_ROWS);
        json.name("rows").beginArray();
        for (Row row : sorted) write(json, row);
        json.endArray();
    }

    private static double known(double value) {
        return Double.isNaN(value) ? 0 : value;
    }

    private void write(JsonWriter json, Row row) throws IOException {
        json.beginObject();
        json.name("name").value(row.labels.getOrDefault(queries.labels().get(0), ""));
        writeLabels(json, row.labels);
        Answer.writeNumber(json.name("cpu"), PERCENT * row.cpu);
        Answer.writeNumber(json.name("weekEarlier"), PERCENT * row.weekEarlier);
        Answer.writeNumber(json.name("hours"), row.hours);
        Answer.writeNumber(json.name("jvms"), row.jvms);
        Answer.writeNumber(json.name("outliers"), row.outliers);
        Answer.writeNumber(json.name("findings"), row.findings);
        json.name("outlier").value(row.isOutlier);
        json.name("url").value(hostUrl.of(row.labels.get("instance")));
        json.endObject();
    }

    static void writeLabels(JsonWriter json, Map<String, String> labels) throws IOException {
        json.name("labels").beginObject();
        for (Map.Entry<String, String> label : labels.entrySet())
            if (!label.getKey().equals("__name__")) json.name(label.getKey()).value(label.getValue());
        json.endObject();
    }
}
