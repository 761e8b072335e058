// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.IOException;

/** Thrown if a process cannot be monitored or has exited. The message gives the reason and, if possible, a remedy. */
public final class MonitorException extends IOException {
    private static final long serialVersionUID = 1;

    public enum Reason {
        /** There is no such process, or it has exited. */
        GONE,
        /** The kernel denies access. */
        NOT_PERMITTED,
        /** The process is not a JVM. */
        NOT_A_JVM,
        /** Any other reason. */
        FAILED
    }

    private final Reason reason;

    public MonitorException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
