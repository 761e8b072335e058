// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;

/**
 * A program that runs in a terminal.
 *
 * @param directory where it is started, and where the settings of the terminal are kept
 */
record TerminalProgram(Tmux tmux, Path directory) {
    /** Shows the synthetic JVM in the terminal interface. */
    void start(String environment) throws Exception {
        start(environment, "");
    }

    void start(String environment, String javaOptions) throws Exception {
        String classes = Path.of(SyntheticJvm.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
        run(
                environment,
                javaOptions + " -cp " + System.getProperty("cli.jar") + ":" + classes
                        + " org.taskclock.cli.SyntheticJvm ended");
    }

    /** Runs java with these arguments. */
    void run(String environment, String arguments) throws Exception {
        String java = String.join(" ", CliResult.java()) + " ";
        tmux.type("cd " + directory + "; clear; stty -g > before");
        tmux.start(environment + " " + java + arguments + "; echo status $?; stty -g > after");
    }

    /** Waits for the program to exit and checks that the terminal is as it was before. */
    void assertRestored() throws Exception {
        tmux.awaitEnd();
        assertThat(directory.resolve("after")).hasSameTextualContentAs(directory.resolve("before"));
        assertThat(tmux.state()).isEqualTo("alternate 0 cursor 1");
        assertThat(tmux.mouse()).isEqualTo("mouse 0 sgr 0");
    }
}
