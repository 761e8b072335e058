// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.taskclock.monitor.Diagnosis;
import org.taskclock.monitor.FindingKind;

/**
 * A problem of a JVM that lasts.
 *
 * @param since when it began
 */
record Finding(Diagnosis diagnosis, Instant since) {
    /** Identifies the problem in different intervals. The figures in its text differ. */
    static String key(Diagnosis diagnosis) {
        String text = diagnosis.text();
        int quote = text.indexOf('"');
        String subject = quote < 0 ? "" : text.substring(quote, text.lastIndexOf('"') + 1);
        return diagnosis.kind() + " " + subject;
    }

    static void write(JsonWriter json, List<Finding> findings) throws IOException {
        json.beginArray();
        for (Finding finding : findings) finding.write(json);
        json.endArray();
    }

    private void write(JsonWriter json) throws IOException {
        FindingKind kind = FindingKind.of(diagnosis).orElse(null);
        json.beginObject();
        json.name("kind").value(diagnosis.kind());
        json.name("text").value(diagnosis.text());
        json.name("tid").value(diagnosis.tid());
        json.name("meaning").value(kind == null ? null : kind.meaning());
        json.name("advice").value(kind == null ? null : kind.action());
        json.name("evidence").beginArray();
        for (String line : diagnosis.evidence()) json.value(line);
        json.endArray();
        json.name("since").value(Json.millis(since));
        json.endObject();
    }
}
