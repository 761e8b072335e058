// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * A problem found in an interval.
 *
 * @param tid the thread's id, as in {@link ThreadUsage#tid}; 0 if the problem is not that of a single thread
 * @param text one sentence
 * @param evidence the observations behind it, one per element
 * @param earlierNanos how long before the interval it began; 0 if it began in it
 */
public record Finding(FindingKind kind, int tid, String text, List<String> evidence, long earlierNanos) {
    public Finding(FindingKind kind, int tid, String text, List<String> evidence) {
        this(kind, tid, text, evidence, 0);
    }

    /** Returns this finding, if it took some time to be found in the last interval. */
    Finding lasting(long nanos, long intervalNanos) {
        return new Finding(kind, tid, text, evidence, Math.max(0, nanos - intervalNanos));
    }

    /** Returns the name of the thread or pool that it is about; empty if it is about the JVM. */
    public String subject() {
        int quote = text.indexOf('"');
        return quote < 0 ? "" : text.substring(quote + 1, text.lastIndexOf('"'));
    }
}
