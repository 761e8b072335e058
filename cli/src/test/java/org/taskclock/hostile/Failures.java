// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What failed in a run. */
final class Failures {
    private static final int MAX_PER_CHECK = 20;

    private final Map<Check, List<String>> messages = new EnumMap<>(Check.class);

    /** Adds a message, unless it is there or there are many of that kind. */
    void add(Check check, String message) {
        List<String> all = messages.computeIfAbsent(check, key -> new ArrayList<>());
        if (all.size() < MAX_PER_CHECK && !all.contains(message)) all.add(message);
    }

    /** Adds what failed when a server was asked, and empties the list. */
    void take(Check check, Watcher watcher) {
        watcher.failures.forEach(failure -> add(check, failure));
        watcher.failures.clear();
    }

    Map<Check, List<String>> all() {
        return messages;
    }
}
