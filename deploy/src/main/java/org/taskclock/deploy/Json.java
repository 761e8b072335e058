// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.deploy;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;

/** Short forms for JSON. */
final class Json {
    private Json() {}

    /** Returns an object with the given names and values, which alternate. */
    static JsonObject object(Object... namesAndValues) {
        JsonObject object = new JsonObject();
        for (int i = 0; i < namesAndValues.length; i += 2)
            object.add((String) namesAndValues[i], element(namesAndValues[i + 1]));
        return object;
    }

    static JsonArray array(Object... values) {
        JsonArray array = new JsonArray();
        for (Object value : values) array.add(element(value));
        return array;
    }

    /** Returns a link of a dashboard or a panel. */
    static JsonObject link(String title, String icon, String url, boolean keepsTime, boolean opensTab) {
        JsonObject link = object("title", title, "type", "link", "url", url, "icon", icon, "tooltip", "");
        link.add("tags", new JsonArray());
        link.addProperty("asDropdown", false);
        link.addProperty("includeVars", false);
        link.addProperty("keepTime", keepsTime);
        link.addProperty("targetBlank", opensTab);
        return link;
    }

    /** Returns the data source that is chosen in the dashboard. */
    static JsonObject datasource() {
        return object("type", "prometheus", "uid", "${datasource}");
    }

    private static JsonElement element(Object value) {
        if (value instanceof JsonElement element) return element;
        if (value instanceof Number number) return new JsonPrimitive(number);
        if (value instanceof Boolean flag) return new JsonPrimitive(flag);
        return new JsonPrimitive((String) value);
    }
}
