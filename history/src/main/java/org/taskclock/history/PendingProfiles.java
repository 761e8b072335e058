// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.util.ArrayList;
import java.util.List;

/** Profiles that wait until the CPU time of their minutes has been written. Thread-safe. */
final class PendingProfiles {
    /** While nothing can be written, the oldest are dropped: each takes up to some hundred kilobytes. */
    static final int MAX_PROFILES = 50;

    private final List<HistoryProfile> profiles = new ArrayList<>();

    synchronized void add(HistoryProfile profile) {
        if (profiles.size() >= MAX_PROFILES) profiles.remove(0);
        profiles.add(profile);
    }

    /** Returns, and removes, the profiles that end before a second. */
    synchronized List<HistoryProfile> take(int second) {
        List<HistoryProfile> taken = profiles.stream()
                .filter(profile -> profile.to().getEpochSecond() <= second)
                .toList();
        profiles.removeAll(taken);
        return taken;
    }
}
