// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

/** Texts that a process chooses, such as its name. Each can become a label of many series, or a column of a table. */
public final class TargetText {
    /** Longer texts are truncated. Pools of threads have the same limit (org.taskclock.metrics.ThreadNames). */
    public static final int MAX_LENGTH = 200;

    private TargetText() {}

    /** Returns a text that is at most {@link #MAX_LENGTH} characters long, and ends in ~ if it was truncated. */
    public static String limit(String text) {
        if (text.length() <= MAX_LENGTH) return text;
        int end = MAX_LENGTH - 1;
        if (Character.isHighSurrogate(text.charAt(end - 1))) end--;
        return text.substring(0, end) + "~";
    }
}
