// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.webhook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.finding.DatedFinding;

/** Notices which findings begin and end. Confined to one thread. */
final class FindingAlerts {
    /**
     * A finding that is missing for this long has ended. If it returns earlier, it keeps the time at which it began, so
     * it is not reported again.
     */
    static final Duration ENDED = Duration.ofMinutes(1);

    private record Known(FindingAlert alert, Instant lastSeen) {}

    private final Map<String, Known> known = new LinkedHashMap<>();

    /**
     * Adds the findings of this moment.
     *
     * @param running the JVMs that have not ended, with their findings
     * @return the findings that have begun or ended
     */
    List<FindingAlert> update(Map<JvmKey, List<DatedFinding>> running, Instant now) {
        List<FindingAlert> changed = new ArrayList<>();
        Set<String> jvms = new HashSet<>();
        running.forEach((jvm, findings) -> {
            jvms.add(jvm.id());
            for (DatedFinding finding : findings) {
                String key = FindingAlert.key(jvm, finding.finding());
                Known before = known.get(key);
                FindingAlert alert = before == null ? new FindingAlert(jvm, finding) : before.alert;
                if (before == null) changed.add(alert);
                known.put(key, new Known(alert, now));
            }
        });
        for (Iterator<Known> all = known.values().iterator(); all.hasNext(); ) {
            Known each = all.next();
            FindingAlert alert = each.alert;
            boolean hasEnded = !jvms.contains(alert.jvm().id())
                    || Duration.between(each.lastSeen, now).compareTo(ENDED) > 0;
            if (!hasEnded) continue;
            changed.add(alert.ended(each.lastSeen, true));
            all.remove();
        }
        return changed;
    }

    /**
     * Returns the findings that have not ended, as if they had when last seen: their receivers have no time limit, so
     * they would otherwise show them until somebody deletes them.
     */
    List<FindingAlert> stop() {
        return known.values().stream()
                .map(each -> each.alert.ended(each.lastSeen, false))
                .toList();
    }
}
