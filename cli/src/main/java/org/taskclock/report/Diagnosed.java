// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Frame;

/** What was wrong, and when: the same in frames that follow each other is one time. */
final class Diagnosed {
    private static final DateTimeFormatter CLOCK =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final int TIMES_LISTED = 10;
    private static final int KEPT = 500;

    private static final class Case {
        Diagnosis last;
        long frames;
        long times;
        Instant until;
        final List<Instant[]> listed = new ArrayList<>();
    }

    private final Map<String, Case> cases = new LinkedHashMap<>();

    void add(Frame frame) {
        Instant begin = frame.end().minusNanos(frame.intervalNanos());
        for (Diagnosis diagnosis : frame.diagnoses()) {
            String key = diagnosis.kind() + " " + diagnosis.tid();
            if (cases.size() >= KEPT && !cases.containsKey(key)) continue;
            Case one = cases.computeIfAbsent(key, k -> new Case());
            one.last = diagnosis;
            one.frames++;
            // The clock and the interval are not of one source, and a frame may come late.
            boolean goesOn = one.until != null && !begin.isAfter(one.until.plusNanos(frame.intervalNanos() / 2));
            if (!goesOn) {
                one.times++;
                if (one.listed.size() < TIMES_LISTED) one.listed.add(new Instant[] {begin, frame.end()});
            } else if (one.times == one.listed.size()) {
                one.listed.get(one.listed.size() - 1)[1] = frame.end();
            }
            one.until = frame.end();
        }
    }

    /** Those of the most frames first. */
    List<Result.Finding> findings(long frames) {
        return cases.values().stream()
                .sorted(Comparator.comparingLong((Case one) -> -one.frames))
                .map(one -> finding(one, frames))
                .toList();
    }

    private static Result.Finding finding(Case one, long frames) {
        List<String> times = new ArrayList<>();
        for (Instant[] range : one.listed) times.add(CLOCK.format(range[0]) + " to " + CLOCK.format(range[1]));
        if (one.times > times.size()) times.add((one.times - times.size()) + " more times");
        String when = String.join(", ", times) + " UTC, in " + one.frames + " of " + frames + " frames";
        String evidence = one.last.evidence() == null ? "" : String.join("\n", one.last.evidence());
        return new Result.Finding(one.last.text(), when, one.last.kind(), evidence);
    }
}
