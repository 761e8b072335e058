// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.io.Serial;

/** Thrown when the user interrupted a measurement. */
final class MeasurementInterruptedException extends Exception {
    @Serial
    private static final long serialVersionUID = 1;
}
