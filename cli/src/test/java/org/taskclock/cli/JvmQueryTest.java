// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.testing.LoadJvm;

/** Selection of a JVM by name and by command line, if two JVMs have the same name. */
@Isolated("other tests would affect the list of running JVMs")
@Tag("slow17")
class JvmQueryTest {
    private static LoadJvm first;
    private static LoadJvm second;

    @BeforeAll
    static void start() throws Exception {
        first = LoadJvm.start("-Dserver.port=8081", "busy");
        second = LoadJvm.start("-Dserver.port=8082", "busy");
    }

    @AfterAll
    static void end() {
        first.close();
        second.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "top loadPROGRAM",
                "top -p loadprogram",
                "top --match server.port=808",
                "check LoadProgram --cpu 1%",
                "record LoadProgram -o never-written.gz",
                "yields LoadProgram",
                "attach LoadProgram",
                "detach LoadProgram",
                "status LoadProgram"
            })
    void shouldRejectAnAmbiguousName(String command) throws Exception {
        CliResult child = CliResult.runHere(command.split(" ", -1));
        assertThat(child.exitCode()).as(child.toString()).isEqualTo(Main.USAGE);
        assertThat(child.out()).isEmpty();
        String name = "org.taskclock.testing.LoadProgram (" + System.getProperty("user.name") + ")";
        assertThat(child.err())
                .startsWith("taskclock: \"")
                .contains("\" matches 2 JVMs: ", first.pid() + " " + name, second.pid() + " " + name)
                .contains("specify a process id")
                .hasLineCount(1);
    }

    @Test
    void shouldSelectByCommandLine() throws Exception {
        CliResult top = CliResult.runHere("top", "-b", "--match", "SERVER.port=8082", "300ms", "1");
        assertThat(top.exitCode()).as(top.toString()).isEqualTo(Main.OK);
        assertThat(top.out()).contains("LoadProgram (" + second.pid() + ")");
        CliResult check = CliResult.runHere("check", "--match", "port=8081", "--cpu", "0%", "--for", "300ms");
        assertThat(check.exitCode()).as(check.toString()).isEqualTo(Main.THRESHOLD);
    }

    /** The command line of a recorder contains the text that it looks for. */
    @Test
    void shouldNotSelectAnotherRunOfItself() throws Exception {
        Process recorder = CliResult.builder("record", "--match", "port=8081", "-o", "/dev/null", "--force")
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(recorder.inputReader().readLine()).contains("recording process " + first.pid());
            CliResult top = CliResult.run("top", "-b", "--match", "port=8081", "300ms", "1");
            assertThat(top.exitCode()).as(top.toString()).isEqualTo(Main.OK);
            assertThat(top.out()).contains("(" + first.pid() + ")");
        } finally {
            recorder.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldOfferAChoiceOnATerminal() throws Exception {
        String command =
                String.join(" ", CliResult.builder("top", "LoadProgram").command()) + "; echo status $?";
        try (Tmux tmux = new Tmux(100, 30)) {
            tmux.type(command);
            String screen = tmux.await(
                    "JVMs (Enter: watch)", s -> s.contains(first.pid() + " ") && s.contains(second.pid() + " "));
            assertThat(screen.lines().filter(line -> line.contains("%  "))).hasSize(2);
            tmux.press("Down", "Enter");
            screen = tmux.await("a busy thread");
            List<String> pids = List.of(Long.toString(first.pid()), Long.toString(second.pid()));
            assertThat(screen.lines().findFirst().orElseThrow()).containsAnyOf(pids.toArray(String[]::new));
            tmux.press("q");
            tmux.await("status 0");

            tmux.type("clear; " + command);
            tmux.await("JVMs (Enter: watch)");
            tmux.press("Escape");
            tmux.await("status 0");
            assertThat(tmux.state()).isEqualTo("alternate 0 cursor 1");
        }
    }
}
