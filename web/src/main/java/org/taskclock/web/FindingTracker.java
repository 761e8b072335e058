// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.monitor.finding.Diagnosis;
import org.taskclock.monitor.finding.FindingKind;

/**
 * Tracks the findings of a JVM across intervals. A finding in a single interval may be chance, and a finding that is
 * missing from a single interval may not have ended. Confined to one thread at a time.
 */
final class FindingTracker {
    /** The number of intervals in which a problem must be found before it is reported. */
    private static final int MIN_INTERVALS = 3;

    /** The same for compilation, which uses much CPU time in every JVM that has just started. */
    private static final int MIN_JIT_INTERVALS = 60;

    /** The number of intervals without the problem after which it counts as ended. */
    private static final int MAX_ABSENT = 5;

    /**
     * The number of intervals without a problem during which its start is remembered. If it returns in this time, it
     * may be the same problem: on a machine without idle processors, a thread may get too little CPU time to be
     * recognized for a while.
     */
    private static final int MAX_GAP = 60;

    private static final class Tracked {
        private final Instant since;
        private Diagnosis latest;
        private int found;
        private int absent;
        private boolean wasConfirmed;

        Tracked(Instant since) {
            this.since = since;
        }

        boolean counts() {
            return found >= minimum(latest);
        }
    }

    private final Map<String, Tracked> tracked = new LinkedHashMap<>();

    private static int minimum(Diagnosis diagnosis) {
        return diagnosis.kind().equals(FindingKind.JIT.id()) ? MIN_JIT_INTERVALS : MIN_INTERVALS;
    }

    /**
     * Adds the findings of an interval.
     *
     * @return the findings that are newly reported, excluding those that have returned
     */
    List<Finding> add(List<Diagnosis> diagnoses, Instant start) {
        List<Finding> confirmed = new ArrayList<>();
        for (Tracked known : tracked.values()) known.absent++;
        for (Diagnosis diagnosis : diagnoses) {
            Tracked known = tracked.get(Finding.key(diagnosis));
            if (known == null) {
                known = new Tracked(begin(diagnosis, start));
                tracked.put(Finding.key(diagnosis), known);
            }
            known.latest = diagnosis;
            known.absent = 0;
            known.found++;
            if (known.counts() && !known.wasConfirmed) {
                known.wasConfirmed = true;
                confirmed.add(new Finding(diagnosis, known.since));
            }
        }
        for (Iterator<Tracked> all = tracked.values().iterator(); all.hasNext(); ) {
            Tracked known = all.next();
            if (known.absent <= (known.counts() ? MAX_ABSENT : 1)) continue;
            known.found = 0;
            if (!known.wasConfirmed || known.absent > MAX_GAP) all.remove();
        }
        return confirmed;
    }

    /** Returns when a new problem began: when the known problem began that it turns out to be, or now. */
    private Instant begin(Diagnosis diagnosis, Instant now) {
        for (Tracked known : tracked.values())
            if (known.wasConfirmed && Finding.isSame(known.latest, diagnosis)) return known.since;
        return now;
    }

    /** Returns the current problems. */
    List<Finding> current() {
        List<Finding> current = new ArrayList<>();
        for (Tracked known : tracked.values()) if (known.counts()) current.add(new Finding(known.latest, known.since));
        return current;
    }

    /** Returns when a problem began; null if it is not known. */
    Instant since(Diagnosis diagnosis) {
        Tracked known = tracked.get(Finding.key(diagnosis));
        return known == null ? null : known.since;
    }
}
