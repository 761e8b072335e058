// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The contents of {@code /proc/PID/task/TID/stat} or {@code /proc/PID/stat}, which describe a thread or process
 * (proc(5)). Reading it works for threads of any process and without the native library, but is about ten times slower
 * than reading a clock. User and system time are those of getrusage, truncated to units of 10 ms.
 *
 * <p>The name is enclosed in parentheses and may contain anything, including parentheses, spaces, and line breaks. The
 * text after the last closing parenthesis is well-formed.
 *
 * @param id the kernel id of the thread or process
 * @param name the name that the kernel keeps, at most 15 bytes
 * @param state {@code R} running, {@code S} sleeping, and so on
 * @param userNanos CPU time spent in user mode, in nanoseconds since the start of the thread or process
 * @param systemNanos CPU time spent in the kernel, in nanoseconds since the start of the thread or process
 */
public record ProcStat(int id, String name, char state, long userNanos, long systemNanos) {
    /** USER_HZ is 100 on every architecture that JVMs run on; unlike HZ it is part of the user ABI. */
    private static final long NANOS_PER_UNIT = 10_000_000;

    /** The kernel writes a few hundred bytes at most. */
    private static final int MAX_LENGTH = 2048;

    private static final int FIELDS_FROM_STATE_TO_UTIME = 11;

    /**
     * Reads the file of a thread of this process. Any thread may call this.
     *
     * @param tid the thread's kernel id
     * @return the contents, or null if there is no such thread
     */
    public static ProcStat ofThread(int tid) {
        return read("/proc/self/task/" + tid + "/stat");
    }

    /**
     * Reads a file in this format.
     *
     * @param path the file
     * @return the contents, or null if the file cannot be read, for instance because the thread has ended
     * @throws IllegalArgumentException if the file is not in this format
     */
    public static ProcStat read(String path) {
        byte[] text = new byte[MAX_LENGTH];
        int length = readInto(path, text);
        return length <= 0 ? null : parse(text, length);
    }

    /**
     * Parses the contents of a file in this format.
     *
     * @param text the bytes
     * @param length the number of bytes
     * @return the contents
     * @throws IllegalArgumentException if the text is not in this format
     */
    public static ProcStat parse(byte[] text, int length) {
        int close = nameEnd(text, length);
        int utime = utimeStart(text, length, close);
        long user = parseNumber(text, length, utime);
        long system = parseNumber(text, length, skipField(text, length, utime));

        int space = 0;
        while (space < close && text[space] != ' ') space++;
        if (text[space + 1] != '(') throw malformed(text, length);
        long id = parseNumber(text, space, 0);
        if (id > Integer.MAX_VALUE) throw malformed(text, length);
        String name = new String(text, space + 2, close - space - 2, StandardCharsets.UTF_8);
        return new ProcStat((int) id, name, (char) text[close + 2], user * NANOS_PER_UNIT, system * NANOS_PER_UNIT);
    }

    /** Returns the user time alone, as the JVM read it before JDK 26; -1 if there is no such thread. */
    static long userNanosOfThread(int tid) {
        byte[] text = new byte[MAX_LENGTH];
        int length = readInto("/proc/self/task/" + tid + "/stat", text);
        if (length <= 0) return -1;
        return parseNumber(text, length, utimeStart(text, length, nameEnd(text, length))) * NANOS_PER_UNIT;
    }

    private static int readInto(String path, byte[] text) {
        try (FileInputStream in = new FileInputStream(path)) {
            return in.read(text);
        } catch (IOException e) {
            return -1;
        }
    }

    private static int utimeStart(byte[] text, int length, int close) {
        int at = close + 2;
        for (int field = 0; field < FIELDS_FROM_STATE_TO_UTIME; field++) at = skipField(text, length, at);
        return at;
    }

    /**
     * Returns the index of the parenthesis that ends the name. Checks that there is room for the id before it, and that
     * a space, the state, and another space follow it.
     */
    private static int nameEnd(byte[] text, int length) {
        int at = length - 1;
        while (at >= 0 && text[at] != ')') at--;
        if (at < 3 || at + 3 >= length || text[at + 1] != ' ' || text[at + 3] != ' ') throw malformed(text, length);
        return at;
    }

    private static int skipField(byte[] text, int length, int start) {
        int at = start;
        while (at < length && text[at] != ' ') at++;
        if (at == start || at + 1 >= length) throw malformed(text, length);
        return at + 1;
    }

    /** Parses the digits from {@code start} to a space or the end. */
    private static long parseNumber(byte[] text, int length, int start) {
        long value = 0;
        int at = start;
        for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
            value = value * 10 + (text[at] - '0');
            if (value > Long.MAX_VALUE / NANOS_PER_UNIT / 10) throw malformed(text, length);
        }
        if (at == start || (at < length && text[at] != ' ' && text[at] != '\n')) throw malformed(text, length);
        return value;
    }

    private static IllegalArgumentException malformed(byte[] text, int length) {
        String excerpt = new String(text, 0, Math.min(length, 80), StandardCharsets.UTF_8);
        return new IllegalArgumentException("not the contents of a /proc stat file: '" + excerpt + "'");
    }
}
