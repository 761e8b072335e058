// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.Locale;
import org.taskclock.monitor.recording.Comparison;

/** Writes comparisons as {@code taskclock diff --json} does, with all lines. */
final class ComparisonJson {
    private static final double PERCENT = 100;

    private ComparisonJson() {}

    static void write(JsonWriter json, Comparison comparison) throws IOException {
        json.beginObject();
        json.name("secondsA").value(comparison.secondsBefore());
        json.name("secondsB").value(comparison.secondsAfter());
        json.name("changes").beginArray();
        for (Comparison.Change change : comparison.changes()) {
            json.beginObject();
            json.name("what").value(change.key().kind().name().toLowerCase(Locale.ROOT));
            json.name("name").value(change.key().name());
            json.name("kind")
                    .value(
                            change.key().threadKind() == null
                                    ? null
                                    : change.key().threadKind().label());
            json.name("cpuPercentA").value(percent(change.before()));
            json.name("cpuPercentB").value(percent(change.after()));
            json.name("userPercentA").value(percent(change.userBefore()));
            json.name("userPercentB").value(percent(change.userAfter()));
            json.name("errorPercent").value(change.isErrorKnown() ? percent(change.error()) : null);
            json.name("changed").value(change.changed());
            json.endObject();
        }
        json.endArray();
        json.endObject();
    }

    private static Double percent(double processors) {
        return Math.round(processors * PERCENT * PERCENT) / PERCENT;
    }
}
