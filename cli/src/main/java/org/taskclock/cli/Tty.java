// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.Curses;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.Signals;

/** Controls the terminal, and restores it however the program ends, except on SIGKILL. */
final class Tty {
    /** Escape is a key, rather than the start of a sequence, if nothing follows for this long. */
    private static final int ESCAPE_TIMEOUT_MILLIS = 40;

    /** Receives keys: a character, or a name such as Up, F10 or Ctrl-C. */
    interface KeyListener {
        void press(String key) throws IOException;
    }

    private final Terminal terminal;
    private final Attributes originalAttributes;
    private final Display display;
    private final String restoreSequence;
    private final Thread restoreHook = new Thread(this::restore, "taskclock-restore");
    private Size size;
    private boolean taken;
    private boolean closed;

    private Tty(Terminal terminal) {
        this.terminal = terminal;
        originalAttributes = terminal.getAttributes();
        display = new Display(terminal, true);
        restoreSequence = capability(Capability.keypad_local)
                + capability(Capability.cursor_normal)
                + capability(Capability.exit_ca_mode);
        measure();
    }

    /** Returns whether standard input and output are a terminal with cursor control. */
    static boolean isUsable() {
        return !Main.isDumbTerminal() && isDevice(0) && isDevice(1);
    }

    private static boolean isDevice(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.startsWith("/dev/") && !target.equals("/dev/null");
        } catch (IOException e) {
            return false;
        }
    }

    /** Takes over the terminal. Returns null if that is not possible. */
    static Tty open(Queue<TerminalUi.Event> events, KeyListener keys, TerminalUi.Event resized, TerminalUi.Event quit)
            throws IOException {
        Terminal terminal;
        try {
            // Do not query the terminal: late replies would be read as keys.
            terminal = TerminalBuilder.builder()
                    .system(true)
                    .dumb(false)
                    .provider("exec")
                    .graphemeCluster(false)
                    .nativeSignals(false) // it would handle SIGTSTP too
                    .build();
        } catch (IllegalStateException e) {
            return null; // no terminal, or no stty
        }
        Tty tty = new Tty(terminal);
        Signals.register(
                "WINCH",
                () -> events.add(() -> {
                    tty.measure();
                    resized.handle();
                }));
        Signals.register(
                "CONT",
                () -> events.add(() -> {
                    tty.take(); // a shell may have changed it
                    tty.measure();
                    resized.handle();
                }));
        Runtime.getRuntime().addShutdownHook(tty.restoreHook);
        tty.take();
        Thread reader = new Thread(() -> readKeys(events, keys, quit), "taskclock-keys");
        reader.setDaemon(true);
        reader.start();
        return tty;
    }

    private synchronized void take() {
        if (closed) return;
        taken = true;
        terminal.enterRawMode();
        terminal.puts(Capability.enter_ca_mode);
        terminal.puts(Capability.cursor_invisible);
        terminal.puts(Capability.keypad_xmit);
        terminal.flush();
    }

    /**
     * Restores the terminal. Bypasses the library, which may already have closed its side when the shutdown hook runs.
     */
    private synchronized void restore() {
        if (!taken) return;
        taken = false;
        try {
            @SuppressWarnings("resource") // closing it would close standard output
            FileOutputStream out = new FileOutputStream(FileDescriptor.out);
            out.write(restoreSequence.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // the terminal is closed
        }
        try {
            terminal.setAttributes(originalAttributes);
        } catch (RuntimeException e) {
            // closed by the library, which has restored them
        }
    }

    private String capability(Capability capability) {
        String text = terminal.getStringCapability(capability);
        return text == null ? "" : Curses.tputs(text);
    }

    synchronized void close() throws IOException {
        restore();
        closed = true;
        try {
            Runtime.getRuntime().removeShutdownHook(restoreHook);
        } catch (IllegalStateException e) {
            // the hook is already running and has nothing left to do
        }
        terminal.close();
    }

    /** Handles Ctrl-Z as the kernel would, but restores the terminal first. Returns when the process is resumed. */
    void suspend() throws IOException {
        restore();
        try {
            new ProcessBuilder("sh", "-c", "kill -TSTP 0").inheritIO().start().waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        take();
        measure();
    }

    private void measure() {
        size = terminal.getSize();
        if (size.getColumns() <= 0 || size.getRows() <= 0) size = Size.of(80, 24); // unknown on a serial line
        display.resize(size);
    }

    /** Returns whether the locale uses UTF-8 and the terminal is not one whose fonts lack most block characters. */
    static boolean showsBlocks() {
        return "UTF-8".equals(System.getProperty("native.encoding"))
                && !System.getenv("TERM").matches("linux|vt[0-9].*");
    }

    int columns() {
        return size.getColumns();
    }

    int rows() {
        return size.getRows();
    }

    synchronized void clear() {
        if (taken) display.clear();
    }

    synchronized void draw(List<AttributedString> lines) {
        if (!taken) return;
        display.update(lines, 0);
        terminal.flush();
    }

    /**
     * Reads keys without the library: its reader runs stty to set a timeout, which interferes with restoring the
     * terminal.
     */
    private static void readKeys(Queue<TerminalUi.Event> events, KeyListener keys, TerminalUi.Event quit) {
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
        return keyName(sequence.toString());
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
            case "[21~" -> "F10";
            default -> "";
        };
    }
}
