// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

/** Text in messages. */
final class Text {
    private Text() {}

    /** Replaces control characters, so that a name from another process cannot affect a terminal or a log. */
    static String printable(String text) {
        StringBuilder clean = new StringBuilder();
        text.codePoints()
                .forEach(c -> clean.appendCodePoint(Character.isISOControl(c) || !Character.isDefined(c) ? '?' : c));
        return clean.toString();
    }

    /** Prints one line to standard error. */
    static void log(String message) {
        System.err.println("taskclock: exporter: " + printable(message));
    }
}
