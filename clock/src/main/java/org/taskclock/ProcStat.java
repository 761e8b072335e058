// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The text that Linux writes of a thread or process: {@code /proc/PID/task/TID/stat}, {@code /proc/PID/stat} (proc(5)).
 * For threads of any process, without the native library; some ten times as dear as asking a clock. User and system time
 * are what getrusage says of the thread, cut to units of 10 ms.
 *
 * <p>The name stands in parentheses and may hold anything, parentheses, blanks and line ends included; what follows the
 * last closing parenthesis is sound.
 *
 * @param id the thread's or process's kernel id
 * @param name the kernel's name, at most 15 bytes
 * @param state {@code R} running, {@code S} sleeping, and so on
 * @param userNanos CPU time spent in user mode
 * @param systemNanos CPU time spent in the kernel
 */
public record ProcStat(int id, String name, char state, long userNanos, long systemNanos) {
    /** USER_HZ is 100 on every architecture that JVMs run on; unlike HZ it is part of the user ABI. */
    private static final long NANOS_PER_UNIT = 10_000_000;

    /** What the kernel writes is at most a few hundred bytes long. */
    private static final int MAX_LENGTH = 2048;

    private static final int FIELDS_FROM_STATE_TO_UTIME = 11;

    /**
     * Reads about a thread of this process.
     *
     * @param tid its kernel id
     * @return what the kernel says, or null if there is no such thread
     */
    public static ProcStat ofThread(int tid) {
        return read("/proc/self/task/" + tid + "/stat");
    }

    /**
     * Reads a file of this form.
     *
     * @param path the file
     * @return what it says, or null if it cannot be read, as when the thread has ended
     * @throws IllegalArgumentException if it is not of this form
     */
    public static ProcStat read(String path) {
        byte[] text = new byte[MAX_LENGTH];
        int length = readInto(path, text);
        return length <= 0 ? null : parse(text, length);
    }

    /**
     * Parses the text of such a file.
     *
     * @param text the bytes
     * @param length how many of them
     * @return what they say
     * @throws IllegalArgumentException if they are not of this form
     */
    public static ProcStat parse(byte[] text, int length) {
        int close = lastClosing(text, length);
        int utime = utimeAt(text, length, close);
        long user = number(text, length, utime);
        long system = number(text, length, skipField(text, length, utime));

        int blank = 0;
        while (blank < close && text[blank] != ' ') blank++;
        if (text[blank + 1] != '(') throw malformed(text, length);
        long id = number(text, blank, 0);
        if (id > Integer.MAX_VALUE) throw malformed(text, length);
        String name = new String(text, blank + 2, close - blank - 2, StandardCharsets.UTF_8);
        return new ProcStat((int) id, name, (char) text[close + 2], user * NANOS_PER_UNIT, system * NANOS_PER_UNIT);
    }

    /** The user time alone, as the JVM read it until JDK 26; -1 if there is no such thread. */
    static long userNanosOfThread(int tid) {
        byte[] text = new byte[MAX_LENGTH];
        int length = readInto("/proc/self/task/" + tid + "/stat", text);
        if (length <= 0) return -1;
        return number(text, length, utimeAt(text, length, lastClosing(text, length))) * NANOS_PER_UNIT;
    }

    private static int readInto(String path, byte[] text) {
        try (FileInputStream in = new FileInputStream(path)) {
            return in.read(text);
        } catch (IOException e) {
            return -1;
        }
    }

    private static int utimeAt(byte[] text, int length, int close) {
        int at = close + 2;
        for (int field = 0; field < FIELDS_FROM_STATE_TO_UTIME; field++) at = skipField(text, length, at);
        return at;
    }

    /** Where the name ends. The id before it, and a blank, the state and a blank after it, must fit. */
    private static int lastClosing(byte[] text, int length) {
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

    /** The digits from {@code start} to a blank or the end. */
    private static long number(byte[] text, int length, int start) {
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
        String shown = new String(text, 0, Math.min(length, 80), StandardCharsets.UTF_8);
        return new IllegalArgumentException("not the text of a /proc stat file: '" + shown + "'");
    }
}
