// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

/** Sanitizes text for metrics and messages. */
final class Text {
    private static final char REPLACEMENT = '\ufffd';

    /** The maximum length of a label. Names come from other programs, and are part of each series of a JVM or pool. */
    private static final int MAX_LENGTH = 200;

    private Text() {}

    /**
     * Truncates long names, and replaces unpaired surrogates, which cannot be encoded. Names that differ only in these become equal, which avoids duplicate series in a metric.
     */
    static String sanitize(String name) {
        // As ThreadNames.pool does, so that its result stays the same.
        String text = name.length() <= MAX_LENGTH + 1 ? name : name.substring(0, MAX_LENGTH) + "~";
        StringBuilder clean = null;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isSurrogate(c)) continue;
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
                continue;
            }
            if (clean == null) clean = new StringBuilder(text);
            clean.setCharAt(i, REPLACEMENT);
        }
        return clean == null ? text : clean.toString();
    }

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
