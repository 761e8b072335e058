// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.usage;

import com.google.gson.stream.JsonWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** Writes JSON. All text is escaped so that it is also safe within HTML. */
public final class Json {
    private static final double PERCENT = 100;

    /** Writes a value. */
    public interface Value {
        void write(JsonWriter json) throws IOException;
    }

    private Json() {}

    /** Returns a value as UTF-8, in one line. */
    public static byte[] bytes(Value value) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (JsonWriter json = new JsonWriter(new OutputStreamWriter(bytes, StandardCharsets.UTF_8))) {
            json.setHtmlSafe(true);
            value.write(json);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // writing to memory does not fail
        }
        return bytes.toByteArray();
    }

    public static byte[] error(String message) {
        return bytes(json -> json.beginObject().name("error").value(message).endObject());
    }

    /**
     * Returns a part of an interval in percent, with two decimals; null if the part is negative, which means unknown.
     */
    public static Double percent(long nanos, long intervalNanos) {
        if (nanos < 0 || intervalNanos <= 0) return null;
        return Math.round(PERCENT * PERCENT * nanos / intervalNanos) / PERCENT;
    }

    /** Returns null if the value is negative, which means unknown. */
    public static Number known(long value) {
        return value < 0 ? null : Long.valueOf(value);
    }

    public static Number millis(Instant time) {
        return time == null ? null : Long.valueOf(time.toEpochMilli());
    }
}
