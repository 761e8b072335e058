// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Numbers out of the kernel's texts. */
final class ProcText {
    private ProcText() {}

    /** The digits at the buffer's position, and the character behind them; -1 if there are none. */
    static long number(ByteBuffer text) {
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

    /** The number behind a key that stands at the start of a line; -1 if there is none. */
    static long field(byte[] text, int length, byte[] key) {
        int at = find(text, length, key);
        return at < 0 ? -1 : number(text, length, at);
    }

    /** The last number in the line of a key, as innermost id of NSpid; -1 if there is none. */
    static long lastInLine(byte[] text, int length, byte[] key) {
        int at = find(text, length, key);
        if (at < 0) return -1;
        int end = at;
        while (end < length && text[end] != '\n') end++;
        while (end > at && !isDigit(text[end - 1])) end--;
        int start = end;
        while (start > at && isDigit(text[start - 1])) start--;
        return number(text, end, start);
    }

    static byte[] key(String name) {
        return ("\n" + name + ":").getBytes(StandardCharsets.US_ASCII);
    }

    private static int find(byte[] text, int length, byte[] key) {
        for (int i = 0; i + key.length <= length; i++) {
            int k = 0;
            while (k < key.length && text[i + k] == key[k]) k++;
            if (k == key.length) return i + k;
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
