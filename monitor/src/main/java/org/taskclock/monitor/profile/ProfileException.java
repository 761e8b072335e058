// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.IOException;

/** Thrown if a JVM cannot be profiled. The message gives the reason and, if possible, a remedy. */
public class ProfileException extends IOException {
    private static final long serialVersionUID = 1;

    ProfileException(String message) {
        super(message);
    }

    ProfileException(String message, Throwable cause) {
        super(message, cause);
    }
}
