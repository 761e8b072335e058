// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.JvmUsage.FindingStatus;

/**
 * Tracks the findings of a JVM across intervals. A finding in a single interval may be chance, and a finding that is
 * missing from a single interval may not have ended. Confined to one thread at a time.
 */
public final class FindingTracker {
    /** The number of intervals without the problem after which it counts as ended, and that of a lasting problem. */
    private static final int MIN_ABSENT = 5;

    private static final int MAX_ABSENT = 15;

    /**
     * The number of intervals without a problem during which its start is remembered. If it returns in this time, it
     * may be the same problem: on a machine without idle processors, a thread may get too little CPU time to be
     * recognized for a while.
     */
    private static final int MAX_GAP = 60;

    private static final class Tracked {
        private final Instant since;
        private Finding latest;
        private int found;
        private int absent;
        private boolean wasConfirmed;

        Tracked(Instant since) {
            this.since = since;
        }

        /** A problem that has lasted is kept for longer: on a full machine, it is not recognized all the time. */
        int maxAbsent() {
            return counts() ? Math.max(MIN_ABSENT, Math.min(MAX_ABSENT, found)) : 1;
        }

        boolean counts() {
            return found >= latest.kind().minIntervals();
        }
    }

    private final Map<String, Tracked> tracked = new LinkedHashMap<>();

    /** When each kind began that was ever reported, the last time. */
    private final Map<FindingKind, Instant> kinds = new LinkedHashMap<>();

    /**
     * Adds the findings of an interval.
     *
     * @return the findings that are newly reported, excluding those that have returned
     */
    public List<DatedFinding> add(List<Finding> findings, Instant start) {
        List<DatedFinding> confirmed = new ArrayList<>();
        for (Tracked known : tracked.values()) known.absent++;
        for (Finding finding : findings) {
            Tracked known = tracked.get(DatedFinding.key(finding));
            if (known == null) {
                known = new Tracked(begin(finding, start));
                tracked.put(DatedFinding.key(finding), known);
            }
            known.latest = finding;
            known.absent = 0;
            known.found++;
            if (known.counts() && !known.wasConfirmed) {
                known.wasConfirmed = true;
                confirmed.add(new DatedFinding(finding, known.since));
            }
        }
        for (Iterator<Tracked> all = tracked.values().iterator(); all.hasNext(); ) {
            Tracked known = all.next();
            if (known.absent <= known.maxAbsent()) continue;
            known.found = 0;
            if (!known.wasConfirmed || known.absent > MAX_GAP) all.remove();
        }
        return confirmed;
    }

    /** Returns when a new problem began: when the known problem began that it turns out to be, or what it says. */
    private Instant begin(Finding finding, Instant now) {
        for (Tracked known : tracked.values())
            if (known.wasConfirmed && DatedFinding.isSame(known.latest, finding)) return known.since;
        return now.minusNanos(finding.earlierNanos());
    }

    /** Returns the current problems. */
    public List<DatedFinding> current() {
        List<DatedFinding> current = new ArrayList<>();
        for (Tracked known : tracked.values())
            if (known.counts()) current.add(new DatedFinding(known.latest, known.since));
        return current;
    }

    /** Returns the kinds of all problems that were ever reported. Their number is limited, unlike that of problems. */
    public List<FindingStatus> kinds() {
        Map<FindingKind, Instant> current = new HashMap<>();
        for (DatedFinding each : current())
            current.merge(each.finding().kind(), each.since(), (a, b) -> a.isBefore(b) ? a : b);
        kinds.putAll(current);
        List<FindingStatus> all = new ArrayList<>();
        kinds.forEach((kind, since) ->
                all.add(new FindingStatus(kind.id(), current.containsKey(kind), since.toEpochMilli())));
        return all;
    }

    /** Returns when a problem began that was found in the interval with this start. */
    public Instant since(Finding finding, Instant start) {
        Tracked known = tracked.get(DatedFinding.key(finding));
        return known == null ? begin(finding, start) : known.since;
    }
}
