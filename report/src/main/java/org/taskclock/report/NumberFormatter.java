// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Formats numbers. */
final class NumberFormatter {
    /** Numbers with at most this many characters are not rounded. */
    private static final int SHORT_LENGTH = 7;

    private NumberFormatter() {}

    /**
     * Rounds numbers of 1,000 or more to integers, and smaller ones to four significant digits. Short numbers are not
     * rounded, so 99.9999 does not become 100.
     */
    static String format(double value) {
        if (!Double.isFinite(value)) return "";
        if (value == Math.rint(value) || Math.abs(value) >= 1000) return String.format(Locale.ROOT, "%,.0f", value);
        String exact = exact(value);
        return exact.length() <= SHORT_LENGTH ? exact : plain(new BigDecimal(value).round(new MathContext(4)));
    }

    /** Formats a number so that parsing it returns the same value. */
    static String exact(double value) {
        return Double.isFinite(value) ? plain(new BigDecimal(Double.toString(value))) : "";
    }

    /** Formats a ratio as "1.04 x", with a non-breaking space; empty if there is no ratio. */
    static String ratio(double value, double reference) {
        double ratio = value / reference;
        if (!(ratio > 0) || !Double.isFinite(ratio)) return "";
        int digits = ratio < 10 ? 2 : ratio < 100 ? 1 : 0;
        return String.format(Locale.ROOT, "%,." + digits + "f\u00a0x", ratio);
    }

    private static String plain(BigDecimal value) {
        return value.signum() == 0 ? "0" : value.stripTrailingZeros().toPlainString();
    }
}
