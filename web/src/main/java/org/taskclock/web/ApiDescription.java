// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;

/** The description of the API: the file openapi.json, and a page generated from it. */
final class ApiDescription {
    private static final String FILE = "openapi.json";

    /** Of the server of a fleet. */
    static final String FLEET = "openapi-fleet.json";

    private ApiDescription() {}

    static byte[] json() {
        JsonObject root = read(FILE);
        IntervalJson.describe(root.getAsJsonObject("components").getAsJsonObject("schemas"));
        return root.toString().getBytes(StandardCharsets.UTF_8);
    }

    static byte[] fleetJson() {
        return read(FLEET).toString().getBytes(StandardCharsets.UTF_8);
    }

    private static JsonObject read(String file) {
        try (Reader in =
                new InputStreamReader(ApiDescription.class.getResourceAsStream(file), StandardCharsets.UTF_8)) {
            return JsonParser.parseReader(in).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e); // it is in the same jar
        }
    }

    static byte[] page() {
        return page(FILE);
    }

    static byte[] page(String file) {
        JsonObject root = read(file);
        StringBuilder html = new StringBuilder("<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">")
                .append("<meta name=\"viewport\" content=\"width=device-width\"><title>TaskClock API</title></head>\n")
                .append("<body>\n<h1>TaskClock API</h1>\n<p>")
                .append(escaped(root.getAsJsonObject("info").get("description").getAsString()))
                .append("</p>\n<p>With parameters and schemas: <a href=\"openapi.json\">openapi.json</a> (OpenAPI 3.1)")
                .append("</p>\n<dl>\n");
        for (Map.Entry<String, JsonElement> path : root.getAsJsonObject("paths").entrySet())
            for (Map.Entry<String, JsonElement> operation :
                    path.getValue().getAsJsonObject().entrySet())
                append(
                        html,
                        path.getKey(),
                        operation.getKey(),
                        operation.getValue().getAsJsonObject());
        return html.append("</dl>\n</body>\n</html>\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void append(StringBuilder html, String path, String method, JsonObject operation) {
        html.append("<dt><code>")
                .append(method.toUpperCase(Locale.ROOT))
                .append(' ')
                .append(escaped(path))
                .append("</code></dt>\n<dd>")
                .append(escaped(operation.get("summary").getAsString()))
                .append('.');
        if (operation.has("description"))
            html.append(' ').append(escaped(operation.get("description").getAsString()));
        html.append("</dd>\n");
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;");
    }
}
