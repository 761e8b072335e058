// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.Serial;

/** What cannot be measured, for a reason that is told in one line: what: why: remedy. */
final class LabException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;

    LabException(String message) {
        super(message);
    }
}
