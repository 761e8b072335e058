// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.List;
import org.taskclock.monitor.finding.DatedFinding;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.usage.Json;

/** Findings as the page reads them. */
final class FindingJson {
    private FindingJson() {}

    static void write(JsonWriter json, List<DatedFinding> findings) throws IOException {
        json.beginArray();
        for (DatedFinding finding : findings) write(json, finding);
        json.endArray();
    }

    private static void write(JsonWriter json, DatedFinding dated) throws IOException {
        Finding finding = dated.finding();
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
        json.name("since").value(Json.millis(dated.since()));
        json.endObject();
    }
}
