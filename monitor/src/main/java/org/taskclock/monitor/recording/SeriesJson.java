// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.taskclock.metrics.AccountKey;
import org.taskclock.monitor.usage.Json;

/** Writes series column by column, with CPU time in percent of one core, and null where there is no data. */
public final class SeriesJson {
    private SeriesJson() {}

    public static void write(JsonWriter json, PoolSeries series, List<Mark> marks) throws IOException {
        long step = series.step().toNanos();
        json.beginObject();
        writeRange(json, series.from(), series.to(), series.step(), series.times());
        json.name("pools").beginArray();
        for (PoolSeries.Row row : series.pools()) if (!row.isAccount()) writePool(json, row, step);
        json.endArray();
        json.name("accounts").beginArray();
        for (PoolSeries.Row row : series.pools()) if (row.isAccount()) writeAccount(json, row, step);
        json.endArray();
        PoolSeries.Totals totals = series.totals();
        json.name("process").beginObject();
        writeColumn(json.name("user"), totals.userNanos(), step);
        writeColumn(json.name("system"), totals.systemNanos(), step);
        json.endObject();
        writeColumn(json.name("container"), totals.containerNanos(), step);
        writeColumn(json.name("throttled"), totals.throttledNanos(), step);
        json.name("limit").beginArray();
        for (double limit : totals.limit()) json.value(limit <= 0 ? null : limit);
        json.endArray();
        json.name("marks").beginArray();
        for (Mark mark : marks) write(json, mark);
        json.endArray();
        json.endObject();
    }

    private static void writePool(JsonWriter json, PoolSeries.Row row, long step) throws IOException {
        json.beginObject();
        json.name("pool").value(row.pool());
        json.name("kind").value(row.kind().label());
        json.name("threads").beginArray();
        for (int threads : row.threads()) json.value(Json.known(threads));
        json.endArray();
        writeColumns(json, row, step);
        json.endObject();
    }

    private static void writeAccount(JsonWriter json, PoolSeries.Row row, long step) throws IOException {
        AccountKey key = AccountKey.parse(row.pool());
        json.beginObject();
        json.name("type").value(key.type());
        json.name("name").value(key.name());
        writeColumns(json, row, step);
        json.endObject();
    }

    private static void writeColumns(JsonWriter json, PoolSeries.Row row, long step) throws IOException {
        writeColumn(json.name("user"), row.userNanos(), step);
        writeColumn(json.name("system"), row.systemNanos(), step);
        writeColumn(json.name("wait"), row.waitNanos(), step);
    }

    public static void write(JsonWriter json, ThreadSeries series) throws IOException {
        long step = series.step().toNanos();
        json.beginObject();
        writeRange(json, series.from(), series.to(), series.step(), series.times());
        json.name("threads").beginArray();
        for (ThreadSeries.Row row : series.threads()) {
            json.beginObject();
            json.name("tid").value(row.tid());
            json.name("name").value(row.name());
            json.name("pool").value(row.pool());
            json.name("kind").value(row.kind().label());
            writeColumn(json.name("cpu"), sum(row.userNanos(), row.systemNanos()), step);
            writeColumn(json.name("system"), row.systemNanos(), step);
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    public static void write(JsonWriter json, Mark mark) throws IOException {
        json.beginObject();
        json.name("time").value(Json.millis(mark.time()));
        json.name("jvm").value(mark.jvmId());
        json.name("kind").value(mark.kind());
        json.name("text").value(mark.text());
        json.endObject();
    }

    private static long[] sum(long[] a, long... b) {
        long[] sum = new long[a.length];
        for (int i = 0; i < a.length; i++) sum[i] = a[i] < 0 || b[i] < 0 ? -1 : a[i] + b[i];
        return sum;
    }

    private static void writeRange(JsonWriter json, Instant from, Instant to, Duration step, long... times)
            throws IOException {
        json.name("from").value(Json.millis(from));
        json.name("to").value(Json.millis(to));
        json.name("step").value(step.toMillis());
        json.name("times").beginArray();
        for (long time : times) json.value(time);
        json.endArray();
    }

    private static void writeColumn(JsonWriter json, long[] nanos, long step) throws IOException {
        json.beginArray();
        for (long value : nanos) json.value(Json.percent(value, step));
        json.endArray();
    }
}
