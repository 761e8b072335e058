// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A terminal that runs a shell, for tests that read the screen. */
final class Tmux implements AutoCloseable {
    /** Long enough that only a hang exceeds it. */
    private static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final String server = "taskclock-test-" + ProcessHandle.current().pid() + "-" + System.nanoTime();
    private int commands;

    Tmux(int columns, int rows) throws Exception {
        boolean installed = false;
        try {
            installed = new ProcessBuilder("tmux", "-V").start().waitFor() == 0;
        } catch (IOException e) {
            // reported below
        }
        assumeTrue(installed, "NOT RUN: tmux is not installed");
        List<String> shell = List.of(
                "env",
                "-u",
                "NO_COLOR",
                "LC_ALL=C.UTF-8",
                "XDG_CONFIG_HOME=/nonexistent", // not the settings of the user who runs the tests
                "PS1=ready> ",
                "bash",
                "--norc",
                "-i");
        List<String> start = new ArrayList<>(
                List.of("-u", "-f", "/dev/null", "new-session", "-d", "-x", columns + "", "-y", rows + ""));
        start.addAll(shell);
        run(start.toArray(String[]::new));
        run("set-option", "-g", "window-size", "manual");
        await("ready>");
    }

    private String run(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("tmux", "-L", server));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(command + ": " + out).isZero();
        return out;
    }

    /**
     * Types a line that ends with the number of the command, for {@link #awaitEnd}. The screen may still show that of
     * the previous command.
     */
    void start(String line) throws Exception {
        commands++;
        type(line + "; echo end-$((" + (commands - 1) + "+1))-of-command");
    }

    /** Waits until the last command that was started has ended, and returns the screen. */
    String awaitEnd() throws Exception {
        return await("end-" + commands + "-of-command");
    }

    /** Types a line and presses Enter. */
    void type(String line) throws Exception {
        run("send-keys", "-l", line);
        run("send-keys", "Enter");
    }

    /** Presses keys by their tmux names, such as F3, Escape or C-c; other text is typed. */
    void press(String... keys) throws Exception {
        List<String> command = new ArrayList<>(List.of("send-keys"));
        command.addAll(List.of(keys));
        run(command.toArray(String[]::new));
    }

    /** Sends the reports of a pressed mouse button and of its release, once for each click. Positions are from 0. */
    void click(int column, int row, int clicks) throws Exception {
        String position = ";" + (column + 1) + ";" + (row + 1);
        run("send-keys", "-l", ("\u001b[<0" + position + "M\u001b[<0" + position + "m").repeat(clicks));
    }

    /** Sends the report of a turn of the mouse wheel. */
    void wheel(int column, int row, boolean up) throws Exception {
        run("send-keys", "-l", "\u001b[<" + (up ? 64 : 65) + ";" + (column + 1) + ";" + (row + 1) + "M");
    }

    /** Clicks the first occurrence of the text on the screen. */
    void click(String text) throws Exception {
        click(text, 1);
    }

    void doubleClick(String text) throws Exception {
        click(text, 2);
    }

    private void click(String text, int clicks) throws Exception {
        String[] lines = await(text).split("\n", -1);
        for (int row = 0; row < lines.length; row++) {
            int at = lines[row].indexOf(text);
            if (at < 0) continue;
            click(CellFormat.width(lines[row].substring(0, at)), row, clicks);
            return;
        }
    }

    void resize(int columns, int rows) throws Exception {
        run("resize-window", "-x", columns + "", "-y", rows + "");
    }

    String screen() throws Exception {
        return run("capture-pane", "-p");
    }

    /** Returns the screen with its colors as escape sequences. */
    String screenWithColors() throws Exception {
        return run("capture-pane", "-p", "-e");
    }

    /** Returns whether the alternate screen is active and the cursor is visible. */
    String state() throws Exception {
        return run("display-message", "-p", "alternate #{alternate_on} cursor #{cursor_flag}")
                .strip();
    }

    /** Returns whether the program has asked for mouse reports. */
    String mouse() throws Exception {
        return run("display-message", "-p", "mouse #{mouse_any_flag} sgr #{mouse_sgr_flag}")
                .strip();
    }

    /** Returns the settings of the terminal, as stty prints them. */
    String settings() throws Exception {
        String device = run("display-message", "-p", "#{pane_tty}").strip();
        Process process = new ProcessBuilder("stty", "-a", "-F", device).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).replaceAll("\\s+", " ");
    }

    String await(String text) throws Exception {
        return await(text, screen -> screen.contains(text));
    }

    /** Returns the first stable screen that matches. Ignores screens that are still being drawn. */
    String await(String description, Predicate<String> matches) throws Exception {
        String screen = "";
        for (long start = System.nanoTime(); System.nanoTime() - start < TIMEOUT_NANOS; Thread.sleep(20)) {
            String before = screen;
            screen = screen();
            if (screen.equals(before) && matches.test(screen)) return screen;
        }
        throw new AssertionError("expected " + description + ", but the screen is:\n" + screen);
    }

    @Override
    public void close() throws IOException {
        try {
            run("kill-server");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
