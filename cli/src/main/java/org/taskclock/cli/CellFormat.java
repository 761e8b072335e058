// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.jline.utils.WCWidth;

/** Formats numbers and text for table cells of a fixed number of terminal columns. */
final class CellFormat {
    private CellFormat() {}

    /**
     * Formats a number in at most five columns, with suffix k, M or G from 100,000; "-" if it is unknown (negative or
     * NaN).
     */
    static String number(double value) {
        if (!(value >= 0)) return "-";
        if (value < 999.95) {
            long tenths = Math.round(value * 10);
            return tenths / 10 + "." + tenths % 10;
        }
        if (value < 99_999.5) return Long.toString(Math.round(value));
        if (value < 999_500) return Math.round(value / 1e3) + "k";
        return value < 9_999_500_000.0 ? Math.round(value / 1e6) + "M" : Math.round(value / 1e9) + "G";
    }

    /** Formats a difference with its sign; "-" if it is unknown (NaN). */
    static String signed(double value) {
        if (Double.isNaN(value)) return "-";
        return (value < 0 ? "-" : "+") + number(Math.abs(value));
    }

    /** Formats CPU time: 12.3, 4:05 or 2:04:05. */
    static String time(double seconds) {
        if (!(seconds >= 0)) return "-";
        if (seconds < 99.95) return number(seconds);
        long whole = Math.round(seconds);
        String rest = twoDigits(whole / 60 % 60) + ":" + twoDigits(whole % 60);
        if (whole < 3600) return whole / 60 + ":" + twoDigits(whole % 60);
        return whole < 360_000 ? whole / 3600 + ":" + rest : whole / 3600 + "h";
    }

    /** Formats a short time: 350us, 12.3ms or 1.5s; "-" if it is unknown (negative). */
    static String duration(double seconds) {
        if (!(seconds >= 0)) return "-";
        if (seconds < 999.5e-6) return Math.round(seconds * 1e6) + "us";
        return seconds < 0.99995 ? number(seconds * 1e3) + "ms" : number(seconds) + "s";
    }

    private static String twoDigits(long value) {
        return value < 10 ? "0" + value : Long.toString(value);
    }

    /** Returns the number of terminal columns that the text takes. */
    static int width(CharSequence text) {
        int width = 0;
        for (int i = 0, c; i < text.length(); i += Character.charCount(c)) {
            c = Character.codePointAt(text, i);
            width += Math.max(0, WCWidth.wcwidth(c));
        }
        return width;
    }

    /** Truncates the text to a number of columns; truncated text ends with ~. */
    static String truncate(String text, int columns) {
        if (columns <= 0) return "";
        if (width(text) <= columns) return text;
        int width = 0;
        int i = 0;
        while (i < text.length()) {
            int c = text.codePointAt(i);
            int next = width + Math.max(0, WCWidth.wcwidth(c));
            if (next > columns - 1) break;
            width = next;
            i += Character.charCount(c);
        }
        return text.substring(0, i) + "~";
    }

    static String padRight(String text, int columns) {
        String cell = truncate(text, columns);
        return cell + " ".repeat(Math.max(0, columns - width(cell)));
    }

    static String padLeft(String text, int columns) {
        String cell = truncate(text, columns);
        return " ".repeat(Math.max(0, columns - width(cell))) + cell;
    }

    /** Puts a question mark for each character that would move the cursor or change the direction of the text. */
    static String sanitize(String text) {
        StringBuilder clean = null;
        for (int i = 0, c; i < text.length(); i += Character.charCount(c)) {
            c = text.codePointAt(i);
            if (clean == null) {
                if (isHarmless(c)) continue;
                clean = new StringBuilder(text.length()).append(text, 0, i);
            }
            clean.appendCodePoint(isHarmless(c) ? c : '?');
        }
        return clean == null ? text : clean.toString();
    }

    private static boolean isHarmless(int c) {
        if (c >= ' ' && c < 0x7f) return true;
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> WCWidth.wcwidth(c) >= 0;
        };
    }
}
