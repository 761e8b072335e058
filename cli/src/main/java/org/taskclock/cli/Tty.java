// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Queue;
import org.jline.terminal.Attributes;
import org.jline.terminal.Attributes.ControlChar;
import org.jline.terminal.Attributes.LocalFlag;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.AttributedString;
import org.jline.utils.Curses;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.Signals;
import org.taskclock.monitor.usage.DaemonThread;

/** Controls the terminal, and restores it however the program ends, except on SIGKILL. */
final class Tty {
    /** Receives keys: a character, or a name such as Up, F10 or Ctrl-C. */
    interface KeyListener {
        void press(String key) throws IOException;
    }

    /** Reports of clicks and of the wheel, with positions beyond 223 (SGR). */
    private static final String MOUSE_ON = "\u001b[?1000h\u001b[?1006h";

    private static final String MOUSE_OFF = "\u001b[?1006l\u001b[?1000l";

    /** The terminal from {@link #keepKeys} on, until it is opened or released. */
    private static Tty early;

    private final Terminal terminal;
    private final Attributes originalAttributes;
    private final Display display;
    private final String restoreSequence;
    private final Thread restoreHook = new Thread(this::restore, "taskclock-restore");
    private Size size;
    private boolean mouse;
    /** Whether keys are kept and not echoed. */
    private boolean quiet;

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

    /**
     * Keeps the keys that are typed from now on, without showing them, for {@link #open}. Until then, Ctrl-C still ends
     * the program.
     */
    static void keepKeys() {
        if (!isUsable()) return;
        try {
            early = create();
            if (early != null) early.silence();
        } catch (IOException e) {
            // open reports it
        }
    }

    private synchronized void silence() {
        quiet = true;
        Attributes attributes = new Attributes(originalAttributes);
        attributes.setLocalFlags(EnumSet.of(LocalFlag.ECHO, LocalFlag.ICANON), false);
        attributes.setControlChar(ControlChar.VMIN, 1);
        attributes.setControlChar(ControlChar.VTIME, 0);
        terminal.setAttributes(attributes);
    }

    /** Restores the terminal if {@link #keepKeys} has changed it and it has not been opened. */
    static void release() throws IOException {
        Tty tty = early;
        early = null;
        if (tty != null) tty.close();
    }

    /** Returns null if the terminal cannot be used. */
    private static Tty create() throws IOException {
        try {
            // Do not query the terminal: late replies would be read as keys.
            Terminal terminal = TerminalBuilder.builder()
                    .system(true)
                    .dumb(false)
                    .provider("exec")
                    .graphemeCluster(false)
                    .nativeSignals(false) // it would handle SIGTSTP too
                    .build();
            Tty tty = new Tty(terminal);
            Runtime.getRuntime().addShutdownHook(tty.restoreHook);
            return tty;
        } catch (IllegalStateException e) {
            return null; // no terminal, or no stty
        }
    }

    /** Takes over the terminal. Returns null if that is not possible. */
    static Tty open(
            Queue<TerminalUi.Event> events,
            KeyListener keys,
            TerminalUi.Event resized,
            TerminalUi.Event quit,
            boolean mouse)
            throws IOException {
        Tty tty = early;
        early = null;
        if (tty == null) tty = create();
        else tty.measure(); // may have changed
        if (tty == null) return null;
        Tty opened = tty;
        tty.mouse = mouse && !isBasic();
        Signals.register(
                "WINCH",
                () -> events.add(() -> {
                    opened.measure();
                    resized.handle();
                }));
        Signals.register(
                "CONT",
                () -> events.add(() -> {
                    opened.take(); // a shell may have changed it
                    opened.measure();
                    resized.handle();
                }));
        tty.take();
        Thread reader = new DaemonThread(() -> KeyReader.run(events, keys, quit), "taskclock-keys");
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
        if (mouse) terminal.writer().write(MOUSE_ON);
        terminal.flush();
    }

    /**
     * Restores the terminal. Bypasses the library, which may already have closed its side when the shutdown hook runs.
     */
    private synchronized void restore() {
        if (!taken && !quiet) return;
        try {
            @SuppressWarnings("resource") // closing it would close standard output
            FileOutputStream out = new FileOutputStream(FileDescriptor.out);
            String sequence = (mouse ? MOUSE_OFF : "") + restoreSequence;
            if (taken) out.write(sequence.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            // the terminal is closed
        }
        taken = false;
        quiet = false;
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

    /** Returns whether the terminal has only the characters and functions of a VT100 or of the Linux console. */
    private static boolean isBasic() {
        return System.getenv().getOrDefault("TERM", "").matches("(linux|vt|ansi|cons).*");
    }

    /** Returns whether the terminal shows characters outside ASCII, such as arrows. */
    boolean isUnicode() {
        // On JDK 17, the library writes UTF-8 whatever the locale says.
        String locale = System.getProperty("native.encoding", "US-ASCII");
        return !isBasic()
                && terminal.outputEncoding().newEncoder().canEncode('▼')
                && Charset.isSupported(locale)
                && Charset.forName(locale).newEncoder().canEncode('▼');
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
}
