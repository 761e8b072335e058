// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** Receives the sections of named accounts as they are closed; see {@link AccountType#listen}. */
@FunctionalInterface
public interface SectionListener {
    /**
     * Called on the section's thread after the section was closed. An exception reaches the code that closes it.
     *
     * @param account the name of the account
     * @param cpuNanos the CPU time of the section in nanoseconds, without other sections of the same type inside it
     */
    void closed(String account, long cpuNanos);
}
