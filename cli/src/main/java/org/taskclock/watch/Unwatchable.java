// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;

/** A process cannot be watched, or no more. The message says why, and what can be done. */
public final class Unwatchable extends IOException {
    private static final long serialVersionUID = 1;

    public enum Reason {
        /** There is no such process, or no more. */
        GONE,
        /** The kernel forbids it. */
        NOT_PERMITTED,
        /** It is no JVM. */
        NO_JVM
    }

    private final Reason reason;

    Unwatchable(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
