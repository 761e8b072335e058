// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

class JsonChangesTest {
    private final JsonChanges changes = new JsonChanges("rows");

    private static JsonObject object(String json) {
        return JsonParser.parseString(json.replace('\'', '"')).getAsJsonObject();
    }

    private static Map<String, String> rows(String... keysAndRows) {
        Map<String, String> rows = new LinkedHashMap<>();
        for (int i = 0; i < keysAndRows.length; i += 2) rows.put(keysAndRows[i], keysAndRows[i + 1].replace('\'', '"'));
        return rows;
    }

    private JsonObject update(String head, Map<String, String> rows) {
        byte[] patch = changes.update(object(head), rows);
        return patch == null ? null : object(new String(patch, StandardCharsets.UTF_8));
    }

    /** Applies a patch, as the page does. */
    static JsonElement patched(JsonElement state, JsonElement patch) {
        if (!(patch instanceof JsonObject changes)) return patch;
        if (state instanceof JsonArray list) {
            JsonArray result = new JsonArray();
            for (int i = 0; i < list.size(); i++) {
                JsonElement change = changes.get(String.valueOf(i));
                if (change == null) result.add(list.get(i));
                else if (!change.isJsonNull()) result.add(patched(list.get(i), change));
            }
            if (changes.has("append")) result.addAll(changes.getAsJsonArray("append"));
            return result;
        }
        JsonObject result = state instanceof JsonObject object ? object.deepCopy() : new JsonObject();
        changes.asMap().forEach((name, change) -> {
            JsonElement old = result.get(name);
            result.add(name, change.isJsonNull() ? JsonNull.INSTANCE : patched(old, change));
        });
        return result;
    }

    @Test
    void shouldHaveNoChangesAtFirst() {
        assertThat(update("{'a':1}", rows("x", "{'n':1}"))).isNull();
    }

    @Test
    void shouldContainWhatChanged() {
        update("{'a':1,'b':2,'c':{'d':1,'e':2}}", rows("x", "{'n':1,'s':'t'}", "y", "{'n':1}", "z", "{'n':1}"));
        JsonObject patch =
                update("{'a':1,'b':3,'c':{'d':1,'e':5}}", rows("w", "{'n':9}", "z", "{'n':1}", "x", "{'n':2,'s':'t'}"));
        assertThat(patch).isEqualTo(object("{'b':3,'c':{'e':5},'rows':{'0':{'n':2},'1':null,'append':[{'n':9}]}}"));
    }

    @Test
    void shouldContainOneFigureOfAListThatMoved() {
        update("{'cpu':[null,1.5,2.0]}", rows());
        assertThat(update("{'cpu':[1.5,2.0,3.25]}", rows())).isEqualTo(object("{'cpu':{'0':null,'append':[3.25]}}"));
        assertThat(update("{'cpu':[1.5,2.0,3.25]}", rows())).isEqualTo(new JsonObject());
        assertThat(update("{'cpu':[9,9,9]}", rows())).isEqualTo(object("{'cpu':[9,9,9]}"));
    }

    /** Returns a row of the overview, all of whose figures have changed. */
    private static String jvm(int number, double[] sparkline, Random random) {
        System.arraycopy(sparkline, 1, sparkline, 0, sparkline.length - 1);
        sparkline[sparkline.length - 1] = random.nextInt(10_000) / 100.0;
        double cpu = sparkline[sparkline.length - 1];
        JsonObject jvm = object("{'id':'" + number + "-3sy2b-0a39','pid':" + number + ",'service':'service-" + number
                + "','command':'com.example.service.Main --port " + number + "','containerId':null,'podUid':null}");
        jvm.addProperty("started", 1_795_763_181_630L + number);
        jvm.addProperty("threads", 50 + random.nextInt(2));
        jvm.addProperty("cpu", cpu);
        jvm.addProperty("user", Math.round(cpu * 80) / 100.0);
        jvm.addProperty("system", Math.round(cpu * 20) / 100.0);
        JsonArray values = new JsonArray();
        for (double value : sparkline) values.add(value);
        jvm.add("sparkline", values);
        return jvm.toString();
    }

    @Test
    void shouldTakeATenthOfTheBytesOfStates() {
        Random random = new Random(1);
        double[][] sparklines = new double[50][60];
        Deflater gzip = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
        byte[] buffer = new byte[1 << 20];
        long states = 0;
        long compressed = 0;
        for (int second = 0; second < 60; second++) {
            Map<String, String> rows = new LinkedHashMap<>();
            for (int i = 0; i < sparklines.length; i++) rows.put("jvm " + i, jvm(i, sparklines[i], random));
            byte[] patch = changes.update(new JsonObject(), rows);
            if (patch == null) continue;
            for (String row : rows.values()) states += row.length() + 1;
            gzip.setInput(patch);
            compressed += gzip.deflate(buffer, 0, buffer.length, Deflater.SYNC_FLUSH);
        }
        gzip.end();
        assertThat(states).isGreaterThan(50 * 59 * 500);
        assertThat(compressed).as("instead of " + states).isLessThan(states / 10);
    }

    @Test
    void shouldLeadToTheNextStateWhateverChanges() {
        Random random = new Random(1);
        JsonElement state = null;
        Map<String, String> last = Map.of();
        for (int round = 0; round < 500; round++) {
            Map<String, String> rows = new LinkedHashMap<>();
            for (int i = 0; i < 8; i++)
                if (random.nextInt(4) > 0) rows.put("k" + i, "{\"k\":" + i + ",\"n\":" + random.nextInt(2) + "}");
            JsonObject head = object("{'a':" + random.nextInt(2) + ",'l':[" + round + "," + (round + 1) + "]}");
            byte[] patch = changes.update(head, rows);
            JsonObject expected = head.deepCopy();
            JsonArray list = new JsonArray();
            // Those that stay keep their order, and new ones follow.
            Map<String, String> ordered = new LinkedHashMap<>();
            for (String key : last.keySet()) if (rows.containsKey(key)) ordered.put(key, rows.get(key));
            rows.forEach(ordered::putIfAbsent);
            ordered.values().forEach(row -> list.add(JsonParser.parseString(row)));
            expected.add("rows", list);
            last = ordered;
            state = patch == null
                    ? expected
                    : patched(state, JsonParser.parseString(new String(patch, StandardCharsets.UTF_8)));
            assertThat(state).as("round " + round).isEqualTo(expected);
        }
    }
}
