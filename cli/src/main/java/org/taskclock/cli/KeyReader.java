// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Queue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads keys and mouse events from the terminal. */
final class KeyReader {
    /** Escape is a key, rather than the start of a sequence, if nothing follows for this long. */
    private static final int ESCAPE_TIMEOUT_MILLIS = 40;

    /** The report of a pressed button; that of a released one ends with m. */
    private static final Pattern MOUSE_REPORT = Pattern.compile("\\[<([0-9]{1,4});([0-9]{1,5});([0-9]{1,5})M");

    private KeyReader() {}

    /**
     * Reads keys without the library: its reader runs stty to set a timeout, which interferes with restoring the
     * terminal.
     */
    static void run(Queue<TerminalUi.Event> events, Tty.KeyListener keys, TerminalUi.Event quit) {
        @SuppressWarnings("resource") // closing it would close standard input
        FileInputStream in = new FileInputStream(FileDescriptor.in);
        try {
            for (String key = nextKey(in); key != null; key = nextKey(in)) {
                String pressed = key;
                if (!key.isEmpty()) events.add(() -> keys.press(pressed));
            }
        } catch (IOException e) {
            // the terminal is closed
        }
        events.add(quit);
    }

    /** Returns the next key, null at the end of the input, or an empty string for an unknown sequence. */
    private static String nextKey(FileInputStream in) throws IOException {
        int c = in.read();
        if (c < 0) return null;
        if (c == 0x1b) return readSequence(in);
        if (c == '\r' || c == '\n') return "Enter";
        if (c == 0x7f || c == '\b') return "Backspace";
        if (c == ' ') return "Space";
        if (c < ' ') return "Ctrl-" + (char) (c + '@');
        if (c < 0x80) return String.valueOf((char) c);
        byte[] character = new byte[c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4];
        character[0] = (byte) c;
        for (int i = 1; i < character.length; i++) {
            c = in.read();
            if (c < 0) return null;
            character[i] = (byte) c;
        }
        return new String(character, StandardCharsets.UTF_8);
    }

    private static String readSequence(FileInputStream in) throws IOException {
        if (!hasMoreInput(in)) return "Escape";
        StringBuilder sequence = new StringBuilder();
        int c = in.read();
        sequence.append((char) c);
        if (c != '[' && c != 'O') return ""; // Alt plus a key
        do {
            if (!hasMoreInput(in)) return "";
            c = in.read();
            sequence.append((char) c);
        } while (sequence.charAt(0) == '[' && (c < '@' || (sequence.length() == 2 && c == '[')));
        String text = sequence.toString();
        return text.startsWith("[<") || text.equals("[M") ? readMouse(in, text) : keyName(text);
    }

    /** Returns the event if a button was pressed, or an empty string. */
    private static String readMouse(FileInputStream in, String sequence) throws IOException {
        Matcher report = MOUSE_REPORT.matcher(sequence);
        if (report.matches()) {
            return MouseBindings.event(
                    Integer.parseInt(report.group(1)),
                    Integer.parseInt(report.group(2)) - 1,
                    Integer.parseInt(report.group(3)) - 1);
        }
        if (!sequence.equals("[M")) return "";
        // A terminal without SGR reports: three bytes, which begin at 32.
        int[] bytes = new int[3];
        for (int i = 0; i < bytes.length; i++) {
            if (!hasMoreInput(in)) return "";
            bytes[i] = in.read() - 32;
        }
        return MouseBindings.event(bytes[0], bytes[1] - 1, bytes[2] - 1);
    }

    private static boolean hasMoreInput(FileInputStream in) throws IOException {
        for (int waited = 0; in.available() == 0; waited += 10) {
            if (waited >= ESCAPE_TIMEOUT_MILLIS) return false;
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                return false;
            }
        }
        return true;
    }

    /** Names the sequences that xterm, rxvt, screen, tmux and the Linux console send, in either keypad mode. */
    private static String keyName(String sequence) {
        return switch (sequence) {
            case "[A", "OA" -> "Up";
            case "[B", "OB" -> "Down";
            case "[C", "OC" -> "Right";
            case "[D", "OD" -> "Left";
            case "[H", "OH", "[1~", "[7~" -> "Home";
            case "[F", "OF", "[4~", "[8~" -> "End";
            case "[5~" -> "PageUp";
            case "[6~" -> "PageDown";
            case "OM" -> "Enter";
            case "OP", "[11~", "[[A" -> "F1";
            case "OQ", "[12~", "[[B" -> "F2";
            case "OR", "[13~", "[[C" -> "F3";
            case "OS", "[14~", "[[D" -> "F4";
            case "[15~", "[[E" -> "F5";
            case "[17~" -> "F6";
            case "[18~" -> "F7";
            case "[19~" -> "F8";
            case "[21~" -> "F10";
            default -> "";
        };
    }
}
