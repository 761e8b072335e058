// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.IOException;
import java.io.Serial;

/** Thrown when a measurement is not possible. The message is one line with the problem, the reason, and the remedy. */
final class LabException extends IOException {
    @Serial
    private static final long serialVersionUID = 1;

    LabException(String message) {
        super(message);
    }
}
