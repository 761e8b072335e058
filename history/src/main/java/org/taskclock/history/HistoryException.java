// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;

/** The history cannot be opened or read. The message is one line that names the cause and the remedy. */
public final class HistoryException extends IOException {
    private static final long serialVersionUID = 1;

    /** Creates an exception with a message for the user. */
    public HistoryException(String message) {
        super(printable(message));
    }

    /** Creates an exception with a message for the user and its cause. */
    public HistoryException(String message, Throwable cause) {
        super(printable(message), cause);
    }

    /** Replaces control characters, which SQL can put into the message. */
    private static String printable(String message) {
        return message.replaceAll("\\p{Cc}", "?");
    }
}
