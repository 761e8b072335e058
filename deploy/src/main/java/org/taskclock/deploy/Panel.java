// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;

/** Builds the JSON of a panel. */
final class Panel {
    /** The unit of processors: a number with up to two decimals. */
    static final String PROCESSORS = "none";

    static final String SHARE = "percentunit";
    static final String PER_SECOND = "cps";
    static final String TIME = "dateTimeAsIso";
    static final String SECONDS = "s";
    static final String COUNT = "short";

    private final JsonObject json = new JsonObject();
    private final JsonObject defaults = new JsonObject();
    private final JsonArray overrides = new JsonArray();
    private final JsonArray targets = new JsonArray();
    private final JsonArray transformations = new JsonArray();
    private final JsonArray links = new JsonArray();

    private Panel(String type, String title, String unit) {
        json.addProperty("type", type);
        json.addProperty("title", title);
        json.add("datasource", Json.datasource());
        defaults.addProperty("unit", unit);
        if (unit.equals(PROCESSORS)) defaults.addProperty("decimals", 2);
    }

    /** Returns a panel with lines. */
    static Panel lines(String title, String unit) {
        return timeSeries(title, unit, 10, "none");
    }

    /** Returns a panel with areas, which add up. */
    static Panel stacked(String title, String unit) {
        return timeSeries(title, unit, 60, "normal");
    }

    private static Panel timeSeries(String title, String unit, int fill, String stacking) {
        Panel panel = new Panel("timeseries", title, unit);
        panel.defaults.addProperty("min", 0);
        panel.defaults.add(
                "custom",
                Json.object(
                        "drawStyle",
                        "line",
                        "lineWidth",
                        1,
                        "fillOpacity",
                        fill,
                        "showPoints",
                        "never",
                        "stacking",
                        Json.object("mode", stacking, "group", "A")));
        JsonObject legend = Json.object("displayMode", "list", "placement", "bottom", "showLegend", true);
        legend.add("calcs", new JsonArray());
        panel.json.add(
                "options", Json.object("legend", legend, "tooltip", Json.object("mode", "multi", "sort", "desc")));
        return panel;
    }

    /** Returns a panel with one number. */
    static Panel stat(String title, String unit) {
        Panel panel = new Panel("stat", title, unit);
        panel.json.add(
                "options",
                Json.object(
                        "reduceOptions",
                        Json.object("calcs", Json.array("lastNotNull"), "values", false),
                        "orientation",
                        "auto",
                        "colorMode",
                        "value",
                        "graphMode",
                        "area",
                        "justifyMode",
                        "auto",
                        "textMode",
                        "auto",
                        "percentChangeColorMode",
                        "standard",
                        "showPercentChange",
                        false,
                        "wideLayout",
                        true));
        return panel;
    }

    /** Returns a panel with a bar for each series. */
    static Panel bars(String title, String unit) {
        Panel panel = new Panel("bargauge", title, unit);
        panel.defaults.addProperty("min", 0);
        JsonObject legend = Json.object("displayMode", "list", "placement", "bottom", "showLegend", false);
        legend.add("calcs", new JsonArray());
        panel.json.add(
                "options",
                Json.object(
                        "reduceOptions",
                        Json.object("calcs", Json.array("lastNotNull"), "values", false),
                        "orientation",
                        "horizontal",
                        "displayMode",
                        "basic",
                        "valueMode",
                        "text",
                        "namePlacement",
                        "left",
                        "showUnfilled",
                        false,
                        "sizing",
                        "auto",
                        "minVizWidth",
                        8,
                        "minVizHeight",
                        16,
                        "maxVizHeight",
                        24,
                        "legend",
                        legend));
        return panel;
    }

    /** Returns a table in which each query is a column. */
    static Panel table(String title, String unit) {
        Panel panel = new Panel("table", title, unit);
        panel.json.add("options", Json.object("frameIndex", 0, "showHeader", true, "cellHeight", "sm"));
        return panel;
    }

    Panel description(String text) {
        json.addProperty("description", text);
        return this;
    }

    /** Colors the value from a threshold on. */
    Panel threshold(double value, String color) {
        JsonObject base = Json.object("color", "green");
        base.add("value", JsonNull.INSTANCE);
        JsonArray steps = Json.array(base, Json.object("color", color, "value", value));
        defaults.add("thresholds", Json.object("mode", "absolute", "steps", steps));
        return this;
    }

    /** Adds a link to the panel's title. */
    Panel link(String title, String url) {
        links.add(Json.link(title, "external link", url, false, true));
        return this;
    }

    /** Adds a query over the time range of the dashboard. */
    Panel query(String expr, String legend) {
        targets.add(Json.object(
                "refId",
                nextId(),
                "datasource",
                Json.datasource(),
                "editorMode",
                "code",
                "range",
                true,
                "expr",
                expr,
                "legendFormat",
                legend));
        return this;
    }

    /** Adds a query of the values at the end of the time range. */
    Panel last(String expr, String legend) {
        query(expr, legend);
        JsonObject target = targets.get(targets.size() - 1).getAsJsonObject();
        target.addProperty("range", false);
        target.addProperty("instant", true);
        return this;
    }

    /** Adds a query that is a column of a table. */
    Panel column(String expr, String title, String unit) {
        String id = nextId();
        targets.add(Json.object(
                "refId",
                id,
                "datasource",
                Json.datasource(),
                "editorMode",
                "code",
                "instant",
                true,
                "range",
                false,
                "format",
                "table",
                "expr",
                expr));
        JsonArray properties =
                Json.array(Json.object("id", "displayName", "value", title), Json.object("id", "unit", "value", unit));
        overrides.add(Json.object(
                "matcher", Json.object("id", "byName", "options", "Value #" + id), "properties", properties));
        return this;
    }

    /** Renames a column with the values of a label, which links to {@code url} unless it is empty. */
    Panel label(String label, String title, String url) {
        JsonArray properties = Json.array(Json.object("id", "displayName", "value", title));
        if (!url.isEmpty()) {
            JsonObject link = Json.object("title", title, "url", url);
            properties.add(Json.object("id", "links", "value", Json.array(link)));
        }
        overrides.add(Json.object("matcher", Json.object("id", "byName", "options", label), "properties", properties));
        return this;
    }

    /** Joins the columns of a table, hides the time and other columns, and sorts by a column. */
    Panel sortedBy(String title, String... hidden) {
        JsonObject excluded = Json.object("Time", true);
        for (String column : hidden) excluded.addProperty(column, true);
        transformations.add(Json.object("id", "merge", "options", new JsonObject()));
        transformations.add(Json.object("id", "organize", "options", Json.object("excludeByName", excluded)));
        JsonArray sort = Json.array(Json.object("displayName", title, "desc", true));
        json.getAsJsonObject("options").add("sortBy", sort);
        return this;
    }

    private String nextId() {
        return String.valueOf((char) ('A' + targets.size()));
    }

    JsonObject json() {
        json.add("fieldConfig", Json.object("defaults", defaults, "overrides", overrides));
        json.add("targets", targets);
        if (!links.isEmpty()) json.add("links", links);
        if (!transformations.isEmpty()) json.add("transformations", transformations);
        return json;
    }
}
