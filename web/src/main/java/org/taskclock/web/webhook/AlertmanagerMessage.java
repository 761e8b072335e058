// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.taskclock.monitor.usage.Json;

/** Writes messages as Alertmanager does. */
final class AlertmanagerMessage {
    private AlertmanagerMessage() {}

    static byte[] of(FindingGroup group) {
        return Json.bytes(json -> write(json, group));
    }

    private static void write(JsonWriter json, FindingGroup group) throws IOException {
        Map<String, String> groupLabels = new TreeMap<>(FindingAlert.groupLabels(group.jvm()));
        json.beginObject();
        json.name("version").value("4");
        json.name("groupKey").value("{}:" + groupLabels);
        json.name("truncatedAlerts").value(group.omitted());
        json.name("status").value(status(group.isFiring()));
        json.name("receiver").value("taskclock");
        write(json.name("groupLabels"), groupLabels);
        write(json.name("commonLabels"), common(group, true));
        write(json.name("commonAnnotations"), common(group, false));
        json.name("externalURL").value(group.page());
        json.name("alerts").beginArray();
        for (FindingAlert alert : group.alerts()) {
            json.beginObject();
            json.name("status").value(status(alert.isFiring()));
            write(json.name("labels"), alert.labels());
            write(json.name("annotations"), alert.annotations());
            json.name("startsAt").value(alert.start().toString());
            json.name("endsAt").value(alert.end().toString());
            json.name("generatorURL").value(alert.link(group.page()));
            json.name("fingerprint").value(alert.fingerprint());
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    private static String status(boolean isFiring) {
        return isFiring ? "firing" : "resolved";
    }

    /** Returns the labels or annotations that all alerts have. */
    private static Map<String, String> common(FindingGroup group, boolean isLabel) {
        Map<String, String> common = null;
        for (FindingAlert alert : group.alerts()) {
            Map<String, String> values = isLabel ? alert.labels() : alert.annotations();
            if (common == null) common = new TreeMap<>(values);
            else common.entrySet().retainAll(values.entrySet());
        }
        return common == null ? Map.of() : common;
    }

    private static void write(JsonWriter json, Map<String, String> values) throws IOException {
        json.beginObject();
        for (Map.Entry<String, String> value : values.entrySet())
            json.name(value.getKey()).value(value.getValue());
        json.endObject();
    }
}
