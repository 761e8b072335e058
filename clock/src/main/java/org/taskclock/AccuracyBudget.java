// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

/** The value of {@code -Dtaskclock.accuracy}: how far ahead of the kernel a reading may be on average. */
final class AccuracyBudget {
    static final String PROPERTY = "taskclock.accuracy";

    /** Every reading asks the kernel. */
    static final long EXACT = 0;

    private static final long MAX_NANOS = 10_000_000;

    private AccuracyBudget() {}

    /** Returns the budget in nanoseconds. The property must be set. */
    static long nanos() {
        return parse(System.getProperty(PROPERTY));
    }

    static long parse(String text) {
        if (text.equals("exact")) return EXACT;
        long unit = text.endsWith("ns") ? 1 : text.endsWith("us") ? 1_000 : text.endsWith("ms") ? 1_000_000 : 0;
        if (unit != 0) {
            try {
                long nanos = Math.multiplyExact(Long.parseLong(text.substring(0, text.length() - 2)), unit);
                if (nanos > 0 && nanos <= MAX_NANOS) return nanos;
            } catch (NumberFormatException | ArithmeticException e) {
                // Reported below.
            }
        }
        throw new IllegalArgumentException("-D" + PROPERTY + "=" + text
                + ": invalid accuracy: use a time from 1ns to 10ms, such as 100ns or 1us, or exact");
    }
}
