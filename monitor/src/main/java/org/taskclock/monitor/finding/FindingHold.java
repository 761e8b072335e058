// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps findings for a short time after they were last found. On a machine without idle processors, a thread gets too
 * little CPU time in some intervals to be recognized.
 */
public final class FindingHold {
    /** At most as many intervals as those in which it was found. */
    private static final int MAX_ABSENT = 3;

    private static final class Held {
        final Instant since;
        Finding latest;
        int found;
        int absent;

        Held(Instant since) {
            this.since = since;
        }

        Finding at(Instant end) {
            List<String> evidence = new ArrayList<>(latest.evidence());
            long seconds = Math.round(Duration.between(since, end).toMillis() / 1e3);
            if (found > 1)
                evidence.add("found in " + found + " intervals over " + seconds + " s"
                        + (absent == 0 ? "" : ", but not in the last " + (absent == 1 ? "one" : absent)));
            return new Finding(latest.kind(), latest.tid(), latest.text(), evidence, latest.earlierNanos());
        }
    }

    /** Returns whether the thread has another finding now, which says the same more precisely. */
    private static boolean isExplained(Held held, List<Finding> findings) {
        FindingKind kind = held.latest.kind();
        return held.absent > 0
                && findings.stream()
                        .anyMatch(other -> other.tid() == held.latest.tid()
                                && (kind.mayBe(other.kind()) || other.kind().mayBe(kind)));
    }

    private final Map<String, Held> all = new LinkedHashMap<>();

    /** Returns the findings of the next interval and those that are kept, the most severe first. */
    public List<Finding> add(List<Finding> findings, Instant end, long intervalNanos) {
        for (Held held : all.values()) held.absent++;
        for (Finding finding : findings) {
            String key = finding.kind() + " " + finding.tid() + " " + finding.subject();
            Held held = all.computeIfAbsent(key, k -> new Held(end.minusNanos(intervalNanos)));
            held.latest = finding;
            held.found++;
            held.absent = 0;
        }
        all.values()
                .removeIf(held -> held.absent > MAX_ABSENT || held.absent >= held.found || isExplained(held, findings));
        return all.values().stream()
                .filter(held -> !held.latest.kind().mustLast()
                        || !held.since
                                .plusSeconds(held.latest.kind().minIntervals())
                                .isAfter(end))
                .map(held -> held.at(end))
                .sorted(Comparator.comparing(Finding::kind, FindingKinds.BY_SEVERITY))
                .toList();
    }
}
