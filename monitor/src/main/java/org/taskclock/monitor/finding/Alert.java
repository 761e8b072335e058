// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.Locale;

/**
 * An alert that Prometheus raises.
 *
 * @param minutes how long the condition must last
 * @param condition in PromQL; its lines are kept
 * @param summary a template
 * @param comment empty if none
 */
public record Alert(String name, int minutes, Severity severity, String condition, String summary, String comment) {
    public enum Severity {
        INFO,
        WARNING
    }

    /** The start of a summary: which JVM. The labels are missing where metrics come from inside a program. */
    static final String JVM = "{{ or $labels.jvm $labels.job }} on {{ $labels.instance }}: ";

    /** The same, and which of its pools. */
    static final String POOL = JVM + "pool \"{{ $labels.taskclock_pool_name }}\" ";

    private static final int FINDING_MINUTES = 5;

    /**
     * Returns the alert for a finding of serve, which looks at JVMs in turn, so that one that lasts is not there in
     * each scrape. The range is shorter than the time it must last, so that it must be seen more than once.
     */
    static Alert ofFinding(FindingKind kind) {
        StringBuilder name = new StringBuilder("TaskClock");
        for (String word : kind.id().split("-", -1))
            name.append(word.substring(0, 1).toUpperCase(Locale.ROOT)).append(word.substring(1));
        return new Alert(
                name.toString(),
                FINDING_MINUTES,
                Severity.WARNING,
                "max_over_time(taskclock_finding{taskclock_finding_kind=\"" + kind.id() + "\"}[" + (FINDING_MINUTES - 1)
                        + "m]) == 1",
                JVM + "finding " + kind.id() + "; the page of taskclock serve explains it, and says since when",
                "");
    }
}
