// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.fleet;

import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The findings of a range, the latest first, and those that still exist before the others. */
final class FleetFindings {
    private record Finding(Answer.Series series, boolean isActive) {}

    private final List<Finding> findings = new ArrayList<>();
    private final List<Answer> answers;
    private final HostUrl hostUrl;

    /** Takes those of now, and those of the range, which are the same unless they ended. */
    FleetFindings(Answer now, Answer inRange, HostUrl hostUrl) {
        this.hostUrl = hostUrl;
        answers = List.of(now, inRange);
        Set<Map<String, String>> active = new HashSet<>();
        for (Answer.Series series : now.series()) {
            active.add(identity(series));
            findings.add(new Finding(series, true));
        }
        for (Answer.Series series : inRange.series())
            if (!active.contains(identity(series))) findings.add(new Finding(series, false));
        findings.sort(Comparator.comparing(Finding::isActive)
                .thenComparingDouble(finding -> finding.series.value())
                .reversed());
    }

    /** The answer to a function has no metric name. */
    private static Map<String, String> identity(Answer.Series series) {
        Map<String, String> labels = new java.util.HashMap<>(series.labels());
        labels.remove("__name__");
        return labels;
    }

    void write(JsonWriter json) throws IOException {
        json.beginObject();
        json.name("truncated")
                .value(answers.stream().anyMatch(answer -> answer.series().size() >= FleetQueries.MAX_FINDINGS));
        json.name("findings").beginArray();
        for (Finding finding : findings) {
            json.beginObject();
            json.name("kind").value(finding.series.label("taskclock_finding_kind"));
            // Seconds with a fraction.
            json.name("since").value(Math.round(finding.series.value() * 1_000));
            json.name("active").value(finding.isActive);
            UsageRows.writeLabels(json, finding.series.labels());
            json.name("url").value(hostUrl.of(finding.series.labels().get("instance")));
            json.endObject();
        }
        json.endArray();
        Answer.writeWarnings(json, answers);
        json.endObject();
    }
}
