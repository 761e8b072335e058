// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

/** Texts that a process chooses, such as its name. Each can become a label of many series, or a column of a table. */
public final class TargetText {
    /** Longer texts are cut. Pools of threads have the same limit (org.taskclock.PoolName). */
    public static final int MAX_LENGTH = 200;

    private static final char REPLACEMENT = '\ufffd';

    private TargetText() {}

    /** Returns a text that is at most {@link #MAX_LENGTH} characters long, and ends in ~ if it was cut. */
    public static String limit(String text) {
        if (text.length() <= MAX_LENGTH) return text;
        int end = MAX_LENGTH - 1;
        if (Character.isHighSurrogate(text.charAt(end - 1))) end--;
        return text.substring(0, end) + "~";
    }

    /**
     * Cuts long names, and replaces surrogates without a partner, which cannot be encoded. Names that differ only in
     * these become the same, which is better than a metric with two equal series.
     */
    public static String sanitize(String name) {
        // A name that was cut before stays the same.
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
}
