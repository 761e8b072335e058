// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;

/** Builds the JSON of a Grafana dashboard. Panels are placed from left to right, in rows. */
final class Dashboard {
    /** Of the grid, in Grafana's units. */
    private static final int WIDTH = 24;

    /** Version 39 is that of Grafana 10.4. Later versions read it too. */
    private static final int SCHEMA_VERSION = 39;

    private final JsonObject json = new JsonObject();
    private final JsonArray variables = new JsonArray();
    private final JsonArray panels = new JsonArray();
    private final JsonArray links = new JsonArray();
    private int x;
    private int y;
    private int rowHeight;

    Dashboard(String uid, String title, String description) {
        json.addProperty("uid", uid);
        json.addProperty("title", title);
        json.addProperty("description", description);
        json.add("tags", Json.array("taskclock", "jvm"));
        json.addProperty("schemaVersion", SCHEMA_VERSION);
        json.addProperty("editable", true);
        json.addProperty("graphTooltip", 1); // a shared crosshair
        json.addProperty("refresh", "30s");
        json.addProperty("timezone", "browser");
        json.add("time", Json.object("from", "now-1h", "to", "now"));
        variables.add(Json.object(
                "name", "datasource", "label", "Data source", "type", "datasource", "query", "prometheus", "hide", 0));
    }

    /** Adds a variable with the values of a label. A JVM without the label matches "All". */
    Dashboard variable(String label, String title, String series) {
        JsonObject variable =
                Json.object("name", label, "label", title, "type", "query", "datasource", Json.datasource(), "hide", 0);
        String values = "label_values(" + series + ", " + label + ")";
        variable.add("query", Json.object("query", values, "refId", label));
        variable.addProperty("refresh", 2); // when the time range changes
        variable.addProperty("sort", 7); // naturally
        variable.addProperty("multi", true);
        variable.addProperty("includeAll", true);
        variable.addProperty("allValue", ".*");
        variable.add("current", Json.object("text", "All", "value", "$__all"));
        variables.add(variable);
        return this;
    }

    /** Adds a variable whose text can be edited. */
    Dashboard text(String name, String title, String value) {
        JsonObject variable = Json.object("name", name, "label", title, "type", "textbox", "query", value, "hide", 0);
        variable.add("current", Json.object("text", value, "value", value));
        variables.add(variable);
        return this;
    }

    Dashboard link(String title, String url) {
        links.add(Json.link(title, "dashboard", url, true, false));
        return this;
    }

    Dashboard add(Panel panel, int width, int height) {
        if (x + width > WIDTH) {
            x = 0;
            y += rowHeight;
            rowHeight = 0;
        }
        JsonObject placed = panel.json();
        placed.addProperty("id", panels.size() + 1);
        placed.add("gridPos", Json.object("x", x, "y", y, "w", width, "h", height));
        panels.add(placed);
        x += width;
        rowHeight = Math.max(rowHeight, height);
        return this;
    }

    JsonObject json() {
        JsonObject templating = new JsonObject();
        templating.add("list", variables);
        json.add("templating", templating);
        json.add("links", links);
        json.add("panels", panels);
        return json;
    }
}
