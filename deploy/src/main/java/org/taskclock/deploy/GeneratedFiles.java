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
 * Writes the Grafana dashboards into a directory. The committed files are compared with these, so run it after each
 * change: {@code mvn -q -pl deploy -am process-classes -Pdashboards}.
 *
 * <p>Grafana's own library for this is not published for Maven. The JSON of these dashboards is simple enough to write,
 * and it is checked against the types that Grafana publishes, see grafana/schema.
 */
public final class Dashboards {
    private static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .setPrettyPrinting()
            .disableHtmlEscaping()
            .create();

    private Dashboards() {}

    public static void main(String... args) throws IOException {
        for (Map.Entry<String, String> file : files().entrySet())
            Files.writeString(Path.of(args[0], file.getKey()), file.getValue());
    }

    /** Returns the content of each file, by name. */
    static Map<String, String> files() {
        Map<String, String> files = new TreeMap<>();
        files.put("taskclock-fleet.json", GSON.toJson(FleetDashboard.create()) + "\n");
        files.put("taskclock-jvm.json", GSON.toJson(JvmDashboard.create()) + "\n");
        return files;
    }
}
