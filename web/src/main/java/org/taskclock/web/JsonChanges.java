// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.taskclock.monitor.usage.Json;
import org.taskclock.web.http.EventChannel;

/**
 * What changed in a JSON object with a list of rows, as a JSON merge patch (RFC 7396), by which lists can be patched,
 * too: a list is patched by an object whose names are the positions of elements, and whose values are their patches,
 * null for those that are gone. The member {@link #APPEND} has those that are new. Not thread-safe.
 */
final class JsonChanges {
    private static final String APPEND = "append";
    private static final Gson GSON = new GsonBuilder().serializeNulls().create();

    private final String list;

    /** Null before the first state. */
    private JsonObject members;

    private Map<String, String> rows = Map.of();

    /** Creates the changes of objects whose list of rows has this name. */
    JsonChanges(String list) {
        this.list = list;
    }

    /**
     * Sends the next state, and what changed in it.
     *
     * @param head writes the members, except the list
     * @param latest rows as JSON, by keys that identify them in all states
     */
    void send(EventChannel channel, String event, Json.Value head, Map<String, String> latest) {
        byte[] first = Json.bytes(json -> {
            json.beginObject();
            head.write(json);
            json.endObject();
        });
        byte[] changes = update(parse(new String(first, StandardCharsets.UTF_8)), latest);
        Map<String, String> now = rows;
        channel.send(
                event,
                () -> Json.bytes(json -> {
                    json.beginObject();
                    head.write(json);
                    json.name(list).beginArray();
                    for (String row : now.values()) json.jsonValue(row);
                    json.endArray();
                    json.endObject();
                }),
                changes);
    }

    /** Returns what changed; null if this is the first state. */
    byte[] update(JsonObject head, Map<String, String> latest) {
        JsonObject changed = new JsonObject();
        Map<String, String> next = new LinkedHashMap<>();
        int position = 0;
        for (Map.Entry<String, String> row : rows.entrySet()) {
            String now = latest.get(row.getKey());
            if (now == null) changed.add(String.valueOf(position), JsonNull.INSTANCE);
            else if (!now.equals(row.getValue()))
                changed.add(String.valueOf(position), difference(parse(row.getValue()), parse(now)));
            if (now != null) next.put(row.getKey(), now);
            position++;
        }
        JsonArray added = new JsonArray();
        latest.forEach((key, row) -> {
            if (next.putIfAbsent(key, row) == null && members != null) added.add(parse(row));
        });
        if (!added.isEmpty()) changed.add(APPEND, added);
        JsonObject before = members;
        members = head;
        rows = next;
        if (before == null) return null;
        JsonObject patch = difference(before, head);
        if (!changed.isEmpty()) patch.add(list, changed);
        return Json.bytes(json -> GSON.toJson(patch, json));
    }

    private static JsonObject parse(String text) {
        return JsonParser.parseString(text).getAsJsonObject();
    }

    private static JsonObject difference(JsonObject before, JsonObject now) {
        JsonObject patch = new JsonObject();
        for (String name : before.keySet()) if (!now.has(name)) patch.add(name, JsonNull.INSTANCE);
        now.asMap().forEach((name, value) -> {
            JsonElement old = before.get(name);
            if (value.equals(old)) return;
            if (old instanceof JsonObject from && value instanceof JsonObject to) patch.add(name, difference(from, to));
            else if (old instanceof JsonArray from && value instanceof JsonArray to && isMoved(from, to))
                patch.add(name, moved(to));
            else patch.add(name, value);
        });
        return patch;
    }

    /** Returns whether a list of figures lost its first one and got another. */
    private static boolean isMoved(JsonArray before, JsonArray now) {
        int last = now.size() - 1;
        if (before.size() != now.size() || last < 1) return false;
        return before.asList().subList(1, last + 1).equals(now.asList().subList(0, last));
    }

    private static JsonObject moved(JsonArray now) {
        JsonArray added = new JsonArray();
        added.add(now.get(now.size() - 1));
        JsonObject patch = new JsonObject();
        patch.add("0", JsonNull.INSTANCE);
        patch.add(APPEND, added);
        return patch;
    }
}
