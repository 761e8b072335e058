// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Decodes the text that HotSpot prints. HotSpot writes strings in modified UTF-8, which encodes each half of a
 * surrogate pair in three bytes of its own; standard UTF-8 does not permit that.
 */
public final class ModifiedUtf8 {
    /** Replaces bytes that are not UTF-8. */
    private static final char UNKNOWN = '\ufffd';

    private ModifiedUtf8() {}

    public static String decode(byte[] text) {
        return decode(text, text.length);
    }

    /** Decodes the beginning of a text. */
    public static String decode(byte[] text, int length) {
        StringBuilder decoded = null;
        int start = 0;
        for (int i = 0; i + 5 < length; i++) {
            if (!isHalf(text, i, 0xa0) || !isHalf(text, i + 3, 0xb0)) continue;
            if (decoded == null) decoded = new StringBuilder(length);
            decoded.append(new String(text, start, i - start, StandardCharsets.UTF_8))
                    .append(half(text, i))
                    .append(half(text, i + 3));
            start = i + 6;
            i += 5;
        }
        String rest = new String(text, start, length - start, StandardCharsets.UTF_8);
        return decoded == null ? rest : decoded.append(rest).toString();
    }

    /** Returns the length of a text without a character, or a surrogate pair, of which bytes may be missing. */
    public static int completeLength(byte[] text, int length) {
        int end = length;
        for (int back = 1; back <= Math.min(3, length); back++) {
            int lead = text[length - back] & 0xff;
            if ((lead & 0xc0) == 0x80) continue; // not the first byte of a character
            int needed = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
            if (back < needed) end -= back;
            break;
        }
        return end >= 3 && isHalf(text, end - 3, 0xa0) ? end - 3 : end;
    }

    /**
     * Returns the name in the text of a stat file, which HotSpot sets in modified UTF-8. Omits a character that the
     * kernel truncated.
     */
    public static String threadName(String name, byte[] stat, int length) {
        if (name.indexOf(UNKNOWN) < 0) return name;
        int start = 0;
        while (start < length && stat[start] != '(') start++;
        if (start == length) return name;
        int end = length;
        while (end > start && stat[end - 1] != ')') end--;
        String decoded = decode(Arrays.copyOfRange(stat, start + 1, Math.max(start + 1, end - 1)));
        while (!decoded.isEmpty() && decoded.charAt(decoded.length() - 1) == UNKNOWN)
            decoded = decoded.substring(0, decoded.length() - 1);
        return decoded;
    }

    /** Returns whether the bytes encode a high surrogate (second byte 0xa0 to 0xaf) or a low one (0xb0 to 0xbf). */
    private static boolean isHalf(byte[] text, int at, int second) {
        return (text[at] & 0xff) == 0xed && (text[at + 1] & 0xf0) == second && (text[at + 2] & 0xc0) == 0x80;
    }

    private static char half(byte[] text, int at) {
        return (char) (0xd000 | (text[at + 1] & 0x3f) << 6 | (text[at + 2] & 0x3f));
    }
}
