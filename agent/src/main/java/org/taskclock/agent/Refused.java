// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

/** A part of the agent cannot be installed here; the message says why. What it had changed is as before. */
final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    Refused(String reason) {
        super(reason);
    }

    Refused(String reason, Throwable cause) {
        super(reason, cause);
    }

    /** Refuses, if there is a reason to. */
    static void unlessNull(String reason) throws Refused {
        if (reason != null) throw new Refused(reason);
    }
}
