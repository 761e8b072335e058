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

    /** How often findings that last are reported again, so that receivers notice if this server has crashed. */
    static final Duration RENEWED = Duration.ofMinutes(15);

    /** Some of the messages may be late. */
    static final Duration EXPIRES = RENEWED.multipliedBy(3);

    private record Known(FindingAlert alert, Instant lastSeen) {}

    private final Map<String, Known> known = new LinkedHashMap<>();
    private Instant lastRenewal = Instant.EPOCH;

    /** Returns the findings that last, if it is time to report them again. */
    List<FindingAlert> renew(Instant now) {
        if (Duration.between(lastRenewal, now).compareTo(RENEWED) < 0) return List.of();
        lastRenewal = now;
        known.replaceAll((key, each) -> new Known(firing(each.alert.jvm(), each.alert.dated(), now), each.lastSeen));
        return known.values().stream().map(Known::alert).toList();
    }

    private static FindingAlert firing(JvmKey jvm, DatedFinding finding, Instant now) {
        return new FindingAlert(jvm, finding, FindingAlert.State.FIRING, now.plus(EXPIRES));
    }

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
                FindingAlert alert = before == null ? firing(jvm, finding, now) : before.alert;
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
            changed.add(alert.with(FindingAlert.State.ENDED, each.lastSeen));
            all.remove();
        }
        return changed;
    }

    /**
     * Returns the findings that have not ended, as if they had when last seen: receivers without a time limit would
     * otherwise show them until somebody deletes them.
     */
    List<FindingAlert> stop() {
        return known.values().stream()
                .map(each -> each.alert.with(FindingAlert.State.UNWATCHED, each.lastSeen))
                .toList();
    }
}
