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
 */
public record Finding(FindingKind kind, int tid, String text, List<String> evidence) {
    /** Returns the name of the thread or pool that it is about; empty if it is about the JVM. */
    public String subject() {
        int quote = text.indexOf('"');
        return quote < 0 ? "" : text.substring(quote + 1, text.lastIndexOf('"'));
    }
}
