// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

/**
 * An answer to a query.
 *
 * @param warnings for example, that a part of the servers did not answer
 * @param error null if the query succeeded
 */
record Answer(List<Series> series, List<String> warnings, String error) {
    private static final int MAX_WARNINGS = 10;

    /** Of a query that need not be sent. */
    static final Answer NONE = new Answer(List.of(), List.of(), null);

    /** The samples of a series, one for an instant query. Times are in milliseconds since 1970. */
    @SuppressWarnings("ArrayRecordComponent") // never compared, and written by nobody
    record Series(Map<String, String> labels, long[] times, double[] values) {
        /** Returns a label; empty if it is absent, which is the same in Prometheus. */
        String label(String name) {
            return labels.getOrDefault(name, "");
        }

        double value() {
            return values[values.length - 1];
        }
    }

    /** Returns the only value; NaN if there is none. */
    double number() {
        return series.isEmpty() ? Double.NaN : series.get(0).value();
    }

    static void writeWarnings(JsonWriter json, List<Answer> answers) throws IOException {
        json.name("warnings").beginArray();
        for (String warning : new LinkedHashSet<>(
                answers.stream().flatMap(answer -> answer.warnings.stream()).toList())) json.value(warning);
        json.endArray();
    }

    /** Writes a number with two decimals; null if it is NaN. */
    static void writeNumber(JsonWriter json, double number) throws IOException {
        if (Double.isNaN(number)) json.nullValue();
        else json.value(Math.round(number * 100) / 100.0);
    }

    /** Reads JSON of the API, without a tree in memory. */
    static Answer read(Reader in) throws IOException {
        List<Series> series = new ArrayList<>();
        List<String> warnings = new ArrayList<>();
        String status = null;
        String error = null;
        // The caller closes the reader.
        JsonReader json = new JsonReader(in);
        json.beginObject();
        while (json.hasNext()) {
            switch (json.nextName()) {
                case "status" -> status = json.nextString();
                case "error" -> error = json.nextString();
                case "data" -> readData(json, series);
                case "warnings" -> {
                    json.beginArray();
                    while (json.hasNext()) {
                        String warning = json.nextString();
                        if (warnings.size() < MAX_WARNINGS) warnings.add(warning);
                    }
                    json.endArray();
                }
                default -> json.skipValue();
            }
        }
        json.endObject();
        if (status == null) throw new IOException("no status");
        if (!status.equals("success") && error == null) error = status;
        return new Answer(series, warnings, error);
    }

    private static void readData(JsonReader json, List<Series> series) throws IOException {
        if (json.peek() != JsonToken.BEGIN_OBJECT) {
            json.skipValue();
            return;
        }
        json.beginObject();
        while (json.hasNext()) {
            if (!json.nextName().equals("result") || json.peek() != JsonToken.BEGIN_ARRAY) {
                json.skipValue();
                continue;
            }
            json.beginArray();
            while (json.hasNext()) {
                Series one = readSeries(json);
                if (one.values.length > 0) series.add(one);
            }
            json.endArray();
        }
        json.endObject();
    }

    private static Series readSeries(JsonReader json) throws IOException {
        Map<String, String> labels = new LinkedHashMap<>();
        List<long[]> times = new ArrayList<>();
        List<double[]> values = new ArrayList<>();
        json.beginObject();
        while (json.hasNext()) {
            switch (json.nextName()) {
                case "metric" -> {
                    json.beginObject();
                    while (json.hasNext()) labels.put(json.nextName(), json.nextString());
                    json.endObject();
                }
                case "value" -> readSample(json, times, values);
                case "values" -> {
                    json.beginArray();
                    while (json.hasNext()) readSample(json, times, values);
                    json.endArray();
                }
                default -> json.skipValue();
            }
        }
        json.endObject();
        return new Series(
                labels,
                times.stream().mapToLong(time -> time[0]).toArray(),
                values.stream().mapToDouble(value -> value[0]).toArray());
    }

    private static void readSample(JsonReader json, List<long[]> times, List<double[]> values) throws IOException {
        json.beginArray();
        times.add(new long[] {Math.round(json.nextDouble() * 1_000)});
        String text = json.nextString();
        json.endArray();
        try {
            values.add(new double[] {text.endsWith("Inf") ? Double.NaN : Double.parseDouble(text)});
        } catch (NumberFormatException e) {
            throw new IOException("no number: " + text);
        }
    }
}
