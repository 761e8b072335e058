// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.taskclock.monitor.RecordingWriter;
import org.taskclock.testing.LoadJvm;

/** The terminal interface in a real terminal. */
@Isolated("other tests would affect its measurements and the list of running JVMs")
class TerminalUiTest {
    @TempDir
    Path directory;

    private void start(Tmux tmux, String environment) throws Exception {
        String classes = Path.of(SyntheticJvm.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
        run(
                tmux,
                environment,
                "-cp " + System.getProperty("cli.jar") + ":" + classes + " org.taskclock.cli.SyntheticJvm ended");
    }

    private void run(Tmux tmux, String environment, String program) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java") + " -XX:TieredStopAtLevel=1 ";
        tmux.type("cd " + directory + "; clear; stty -g > before");
        tmux.type(environment + " " + java + program + "; echo status $?; stty -g > after; echo is-$((40+2))");
    }

    private void assertRestored(Tmux tmux) throws Exception {
        tmux.await("is-42");
        assertThat(directory.resolve("after")).hasSameTextualContentAs(directory.resolve("before"));
        assertThat(tmux.state()).isEqualTo("alternate 0 cursor 1");
    }

    @Test
    void shouldRespondToKeys() throws Exception {
        try (Tmux tmux = new Tmux(80, 24)) {
            start(tmux, "");
            String screen = tmux.await("taskclock 0.5 %"); // in the last line
            assertThat(screen)
                    .contains(
                            "4711 org.example.Main",
                            "! yield-storm: ",
                            "CPU% USER%  SYS%",
                            SyntheticJvm.WIDE,
                            "worker-1\n");
            assertThat(screen)
                    .containsPattern("\n +101 R +98\\.0 +10\\.0 +88\\.0 +0\\.1 +0\\.0 +9876 \\|#{7} worker-1\n");
            assertThat(tmux.state()).isEqualTo("alternate 1 cursor 0");
            assertThat(tmux.screenWithColors()).contains("\u001b[32m");

            tmux.press("N");
            tmux.await("by thread id", s -> s.indexOf(" worker-3") < s.indexOf(" http-1"));
            tmux.press("P", "/", "G", "C");
            tmux.await("Search: GC_");
            tmux.press("Enter", "Enter");
            tmux.await("\"GC Thread#0\" tid=500");
            assertThat(tmux.screen()).contains("    at example.Busy.spin(Busy.java:7)", "7.0 % in the last interval");
            tmux.press("Escape");
            tmux.await("worker-2\n");

            tmux.press("F4", "h", "t", "t", "p", "-", "1", "Enter");
            screen = tmux.await("filter: http-1");
            assertThat(screen).contains("http-19\n").doesNotContain("worker-2\n");
            tmux.press("F4", "C-u", "Enter", "t");
            tmux.await("+ worker-# (3)");
            tmux.press("Home", "Right");
            tmux.await("  worker-3\n");
            tmux.press("t", "F1");
            tmux.await("interval in seconds");
            tmux.press("q", "F2");
            tmux.await("java.lang.Thread.yield0 in 5 of 5 stacks");
            tmux.press("q", "p");
            screen = tmux.await("paused");
            Thread.sleep(500); // more than two intervals
            assertThat(tmux.screen()).isEqualTo(screen);
            tmux.press("p");
            tmux.await("running again", s -> !s.contains("paused"));

            tmux.resize(130, 40);
            screen = tmux.await("LIM%");
            assertThat(screen.lines().skip(39).findFirst())
                    .hasValueSatisfying(l -> assertThat(l).contains("F1 Help"));
            tmux.resize(40, 10);
            screen = tmux.await("ten lines", s -> s.lines().count() == 10 && s.contains("worker-1"));
            assertThat(screen.lines())
                    .allSatisfy(line -> assertThat(CellFormat.width(line)).isLessThanOrEqualTo(40));
            tmux.resize(80, 24);
            tmux.press("c");
            tmux.await("other.jar");
            tmux.press("Down", "Enter");
            tmux.await("4712 other.jar\n");
            tmux.press("q");
            assertRestored(tmux);
            assertThat(tmux.screen())
                    .contains("status 0")
                    .contains("Outcome[terminalUsed=true, reason=]")
                    .doesNotContain("worker");
        }
    }

    @Test
    void shouldRestoreTheTerminalOnAnyExit() throws Exception {
        try (Tmux tmux = new Tmux(80, 24)) {
            for (String signal : new String[] {"C-c", "TERM", "HUP"}) {
                Files.deleteIfExists(directory.resolve("after"));
                start(tmux, "");
                tmux.await("worker-1\n");
                if (signal.equals("C-c")) tmux.press(signal);
                else new ProcessBuilder("kill", "-" + signal, Files.readString(directory.resolve("ended.pid"))).start();
                assertRestored(tmux);
                String status = signal.equals("TERM") ? "status 143" : signal.equals("HUP") ? "status 129" : "status 0";
                assertThat(tmux.screen()).as(signal).contains(status);
            }
            start(tmux, "");
            tmux.await("worker-1\n");
            tmux.press("C-z");
            tmux.await("Stopped");
            assertThat(tmux.state()).isEqualTo("alternate 0 cursor 1");
            tmux.type("fg");
            tmux.await("worker-1\n");
            tmux.press("q");
            assertRestored(tmux);
        }
    }

    @Test
    void shouldKeepTheLastIntervalWhenTheTargetExits() throws Exception {
        try (Tmux tmux = new Tmux(80, 24)) {
            start(tmux, "TERM=dumb");
            assertRestored(tmux);
            assertThat(tmux.screen()).contains("no terminal");
            Files.delete(directory.resolve("after"));

            start(tmux, "NO_COLOR=1");
            tmux.await("worker-1\n");
            assertThat(tmux.screenWithColors()).doesNotContain("\u001b[32m").doesNotContain("\u001b[31m");
            Files.createFile(directory.resolve("ended"));
            tmux.await("process 4711 has exited");
            tmux.press("F4", "h", "t", "t", "p", "Enter");
            tmux.await("filter: http");
            tmux.press("q");
            assertRestored(tmux);
            assertThat(tmux.screen())
                    .contains("http-12\n", "Outcome[terminalUsed=true, reason=process 4711 has exited]");
        }
    }

    @Test
    void shouldStepThroughARecording() throws Exception {
        Path file = directory.resolve("recording.gz");
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < 200; i++) writer.write(SyntheticJvm.interval(4711, i));
            writer.end("test");
        }
        try (Tmux tmux = new Tmux(80, 24)) {
            run(tmux, "NO_COLOR=1 TZ=UTC", "-jar " + System.getProperty("cli.jar") + " replay --at +10s " + file);
            tmux.await("taskclock 0.5 %");
            tmux.press("p");
            tmux.await("paused");
            tmux.press("{"); // stops at the first interval
            tmux.await("the start", screen -> time(screen).equals("08:00:00"));
            tmux.press("}");
            tmux.await("a minute later", screen -> time(screen).equals("08:01:00"));
            tmux.press("]", "]");
            tmux.await("two intervals later", screen -> time(screen).equals("08:01:02"));
            tmux.press("[");
            tmux.await("one back", screen -> time(screen).equals("08:01:01"));
            tmux.press("{");
            tmux.await("a minute back", screen -> time(screen).equals("08:00:01"));
            tmux.press("}", "}", "}", "}");
            tmux.await("its last interval", screen -> time(screen).equals("08:03:19"));
            tmux.press("q");
            assertRestored(tmux);
            assertThat(tmux.screen()).contains("status 0");
        }
    }

    /** Returns the time at which the interval ended. */
    private static String time(String screen) {
        return screen.replaceFirst("(?s)^(?:[0-9-]{10} )?([0-9:]{8}).*", "$1");
    }

    @Test
    void shouldShowWhoHoldsALock() throws Exception {
        try (LoadJvm convoy = LoadJvm.start("convoy=4");
                Tmux tmux = new Tmux(140, 30)) {
            run(tmux, "NO_COLOR=1", "-jar " + System.getProperty("cli.jar") + " top --filter lock- " + convoy.pid());
            tmux.await("the owner", s -> s.contains("BLOCKED  ") && s.contains(" lock-owner "));
            String screen = tmux.await("lock-convoy: thread \"lock-owner\" holds a lock that 3 threads wait for");
            assertThat(screen).containsPattern("\nheap +[0-9.]+[KM] used, [0-9.]+M committed, 128.0M max");
            tmux.press("F2");
            tmux.await("3 threads waited in each sample for");
            tmux.press("q", "/", "w", "a", "i", "t", "e", "r", "-", "2", "Enter", "Enter");
            tmux.await("BLOCKED, waits to acquire java.util.BitSet 0x");
            tmux.await("waiting to lock <0x"); // in its stack
            assertThat(tmux.screen()).contains("held by \"lock-owner\", thread ");
            tmux.press("q", "q");
            assertRestored(tmux);
        }
    }

    @Test
    void shouldWatchAJvm() throws Exception {
        try (Tmux tmux = new Tmux(100, 30)) {
            run(tmux, "NO_COLOR=1", "-jar " + System.getProperty("cli.jar") + " top --demo --sort name");
            String screen = tmux.await("compute-1", s -> s.contains("compute-1") && s.contains("yielder"));
            Matcher heading = Pattern.compile("threads, .* ([0-9]+) org\\.taskclock\\.cli\\.Demo")
                    .matcher(screen);
            assertThat(heading.find()).isTrue();
            tmux.press("/", "c", "o", "m", "p", "u", "t", "e", "-", "1", "Enter", "Enter");
            tmux.await("org.taskclock.cli.Demo.compute");
            tmux.press("q");
            long demo = Long.parseLong(heading.group(1));
            assertThat(ProcessHandle.of(demo).orElseThrow().destroyForcibly()).isTrue();
            tmux.await("process " + demo + " has ");
            tmux.press("q");
            assertRestored(tmux);
            assertThat(tmux.screen()).contains("compute-1", "taskclock: process " + demo + " has ", "status 4");
        }
    }
}
