// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Parses numbers in the text of /proc files without allocation. */
public final class ProcText {
    private ProcText() {}

    /**
     * Reads the digits at the buffer's position and skips the character after them. Returns -1 if there are no digits.
     */
    public static long number(ByteBuffer text) {
        long value = 0;
        int digits = 0;
        while (text.hasRemaining()) {
            byte c = text.get();
            if (c < '0' || c > '9') break;
            value = value * 10 + (c - '0');
            digits++;
        }
        return digits == 0 ? -1 : value;
    }

    /** Returns the number after a key; -1 if there is none. */
    public static long field(byte[] text, int length, byte[] key) {
        int at = endOf(text, length, key);
        return at < 0 ? -1 : number(text, length, at);
    }

    /** Returns the last number in a key's line, such as the innermost id of NSpid; -1 if there is none. */
    public static long lastInLine(byte[] text, int length, byte[] key) {
        int at = endOf(text, length, key);
        if (at < 0) return -1;
        int end = at;
        while (end < length && text[end] != '\n') end++;
        while (end > at && !isDigit(text[end - 1])) end--;
        int start = end;
        while (start > at && isDigit(text[start - 1])) start--;
        return number(text, end, start);
    }

    /** Returns the bytes of a key as it appears at the start of a line. */
    public static byte[] key(String name) {
        return ("\n" + name + ":").getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns the index after the first occurrence of {@code part}; -1 if there is none. */
    private static int endOf(byte[] text, int length, byte[] part) {
        for (int i = 0; i + part.length <= length; i++) {
            int k = 0;
            while (k < part.length && text[i + k] == part[k]) k++;
            if (k == part.length) return i + k;
        }
        return -1;
    }

    private static long number(byte[] text, int length, int start) {
        int at = start;
        while (at < length && (text[at] == ' ' || text[at] == '\t')) at++;
        if (at == length || !isDigit(text[at])) return -1;
        long value = 0;
        for (; at < length && isDigit(text[at]); at++) value = value * 10 + (text[at] - '0');
        return value;
    }

    private static boolean isDigit(byte c) {
        return c >= '0' && c <= '9';
    }
}
