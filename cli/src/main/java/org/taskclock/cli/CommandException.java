// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

/** A failure that ends a command with a message and an exit code. */
final class CommandException extends Exception {
    private static final long serialVersionUID = 1;

    final int exitCode;

    CommandException(int exitCode, String message) {
        super(message);
        this.exitCode = exitCode;
    }
}
