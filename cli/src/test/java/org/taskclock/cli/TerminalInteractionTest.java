// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.taskclock.monitor.recording.RecordingWriter;

/** Keys, prompts, menus, saved settings and the mouse, in a real terminal. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
class TerminalInteractionTest {
    private static final int WIDTH = 100;
    private static final int HEIGHT = 24;

    /** Changes colors and other attributes of the text. */
    private static final Pattern STYLE = Pattern.compile("\u001b\\[([0-9;]*)m");

    @TempDir
    Path directory;

    /** Returns the line that is selected: the first one in inverse video below the titles. */
    private static String selectedLine(Tmux tmux) throws Exception {
        boolean inverse = false; // lasts until it is reset, also over the end of a line
        for (String line : tmux.screenWithColors().split("\n", -1)) {
            Matcher style = STYLE.matcher(line);
            while (style.lookingAt()) {
                inverse = isInverse(style.group(1), inverse);
                style.region(style.end(), line.length());
            }
            String text = STYLE.matcher(line).replaceAll("").strip();
            if (inverse && !text.contains("NAME")) return text;
            while (style.find()) inverse = isInverse(style.group(1), inverse);
        }
        return "";
    }

    private static boolean isInverse(String parameters, boolean before) {
        boolean inverse = before;
        for (String parameter : parameters.split(";", -1)) {
            if (parameter.equals("7")) inverse = true;
            else if (parameter.isEmpty() || parameter.equals("0") || parameter.equals("27")) inverse = false;
        }
        return inverse;
    }

    private static void awaitSelected(Tmux tmux, String name) throws Exception {
        tmux.await("the selected row " + name, screen -> {
            try {
                return selectedLine(tmux).endsWith(" " + name);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** Returns whether the table shows one thread above another. */
    private static boolean isBefore(String screen, String upper, String lower) {
        int row = screen.indexOf(" " + upper + "\n");
        return row >= 0 && row < screen.indexOf(" " + lower + "\n");
    }

    @Test
    void shouldFollowTheThreadThatWasFound() throws Exception {
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.start("");
            tmux.await("worker-1\n");
            tmux.press("/", "w", "o", "r", "k", "e", "r", "-", "1", "Enter");
            awaitSelected(tmux, "worker-1");
            Files.createFile(directory.resolve("ended.idle")); // it moves below the others in the next interval
            tmux.await("another order", s -> isBefore(s, "worker-2", "worker-1"));
            awaitSelected(tmux, "worker-1");
            assertThat(tmux.screen()).contains("following");

            tmux.press("Home", "t");
            tmux.await("+ worker-# (3)");
            assertThat(tmux.screen()).doesNotContain("worker-3");
            tmux.press("/", "w", "o", "r", "k", "e", "r", "-", "3", "Enter");
            tmux.await("- worker-# (3)");
            awaitSelected(tmux, "worker-3");
            Files.delete(directory.resolve("ended.idle"));
            tmux.await("worker-1 on top again", s -> isBefore(s, "worker-1", "worker-2"));
            awaitSelected(tmux, "worker-3");
            tmux.press("q");
            program.assertRestored();
        }
    }

    @Test
    void shouldMarkInvalidInputAndKeepIt() throws Exception {
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.start("");
            tmux.await("worker-1\n");
            tmux.press("F4", "g", "c");
            tmux.await("the filter", s -> s.contains("GC Thread#0") && !s.contains(" worker-1\n"));
            tmux.press("(");
            tmux.await("Filter: gc(_   Not applied, invalid expression: Unclosed group");
            assertThat(tmux.screen()).contains("GC Thread#0").doesNotContain("worker-1\n");
            assertThat(lastLine(tmux)).containsPattern("\u001b\\[[0-9;]*31m[^\u001b]*gc\\(_");
            tmux.press("Enter");
            tmux.press("BSpace"); // still open
            String screen = tmux.await("Filter: gc_\n");
            assertThat(screen).doesNotContain("Not applied");
            tmux.press("C-u", "Enter");
            tmux.await("worker-1\n");

            tmux.press("d", "0", "x", "Enter");
            tmux.await("Interval in seconds: 0x_   Not applied: must be from 0.1 to 3600 seconds");
            assertThat(lastLine(tmux)).containsPattern("\u001b\\[[0-9;]*31m[^\u001b]*0x_");
            tmux.press("BSpace", ".", "5", "Enter");
            tmux.await("the prompt closed", s -> !s.contains("Interval in seconds") && s.contains("F1 Help"));
            tmux.press("q");
            program.assertRestored();
        }
    }

    private static String lastLine(Tmux tmux) throws Exception {
        return tmux.screenWithColors().lines().reduce("", (a, b) -> b);
    }

    @Test
    void shouldKeepKeysTypedDuringTheStart() throws Exception {
        Path wait = Files.createFile(directory.resolve("ended.wait"));
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.start("");
            tmux.await("slow start");
            assertThat(tmux.settings()).contains(" -echo ", " isig ");
            String before = tmux.screen();
            tmux.press("t", "/", "x", "BSpace", "w", "o", "r", "k", "e", "r", "-", "3", "Enter", "Space");
            assertThat(tmux.screen()).isEqualTo(before);
            Files.delete(wait);
            tmux.await("*  worker-3");
            tmux.press("q");
            program.assertRestored();
            assertThat(tmux.screen()).contains("slow start\nOutcome[");
        }
        Files.createFile(wait);
        Files.delete(directory.resolve("after"));
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.start("");
            tmux.await("slow start");
            tmux.press("C-c");
            program.assertRestored();
            assertThat(tmux.screen()).contains("status 130");
        }
    }

    @Test
    void shouldNotChangeTheTerminalIfTheCommandFails() throws Exception {
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.run("", "-jar " + System.getProperty("cli.jar") + " top 999999999");
            program.assertRestored();
            assertThat(tmux.screen()).contains("there is no process 999999999", "status 4\n");
        }
    }

    @Test
    void shouldShowTheDirectionOfTheOrder() throws Exception {
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.start("");
            tmux.await("CPU%▼USER%");
            tmux.press("I");
            tmux.await("CPU%▲USER%");
            tmux.press("N");
            tmux.await("TID▲S");
            tmux.press("I", "I", "I");
            tmux.await("TID▼S");
            tmux.press("S");
            tmux.await("SYS%▼");
            tmux.press("q");
            program.assertRestored();
            for (String environment : new String[] {"LC_ALL=C", "TERM=linux"}) {
                Files.delete(directory.resolve("after"));
                program.start(environment);
                tmux.await("CPU%vUSER%");
                tmux.press("I");
                tmux.await("CPU%^USER%");
                assertThat(tmux.mouse())
                        .isEqualTo(environment.equals("TERM=linux") ? "mouse 0 sgr 0" : "mouse 1 sgr 1");
                tmux.press("q");
                program.assertRestored();
            }
        }
    }

    @Test
    void shouldRememberColumnsAndOrder() throws Exception {
        Path file = directory.resolve("config/taskclock/top.properties");
        String top = "-jar " + System.getProperty("cli.jar") + " top --demo";
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            String config = "XDG_CONFIG_HOME=" + directory.resolve("config");
            program.run(config, top);
            tmux.await("compute-1");
            tmux.press("F1");
            tmux.await("choose and order columns");
            tmux.press("q", "q");
            program.assertRestored();
            assertThat(file.getParent().getParent()).doesNotExist();

            Files.delete(directory.resolve("after"));
            program.run(config, top);
            tmux.await("compute-1");
            tmux.press("C");
            tmux.await("Columns (Space");
            tmux.click("user  ");
            tmux.await("[ ] user");
            tmux.press("End", "Up", "Up"); // KIND
            tmux.await("the kind", s -> selectedText(tmux).contains("kind"));
            tmux.press("Space", "<", "<");
            tmux.await("CPU%▼ SYS%");
            tmux.press("Enter", "t", "S", "2");
            tmux.await("SYS%▼");
            tmux.press("q");
            program.assertRestored();
            assertThat(file)
                    .content()
                    .contains("sort=system\n", "pools=true\n", "interval=2.0\n", "columns=")
                    .doesNotContain("user,");
            assertThat(file.getParent()).isDirectoryNotContaining("glob:**.tmp");

            String saved = Files.readString(file);
            Files.delete(directory.resolve("after"));
            program.run(config, top + " --sort cpu");
            tmux.await("the saved columns", s -> s.contains("CPU%▼ SYS%") && s.contains("+ pool-#"));
            tmux.press("q");
            program.assertRestored();
            assertThat(file).hasContent(saved);

            Files.delete(directory.resolve("after"));
            program.run(config, top + " --no-config");
            tmux.await("CPU%▼USER%");
            tmux.press("S");
            tmux.await("SYS%▼");
            tmux.press("q");
            program.assertRestored();
            assertThat(file).hasContent(saved);
        }
    }

    private static String selectedText(Tmux tmux) {
        try {
            return selectedLine(tmux);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldUseTheDefaultsIfTheSettingsAreDamagedOrCannotBeSaved() throws Exception {
        Path file = directory.resolve("taskclock/top.properties");
        Files.createDirectory(file.getParent());
        Files.writeString(file, "sort=size\n");
        String top = "-jar " + System.getProperty("cli.jar") + " top --demo";
        try (Tmux tmux = new Tmux(160, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.run("XDG_CONFIG_HOME=" + directory, top);
            tmux.await("CPU%▼USER%");
            tmux.press("q");
            program.assertRestored();
            assertThat(tmux.screen().replace("\n", ""))
                    .contains("taskclock: " + file + ": invalid setting \"sort=size\": using the defaults");
            assertThat(file).hasContent("sort=size\n");

            Files.delete(directory.resolve("after"));
            program.run("XDG_CONFIG_HOME=/proc", top);
            tmux.await("CPU%▼USER%");
            tmux.press("S");
            tmux.await("SYS%▼");
            tmux.press("q");
            program.assertRestored();
            assertThat(tmux.screen()).contains("status 0");
        }
    }

    @Test
    void shouldRespondToTheMouse() throws Exception {
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.start("");
            tmux.await("worker-1\n");
            assertThat(tmux.mouse()).isEqualTo("mouse 1 sgr 1");
            tmux.click("worker-2");
            awaitSelected(tmux, "worker-2");
            tmux.click("SYS%");
            tmux.await("SYS%▼");
            tmux.click("SYS%");
            tmux.await("SYS%▲");
            tmux.click("CPU%");
            tmux.await("CPU%▼");
            tmux.press("Home");
            for (int i = 0; i < 3; i++) tmux.wheel(10, 15, false);
            tmux.await("scrolled", s -> !s.contains("worker-1\n"));
            for (int i = 0; i < 4; i++) tmux.wheel(10, 15, true);
            tmux.await("worker-1\n");

            tmux.click("F5 Pools");
            tmux.await("+ worker-# (3)");
            tmux.click("+ worker-# (3)");
            tmux.await("- worker-# (3)");
            tmux.click(2, row(tmux, "- worker-# (3)"), 2); // not on the marker
            tmux.await("+ worker-# (3)");
            tmux.doubleClick("GC Thread#0");
            tmux.await("\"GC Thread#0\" tid=500");
            tmux.press("q");
            tmux.click("F1 Help");
            tmux.await("select a row");
            tmux.press("NPage");
            tmux.await("double click");
            tmux.press("q");
            tmux.click("F6 Sort");
            tmux.await("Sort by");
            tmux.click("voluntary  VOL/s");
            tmux.press("Enter");
            tmux.await("VOL/s▼");
            tmux.press("C-z");
            tmux.await("Stopped");
            assertThat(tmux.mouse()).isEqualTo("mouse 0 sgr 0");
            tmux.type("fg");
            tmux.await("VOL/s▼");
            assertThat(tmux.mouse()).isEqualTo("mouse 1 sgr 1");
            tmux.press("Down");
            tmux.click("q Quit");
            program.assertRestored();

            Files.delete(directory.resolve("after"));
            program.start("", "-Dno-mouse=true");
            tmux.await("worker-1\n");
            assertThat(tmux.mouse()).isEqualTo("mouse 0 sgr 0");
            new ProcessBuilder("kill", Files.readString(directory.resolve("ended.pid"))).start();
            program.assertRestored();
            Files.delete(directory.resolve("after"));
            program.start("");
            tmux.await("worker-1\n");
            assertThat(tmux.mouse()).isEqualTo("mouse 1 sgr 1");
            new ProcessBuilder("kill", Files.readString(directory.resolve("ended.pid"))).start();
            program.assertRestored();
        }
    }

    private static int row(Tmux tmux, String text) throws Exception {
        return (int)
                tmux.screen().lines().takeWhile(line -> !line.contains(text)).count();
    }

    @Test
    void shouldSwitchToAJvmThatTakesLongToOpen() throws Exception {
        Path open = Files.createFile(directory.resolve("ended.open"));
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.start("");
            tmux.await("worker-1\n");
            tmux.press("c");
            tmux.await("other.jar");
            tmux.press("Down", "Enter");
            tmux.await("Opening process 4712 ...");
            Thread.sleep(500); // more than two intervals
            Files.delete(open);
            tmux.await("4712 other.jar\n");
            Thread.sleep(500);
            assertThat(tmux.screen()).contains("4712 other.jar\n").doesNotContain("Opening");
            tmux.press("q");
            program.assertRestored();
        }
    }

    @Test
    void shouldPrintTextIfTheTerminalCannotBeUsed() throws Exception {
        Path file = directory.resolve("recording.gz");
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < 2; i++) writer.write(SyntheticJvm.interval(4711, i));
            writer.end("test");
        }
        try (Tmux tmux = new Tmux(WIDTH, HEIGHT)) {
            TerminalProgram program = new TerminalProgram(tmux, directory);
            program.run("PATH=/nonexistent", "-jar " + System.getProperty("cli.jar") + " replay --limit 1 " + file);
            program.assertRestored();
            assertThat(tmux.screen()).contains("org.example.Main (4711), 1.0 s", "status 0");
        }
    }
}
