// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes the Grafana dashboards, and the alerts and their table from the registry of findings, into the repository.
 * Tests compare the committed files with these, so run it after each change: {@value #COMMAND}.
 *
 * <p>Grafana's own library for dashboards is not published for Maven. The JSON of these dashboards is simple enough to
 * write, and it is checked against the types that Grafana publishes, see grafana/schema.
 */
public final class GeneratedFiles {
    static final String COMMAND = "mvn -q -pl deploy -am process-classes -Pgenerate";

    private static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .setPrettyPrinting()
            .disableHtmlEscaping()
            .create();

    private GeneratedFiles() {}

    public static void main(String... args) throws IOException {
        for (Map.Entry<Path, String> file : of(Path.of(args[0])).entrySet())
            Files.writeString(file.getKey(), file.getValue());
    }

    /** Returns the content of each generated file of the repository. */
    static Map<Path, String> of(Path repository) throws IOException {
        Map<Path, String> files = new TreeMap<>();
        dashboards()
                .forEach((name, json) ->
                        files.put(repository.resolve("deploy/grafana").resolve(name), json));
        Path rules = repository.resolve("deploy/prometheus/taskclock.rules.yml");
        files.put(rules, replace(rules, "    # alerts: generated\n", "", AlertFiles.rules()));
        Path page = repository.resolve("docs/alerts.md");
        files.put(page, replace(page, "<!-- findings: generated -->\n", "<!-- /findings -->\n", AlertFiles.table()));
        return files;
    }

    /** Returns the dashboards by the names of their files. */
    static Map<String, String> dashboards() {
        return Map.of(
                "taskclock-fleet.json", GSON.toJson(FleetDashboard.create()) + "\n",
                "taskclock-jvm.json", GSON.toJson(JvmDashboard.create()) + "\n");
    }

    /** Returns a file with other content between two lines, or after one. */
    private static String replace(Path file, String begin, String end, String content) throws IOException {
        String text = Files.readString(file);
        int from = text.indexOf(begin) + begin.length();
        int to = end.isEmpty() ? text.length() : text.indexOf(end, from);
        if (from < begin.length() || to < 0) throw new IOException(file + " does not contain: " + begin + end);
        return text.substring(0, from) + content + text.substring(to);
    }
}
