// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;

/** Reads server-sent events. */
final class EventReader implements AutoCloseable {
    /** An event and its data. */
    record Event(String name, JsonObject data) {}

    private final BufferedReader in;

    EventReader(String url) throws IOException {
        URLConnection connection = URI.create(url).toURL().openConnection();
        connection.setReadTimeout(60_000);
        in = new BufferedReader(new InputStreamReader(connection.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Returns the next event; null at the end of the stream. */
    Event next() throws IOException {
        String name = "";
        for (String line; (line = in.readLine()) != null; ) {
            if (line.startsWith("event: ")) name = line.substring("event: ".length());
            if (line.startsWith("data: "))
                return new Event(
                        name,
                        JsonParser.parseString(line.substring("data: ".length()))
                                .getAsJsonObject());
        }
        return null;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
