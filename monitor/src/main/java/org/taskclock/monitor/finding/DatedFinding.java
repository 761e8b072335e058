// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.time.Instant;
import org.taskclock.PoolName;

/**
 * A persistent problem of a JVM.
 *
 * @param since when it began
 */
public record DatedFinding(Finding finding, Instant since) {
    /** Identifies the problem across intervals, in which the figures in its text change. */
    public static String key(Finding finding) {
        return finding.kind() + " " + finding.subject();
    }

    /**
     * Returns whether one problem may be a more precise version of another: stack samples distinguish threads that
     * yield from those that are merely busy in the kernel, and show which threads of a pool are affected.
     */
    static boolean isSame(Finding one, Finding other) {
        if (!one.kind().mayBe(other.kind()) && !other.kind().mayBe(one.kind())) return false;
        String subject = one.subject();
        String otherSubject = other.subject();
        return subject.equals(otherSubject)
                || PoolName.of(subject).equals(otherSubject)
                || PoolName.of(otherSubject).equals(subject);
    }
}
