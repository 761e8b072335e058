// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

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
    /**
     * Returns the thread's Java id.
     *
     * @return the id; -1 if it cannot be known: before JDK 19, if the thread's class overrides getId
     */
    public long threadId() {
        return JavaThreadId.of(thread);
    }
}
