// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** All runs of {@code yield}. On a machine with one processor, "several" threads means one. */
final class YieldRuns {
    private final List<YieldRun> all = new ArrayList<>();

    void add(YieldRun run) {
        all.add(run);
    }

    List<YieldRun> all() {
        return all;
    }

    Set<String> jdks() {
        Set<String> jdks = new LinkedHashSet<>();
        for (YieldRun run : all) jdks.add(run.jdk());
        return jdks;
    }

    List<YieldRun> complete(YieldRun.Mode mode) {
        return all.stream()
                .filter(run -> run.mode() == mode && run.isComplete())
                .toList();
    }

    /** Returns a complete run, or null if there is none. */
    YieldRun find(String jdk, YieldRun.Mode mode, boolean virtual, boolean several, boolean yielding, int carriers) {
        YieldRun found = null;
        for (YieldRun run : complete(mode)) {
            boolean same = run.jdk().equals(jdk)
                    && run.virtual() == virtual
                    && run.yielding() == yielding
                    && run.carriers() == carriers;
            // The first run has one thread, the last one several.
            if (same && (several || found == null)) found = run;
        }
        return found;
    }

    YieldRun plain(String jdk, boolean virtual, boolean several, boolean yielding) {
        return find(jdk, YieldRun.Mode.PLAIN, virtual, several, yielding, 0);
    }

    /** Returns how many times slower a run is than the same threads without yielding; NaN if unknown. */
    double slowdown(YieldRun run) {
        return 1 / speedup(run, false);
    }

    /** Returns how many times faster a run is than the same threads, yielding or not; NaN if unknown. */
    double speedup(YieldRun run, boolean yielding) {
        YieldRun other = plain(run.jdk(), run.virtual(), run.threads() > 1, yielding);
        return other == null ? Double.NaN : run.perSecond() / other.perSecond();
    }
}
