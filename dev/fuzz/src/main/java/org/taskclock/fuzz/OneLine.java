// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.fuzz;

/** Checks messages, which are printed as one line of a terminal or a log. */
public final class OneLine {
    private OneLine() {}

    /** Throws an error unless the message is one line without control characters. */
    public static void check(Throwable e) {
        check(e.getMessage(), e);
    }

    /** Throws an error unless the message is one line without control characters. */
    public static void check(String message, Throwable cause) {
        if (message == null || message.isBlank()) throw new AssertionError("no reason", cause);
        if (message.chars().anyMatch(Character::isISOControl))
            throw new AssertionError("a control character is in the message", cause);
    }
}
