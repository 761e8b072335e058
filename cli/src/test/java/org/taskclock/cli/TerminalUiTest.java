// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

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
import org.taskclock.internal.JdkVersions;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.recording.RecordingWriter;
import org.taskclock.testing.LoadJvm;

/** The terminal interface in a real terminal. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
class TerminalUiTest {
    @TempDir
    Path directory;

    private void start(Tmux tmux, String environment) throws Exception {
        new TerminalProgram(tmux, directory).start(environment);
    }

    private void run(Tmux tmux, String environment, String program) throws Exception {
        new TerminalProgram(tmux, directory).run(environment, program);
    }

    private void assertRestored(Tmux tmux) throws Exception {
        new TerminalProgram(tmux, directory).assertRestored();
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
                            "CPU%▼USER%  SYS%",
                            SyntheticJvm.WIDE,
                            "worker-1\n");
            assertThat(screen)
                    .containsPattern(
                            "\n +101 R +98\\.0 +10\\.0 +88\\.0 +0\\.1 +0\\.0 +9876 \\|#{7} +\u2588+ worker-1\n")
                    .contains("\nhistory   \u2588", " max 205.0 %");
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

    private Path writeRecording(int intervals) throws Exception {
        Path file = directory.resolve("findings.gz");
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < intervals; i++) {
                String[] found = i % 100 >= 40 && i % 100 < 45 ? new String[] {"gc"} : new String[0];
                writer.write(HistoryTest.interval(i, Map.of(1, i % 100, 2, i == 141 ? 90 : 20), found));
            }
            writer.end("test");
        }
        return file;
    }

    @Test
    void shouldShowWhereItIsInARecordingAndJumpToFindings() throws Exception {
        Path file = writeRecording(300);
        String environment = "NO_COLOR=1 TZ=UTC XDG_CONFIG_HOME=" + directory; // R changes the settings
        try (Tmux tmux = new Tmux(80, 24)) {
            run(tmux, environment, "-jar " + System.getProperty("cli.jar") + " replay " + file);
            tmux.await("the whole file to be read", s -> s.contains("position  ") && !s.contains("(reading"));
            tmux.press(")");
            String screen = tmux.await("41 of 300  2026-11-21 10:00:41  0:41 of 5:00\n");
            assertThat(screen)
                    .contains("\nhistory   ", " max 131.0 %", "! gc: gc was found", "10:00:00  ", "  10:05:00");
            assertThat(screen).containsPattern("\n10:00:00 +G+ +G+ +G+ +10:05:00\n");
            tmux.press(")");
            screen = tmux.await("141 of 300  2026-11-21 10:02:21  2:21 of 5:00\n");
            // The row shows the intervals before, which are in the file, but have not been shown.
            assertThat(screen).containsPattern("[\u2581-\u2588]{6} worker-1\n");
            tmux.press("]", "R");
            screen = tmux.await("Sorted by rise");
            assertThat(screen).containsPattern("(?s)RISE\u25bc.*\\+70.0 worker-2\n.*worker-1\n");
            tmux.press("F2");
            tmux.await("evidence");
            tmux.press(")");
            tmux.await("241 of 300  ");
            tmux.press(")");
            tmux.await("No later finding in the recording", s -> s.contains("241 of 300"));
            tmux.press("q");
            tmux.await(" worker-2\n");
            tmux.press("(", "(");
            tmux.await("41 of 300  2026-11-21 10:00:41");
            tmux.press("(");
            tmux.await("No earlier finding in the recording");
            tmux.press("q");
            assertRestored(tmux);
        }
    }

    @Test
    void shouldUseAsciiWhereBlocksCannotBeShown() throws Exception {
        Path file = writeRecording(50);
        try (Tmux tmux = new Tmux(80, 24)) {
            String replay = "-jar " + System.getProperty("cli.jar") + " replay --at +30s " + file;
            for (String environment : new String[] {"LC_ALL=C", "TERM=vt100"}) {
                Files.deleteIfExists(directory.resolve("after"));
                run(tmux, "NO_COLOR=1 TZ=UTC " + environment, replay);
                tmux.await("position  ");
                tmux.press("p");
                String screen = tmux.await("paused", s -> s.contains("paused") && !s.contains("(reading"));
                assertThat(screen).contains("\nhistory   ::").matches("(?s)[\\n -~]*");
                tmux.press("q");
                assertRestored(tmux);
            }
        }
    }

    /** Returns the time at which the interval ended. */
    private static String time(String screen) {
        return screen.replaceFirst("(?s)^(?:[0-9-]{10} )?([0-9:]{8}).*", "$1");
    }

    @Test
    void shouldShowWhoHoldsALock() throws Exception {
        try (LoadJvm convoy = LoadJvm.start("convoy=4");
                Tmux tmux = new Tmux(160, 30)) {
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
    void shouldLoadTheAgentOnRequest() throws Exception {
        assumeThat(Runtime.version().feature())
                .describedAs("virtual threads")
                .isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        try (Tmux tmux = new Tmux(100, 30);
                LoadJvm load = LoadJvm.start("virtual=4")) {
            String pid = Long.toString(load.pid());
            run(tmux, "NO_COLOR=1", "-jar " + System.getProperty("cli.jar") + " top " + pid + " 0.5");
            String screen = tmux.await("; press A to load the agent, which shows them");
            assertThat(screen).contains("/proc").doesNotContain("request-#");
            tmux.press("A");
            tmux.await("Load the agent into process " + pid);
            tmux.press("n");
            tmux.await("The agent was not loaded");
            assertThat(TargetJvm.of(load.pid()).state()).isNull();
            tmux.press("A", "y");
            tmux.await("Agent loaded into process " + pid + "; to remove it, run taskclock detach " + pid);
            screen = tmux.await("request-#");
            assertThat(screen).contains("running  agent").doesNotContain("press A");
            tmux.press("F2");
            tmux.await("taskclock detach " + pid);
            tmux.press("q", "q");
            assertRestored(tmux);
            // It stays, without the features that the view does not need.
            assertThat(TargetJvm.of(load.pid()).state()).contains("vthreads=on", "threadmxbean=off");
        }
        try (Tmux tmux = new Tmux(100, 30);
                LoadJvm load = LoadJvm.start("-Dtaskclock.library.path=/nonexistent", "virtual=4")) {
            run(tmux, "NO_COLOR=1", "-jar " + System.getProperty("cli.jar") + " top " + load.pid() + " 0.5");
            tmux.await("; press A to load the agent, which shows them");
            tmux.press("A", "y");
            tmux.await("Agent not loaded: process " + load.pid() + ": there is no file /nonexistent");
            tmux.press("q");
            assertRestored(tmux);
        }
    }

    @Test
    void shouldWatchAJvm() throws Exception {
        try (Tmux tmux = new Tmux(100, 50)) {
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
