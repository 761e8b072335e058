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

/** The terminal: takes it over, and gives it back as it was, however the program ends, but for SIGKILL. */
final class Tty {
    /** A lone Escape is one that nothing follows for so long. */
    private static final int ESCAPE_MILLIS = 40;

    /** Receives what was pressed: a character, or a name as Up, F10, Ctrl-C. */
    interface KeyListener {
        void press(String key) throws IOException;
    }

    private final Terminal terminal;
    private final Attributes before;
    private final Display display;
    private final String end;
    private final Thread hook = new Thread(this::restore, "taskclock-restore");
    private Size size;
    private boolean taken;
    private boolean closed;

    private Tty(Terminal terminal) {
        this.terminal = terminal;
        before = terminal.getAttributes();
        display = new Display(terminal, true);
        end = capability(Capability.keypad_local)
                + capability(Capability.cursor_normal)
                + capability(Capability.exit_ca_mode);
        measure();
    }

    /** Is standard input and output a terminal that can do more than print lines? */
    static boolean usable() {
        String term = System.getenv("TERM");
        return term != null && !term.isEmpty() && !term.equals("dumb") && isDevice(0) && isDevice(1);
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

    /** Null where it cannot be taken over. */
    static Tty open(Queue<Screen.Event> events, KeyListener keys, Screen.Event resized, Screen.Event quit)
            throws IOException {
        Terminal terminal;
        try {
            // No questions to the terminal: their answers may come late, and would be read as keys.
            terminal = TerminalBuilder.builder()
                    .system(true)
                    .dumb(false)
                    .provider("exec")
                    .graphemeCluster(false)
                    .nativeSignals(false) // it would take them all, that which stops us too
                    .build();
        } catch (IllegalStateException e) {
            return null; // no terminal, or no stty
        }
        Tty tty = new Tty(terminal);
        Signals.register(
                "WINCH",
                () -> events.add(() -> {
                    tty.measure();
                    resized.happen();
                }));
        Signals.register(
                "CONT",
                () -> events.add(() -> {
                    tty.take(); // a shell may have changed it
                    tty.measure();
                    resized.happen();
                }));
        Runtime.getRuntime().addShutdownHook(tty.hook);
        tty.take();
        Thread reader = new Thread(() -> read(events, keys, quit), "taskclock-keys");
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

    /** Also from the shutdown hook, where the library may have closed its side already: writes past it. */
    private synchronized void restore() {
        if (!taken) return;
        taken = false;
        try {
            @SuppressWarnings("resource") // closing it would close standard output
            FileOutputStream out = new FileOutputStream(FileDescriptor.out);
            out.write(end.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // the terminal has gone
        }
        try {
            terminal.setAttributes(before);
        } catch (RuntimeException e) {
            // closed by the library, which has put them back
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
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the hook is running, and finds that there is nothing left to do
        }
        terminal.close();
    }

    /** Ctrl-Z: what the kernel would do, but with the terminal as it was. Returns when we go on. */
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
        if (size.getColumns() <= 0 || size.getRows() <= 0) size = Size.of(80, 24); // a serial line does not know
        display.resize(size);
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

    /** Not by the library's reader, which runs stty to wait for a time, and so in the way of putting the terminal back. */
    private static void read(Queue<Screen.Event> events, KeyListener keys, Screen.Event quit) {
        @SuppressWarnings("resource") // closing it would close standard input
        FileInputStream in = new FileInputStream(FileDescriptor.in);
        try {
            for (String key = next(in); key != null; key = next(in)) {
                String pressed = key;
                if (!key.isEmpty()) events.add(() -> keys.press(pressed));
            }
        } catch (IOException e) {
            // the terminal has gone
        }
        events.add(quit);
    }

    /** Null at the end of the input; empty for what has no name. */
    private static String next(FileInputStream in) throws IOException {
        int c = in.read();
        if (c < 0) return null;
        if (c == 0x1b) return sequence(in);
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

    private static String sequence(FileInputStream in) throws IOException {
        if (!follows(in)) return "Escape";
        StringBuilder sequence = new StringBuilder();
        int c = in.read();
        sequence.append((char) c);
        if (c != '[' && c != 'O') return ""; // Alt and a key
        do {
            if (!follows(in)) return "";
            c = in.read();
            sequence.append((char) c);
        } while (sequence.charAt(0) == '[' && (c < '@' || (sequence.length() == 2 && c == '[')));
        return name(sequence.toString());
    }

    private static boolean follows(FileInputStream in) throws IOException {
        for (int waited = 0; in.available() == 0; waited += 10) {
            if (waited >= ESCAPE_MILLIS) return false;
            try {
                Thread.sleep(10);
            } catch (InterruptedException e) {
                return false;
            }
        }
        return true;
    }

    /** As xterm, rxvt, screen, tmux and the Linux console send them, in either mode of the keypad. */
    private static String name(String sequence) {
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
