// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

/** Draws values as characters of different heights. */
final class Sparkline {
    private static final String BLOCKS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";
    private static final String ASCII = " .:-=+*#@";

    /** Percent of a core. Values are never scaled up beyond this, so that noise stays small. */
    private static final double MIN_SCALE = 10;

    private Sparkline() {}

    /** Returns the value that is drawn at full height. */
    static double scale(double... values) {
        double scale = MIN_SCALE;
        for (double value : values) if (value > scale) scale = value;
        return scale;
    }

    /** Returns a character. Any positive value is visible; unknown values are not. */
    static char character(double value, double scale, boolean unicode) {
        String levels = unicode ? BLOCKS : ASCII;
        if (!(value > 0)) return levels.charAt(0);
        int highest = levels.length() - 1;
        return levels.charAt((int) Math.max(1, Math.min(highest, Math.round(value / scale * highest))));
    }

    static String of(double[] values, boolean unicode) {
        double scale = scale(values);
        StringBuilder text = new StringBuilder();
        for (double value : values) text.append(character(value, scale, unicode));
        return text.toString();
    }
}
