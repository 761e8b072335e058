// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The largest rows over time, and all the others together. */
final class FleetSeries {
    /** The page has colors for ten, of which one is for the others. */
    private static final int MAX_LINES = 9;

    private static final String TYPE = Dimension.ACCOUNT.labels.get(1);

    private final FleetQueries queries;
    private final FleetRange range;

    /** The rows that are drawn, largest first, by the values of their labels. */
    private final List<List<String>> drawn;

    /** The type of accounts, because those of several types are the same CPU time; null if no accounts are shown. */
    private final String accountType;

    private FleetSeries(FleetQueries queries, FleetRange range, List<List<String>> drawn, String accountType) {
        this.queries = queries;
        this.range = range;
        this.drawn = drawn;
        this.accountType = accountType;
    }

    /** Chooses the largest rows of a range. */
    static FleetSeries of(FleetQueries queries, FleetRange range, Answer rows) {
        List<Answer.Series> sorted = new ArrayList<>(rows.series());
        sorted.sort(Comparator.comparingDouble(Answer.Series::value).reversed());
        String type = queries.dimension() == Dimension.ACCOUNT && !sorted.isEmpty()
                ? sorted.get(0).label(TYPE)
                : null;
        List<List<String>> drawn = sorted.stream()
                .filter(row -> type == null || row.label(TYPE).equals(type))
                .limit(MAX_LINES)
                .map(row -> queries.labels().stream().map(row::label).toList())
                .toList();
        return new FleetSeries(queries, range, drawn, type);
    }

    boolean isEmpty() {
        return drawn.isEmpty();
    }

    String lines() {
        Map<String, Set<String>> names = new LinkedHashMap<>();
        for (List<String> row : drawn)
            for (int i = 0; i < row.size(); i++)
                names.computeIfAbsent(queries.labels().get(i), label -> new LinkedHashSet<>())
                        .add(row.get(i));
        return queries.lines(names);
    }

    String sum(boolean weekEarlier) {
        return queries.sum(accountType, weekEarlier);
    }

    /** Writes the answers to the queries into an object. */
    void write(JsonWriter json, Answer lines, Answer sum, Answer weekEarlier) throws IOException {
        double[] others = values(sum);
        json.name("times").beginArray();
        // A value is the mean of the time before it.
        for (int i = 0; i < range.points(); i++)
            json.value(range.from().plus(range.step().multipliedBy(i - 1L)).toEpochMilli());
        json.endArray();
        json.name("lines").beginArray();
        for (List<String> row : drawn) {
            for (Answer.Series line : lines.series()) {
                if (!row.equals(queries.labels().stream().map(line::label).toList())) continue;
                double[] values = range.values(line);
                for (int i = 0; i < values.length; i++) {
                    // The row does not exist at this time, but others do.
                    if (Double.isNaN(values[i]) && !Double.isNaN(others[i])) values[i] = 0;
                    others[i] = Math.max(0, others[i] - values[i]);
                }
                json.beginObject().name("name").value(row.get(0));
                UsageRows.writeLabels(json, line.labels());
                write(json.name("cpu"), values);
                json.endObject();
            }
        }
        json.endArray();
        write(json.name("others"), others);
        write(json.name("weekEarlier"), values(weekEarlier));
    }

    private double[] values(Answer answer) {
        return range.values(
                answer.series().isEmpty()
                        ? new Answer.Series(Map.of(), new long[0], new double[0])
                        : answer.series().get(0));
    }

    private static void write(JsonWriter json, double[] values) throws IOException {
        json.beginArray();
        for (double value : values) Answer.writeNumber(json, UsageRows.PERCENT * value);
        json.endArray();
    }
}
