// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Comparator;
import java.util.List;

/**
 * A section that is open now.
 *
 * @param type the name of the account's type
 * @param name the name of the account that the thread's CPU time counts for: that of the innermost section of the type
 * @param thread the thread
 * @param openNanos for how long at least the thread has had a section open, in nanoseconds: the time since a reading
 *     first found it open
 * @param cpuNanos the CPU time of the innermost section so far, in nanoseconds
 */
public record OpenSection(String type, String name, Thread thread, long openNanos, long cpuNanos) {
    private static final int MAX_OPEN_SECTIONS = 100;

    static List<OpenSection> longestFirst(List<OpenSection> open) {
        return open.stream()
                .sorted(Comparator.comparingLong(OpenSection::openNanos)
                        .thenComparing(OpenSection::cpuNanos)
                        .reversed())
                .limit(MAX_OPEN_SECTIONS)
                .toList();
    }

    /**
     * Returns the thread's Java id.
     *
     * @return the id; -1 if it cannot be known: before JDK 19, if the thread's class overrides getId
     */
    public long threadId() {
        return JavaThreadId.of(thread);
    }
}
