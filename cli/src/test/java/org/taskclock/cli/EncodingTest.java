// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names outside ASCII in JSON, and escape sequences, on systems without a locale or a terminal. */
@Tag("slow17")
class EncodingTest {
    /** The last character is a surrogate pair in Java. The kernel keeps 15 bytes. */
    private static final String NAME = "w\u00f6rker-\u65e5-\ud83d\ude00";

    private static final String SHORT_NAME = "w\u00f6-\ud83d\ude00";

    /** Keeps two threads with these names busy. */
    static final class Unicode {
        private Unicode() {}

        public static void main(String[] args) throws InterruptedException {
            Thread busy = new Thread(Unicode::yieldForever, NAME);
            busy.start();
            new Thread(Unicode::yieldForever, SHORT_NAME).start();
            System.out.println("ready");
            busy.join();
        }

        @SuppressWarnings("ThreadPriorityCheck")
        private static void yieldForever() {
            while (true) Thread.yield();
        }
    }

    private static String runInC(String... arguments) throws Exception {
        ProcessBuilder builder = CliResult.builder(arguments);
        builder.environment().put("LC_ALL", "C");
        Process process = builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(CliResult.exitCode(process)).as(out).isEqualTo(Main.OK);
        return out;
    }

    @Test
    void shouldPrintJsonInUtf8InAnyLocale(@TempDir Path directory) throws Exception {
        Process target = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Unicode.class.getName())
                .start();
        try (BufferedReader output = target.inputReader()) {
            assertThat(output.readLine()).isEqualTo("ready");
            String pid = Long.toString(target.pid());
            for (String format : List.of("--json", "--csv"))
                assertThat(runInC("top", format, pid, "300ms", "1")).contains(NAME, SHORT_NAME);
            assertThat(runInC("top", "--json", "--no-attach", pid, "300ms", "1"))
                    .contains("\"w\u00f6rker-\u65e5-\"", '"' + SHORT_NAME + '"');
            Path recording = directory.resolve("recording.gz");
            runInC("record", pid, "200ms", "4", "-o", recording.toString());
            assertThat(runInC("replay", "--json", recording.toString())).contains(NAME);
            assertThat(runInC("diff", "--json", "--all", recording.toString(), recording.toString()))
                    .contains(NAME);
            Path times = directory.resolve("times.json");
            List<String> time =
                    new ArrayList<>(List.of("time", "-q", "--json", times.toString(), "--", "timeout", "3"));
            time.addAll(List.of(
                    ProcessHandle.current().info().command().orElseThrow(),
                    "-cp",
                    System.getProperty("java.class.path"),
                    Unicode.class.getName()));
            ProcessBuilder timed = CliResult.builder(time.toArray(String[]::new));
            timed.environment().put("LC_ALL", "C");
            timed.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
            CliResult.exitCode(timed.start());
            assertThat(Files.readString(times)).contains(NAME.replace("\ud83d\ude00", "") + "\ud83d\ude00");
        } finally {
            target.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldPrintNoEscapeSequencesWithoutACapableTerminal() throws Exception {
        String java = String.join(" ", CliResult.builder().command());
        try (Tmux tmux = new Tmux(120, 50)) {
            for (String environment : List.of("TERM=dumb", "-u TERM")) {
                for (String command :
                        List.of("--help", "top --help", "top --demo 200ms 1", "list", "doctr", "top -x")) {
                    tmux.start("clear; env " + environment + " " + java + " " + command);
                    tmux.awaitEnd();
                    // The shell and the command line are plain too.
                    assertThat(tmux.screenWithColors()).as(command).doesNotContain("\u001b");
                }
            }
            tmux.start("clear; " + java + " --help");
            tmux.awaitEnd();
            assertThat(tmux.screenWithColors()).contains("\u001b[");
        }
    }
}
