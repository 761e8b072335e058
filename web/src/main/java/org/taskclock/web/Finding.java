// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.finding.Diagnosis;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.usage.Json;

/**
 * A persistent problem of a JVM.
 *
 * @param since when it began
 */
record Finding(Diagnosis diagnosis, Instant since) {
    private static final Set<String> IN_KERNEL = Set.of("yield-storm", "system-heavy");

    /** Identifies the problem across intervals, in which the figures in its text change. */
    static String key(Diagnosis diagnosis) {
        return diagnosis.kind() + " " + subject(diagnosis);
    }

    /** Returns the name of the thread or pool that a problem is about; empty if it is about the JVM. */
    private static String subject(Diagnosis diagnosis) {
        String text = diagnosis.text();
        int quote = text.indexOf('"');
        return quote < 0 ? "" : text.substring(quote + 1, text.lastIndexOf('"'));
    }

    /**
     * Returns whether one problem may be a more precise version of another: stack samples distinguish threads that
     * yield from those that are merely busy in the kernel, and show which threads of a pool are affected.
     */
    static boolean isSame(Diagnosis one, Diagnosis other) {
        if (!IN_KERNEL.contains(one.kind()) || !IN_KERNEL.contains(other.kind())) return false;
        String subject = subject(one);
        String otherSubject = subject(other);
        return subject.equals(otherSubject)
                || ThreadNames.pool(subject).equals(otherSubject)
                || ThreadNames.pool(otherSubject).equals(subject);
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
