// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.Arrays;

/** The last values of a figure. Confined to one thread at a time. */
final class Ring {
    private static final int SIZE = 60;

    private final double[] values = new double[SIZE];
    private int next;
    private boolean isEmpty = true;

    Ring() {
        Arrays.fill(values, -1);
    }

    /** Adds a value; null if it is unknown. */
    void add(Double value) {
        isEmpty = false;
        values[next] = value == null ? -1 : value;
        next = (next + 1) % SIZE;
    }

    /** Writes the values, the oldest first, and null where there is none; nothing before the first one. */
    void write(JsonWriter json) throws IOException {
        json.beginArray();
        for (int i = 0; !isEmpty && i < SIZE; i++) {
            double value = values[(next + i) % SIZE];
            if (value < 0) json.nullValue();
            else json.value(value);
        }
        json.endArray();
    }
}
