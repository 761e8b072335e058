// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import org.taskclock.PoolName;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.usage.Json;

/**
 * A persistent problem of a JVM.
 *
 * @param since when it began
 */
record DatedFinding(Finding finding, Instant since) {
    /** Identifies the problem across intervals, in which the figures in its text change. */
    static String key(Finding finding) {
        return finding.kind() + " " + finding.subject();
    }

    /**
     * Returns whether one problem may be a more precise version of another: stack samples distinguish threads that
     * yield from those that are merely busy in the kernel, and show which threads of a pool are affected.
     */
    static boolean isSame(Finding one, Finding other) {
        if (!one.kind().mayBe(other.kind()) && !other.kind().mayBe(one.kind())) return false;
        String subject = one.subject();
        String otherSubject = other.subject();
        return subject.equals(otherSubject)
                || PoolName.of(subject).equals(otherSubject)
                || PoolName.of(otherSubject).equals(subject);
    }

    static void write(JsonWriter json, List<DatedFinding> findings) throws IOException {
        json.beginArray();
        for (DatedFinding finding : findings) finding.write(json);
        json.endArray();
    }

    private void write(JsonWriter json) throws IOException {
        FindingKind kind = finding.kind();
        json.beginObject();
        json.name("kind").value(kind.id());
        json.name("text").value(finding.text());
        json.name("tid").value(finding.tid());
        json.name("meaning").value(kind.meaning().isEmpty() ? null : kind.meaning());
        json.name("advice").value(kind.action().isEmpty() ? null : kind.action());
        json.name("threads")
                .value(kind.threads() == null ? null : kind.threads().label());
        json.name("needsDumps").value(kind.source() == FindingKind.Source.DUMPS);
        json.name("evidence").beginArray();
        for (String line : finding.evidence()) json.value(line);
        json.endArray();
        json.name("since").value(Json.millis(since));
        json.endObject();
    }
}
