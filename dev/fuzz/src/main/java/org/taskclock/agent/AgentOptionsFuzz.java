// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import com.google.gson.JsonParser;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.taskclock.fuzz.OneLine;
import org.taskclock.internal.CpuThresholdSetting;

/** The options of the agent, the setting of its events, and the JSON that it writes with names from the program. */
public final class AgentOptionsFuzz {
    private AgentOptionsFuzz() {}

    public static void fuzzerTestOneInput(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        try {
            options(Options.parse(text));
        } catch (IllegalArgumentException e) {
            OneLine.check(e);
        }

        CpuThresholdSetting threshold = new CpuThresholdSetting.OfThread();
        threshold.setValue(text);
        threshold.combine(new HashSet<>(List.of(text, "1 ms")));
        if (!threshold.isReached(Long.MAX_VALUE)) throw new AssertionError("no thread reaches this: " + text);

        // Also unpaired surrogates, which occur in the names of threads.
        String name = new String(data, StandardCharsets.UTF_16BE);
        JsonWriter json = new JsonWriter();
        json.member("name", name);
        String read =
                JsonParser.parseString(json.end()).getAsJsonObject().get("name").getAsString();
        if (!read.equals(name)) throw new AssertionError("the name has changed");
    }

    private static void options(Options options) {
        options.virtualYield();
        Options.FEATURES.forEach(options::isOn);
        if (options.detach() || options.given().isEmpty()) return;
        String written = options.given().entrySet().stream()
                .map(option -> option.getKey() + "=" + option.getValue())
                .collect(Collectors.joining(","));
        if (!Options.parse(written).equals(options)) throw new AssertionError("not the same options: " + written);
        if (!options.overriding(new Options(false, Map.of("jfr", "off")))
                .given()
                .containsKey("jfr")) throw new AssertionError("an earlier option is lost");
    }
}
