// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The units of systemd in deploy/. */
class DeploymentTest {
    private static final Path DEPLOY = Path.of("..", "deploy");
    private static final Path SYSTEMD = DEPLOY.resolve("systemd");
    private static final String EXPORTER = "taskclock-exporter.service";
    private static final String SERVE = "taskclock-serve.service";

    @TempDir
    private Path directory;

    /** Errors that end the exporter are failures, and so is an exit because of a full heap (3). */
    @ParameterizedTest
    @ValueSource(strings = {EXPORTER, SERVE})
    void shouldRestartAfterErrors(String unit) throws IOException {
        assertThat(Files.readString(SYSTEMD.resolve(unit)))
                .contains("-XX:+ExitOnOutOfMemoryError", "\nRestart=on-failure\n", "\nRestartPreventExitStatus=2\n");
    }

    /** Runs systemd-analyze on a copy of a unit, of which only the paths depend on the machine. */
    private String analyze(String unit, String... arguments) throws IOException, InterruptedException {
        Path tool = Path.of("/usr/bin/systemd-analyze");
        assumeTrue(Files.isExecutable(tool), "NOT RUN: systemd-analyze is not installed");
        String text = Files.readString(SYSTEMD.resolve(unit)).replace("/usr/bin/java", "/bin/true");
        Path copy = Files.writeString(directory.resolve(unit), text);
        List<String> command = new ArrayList<>(List.of(tool.toString()));
        command.addAll(List.of(arguments));
        command.add(copy.toString());
        Process check = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(check.waitFor()).as(output).isZero();
        return output;
    }

    @ParameterizedTest
    @ValueSource(strings = {EXPORTER, SERVE})
    void shouldHaveAValidSystemdUnit(String unit) throws IOException, InterruptedException {
        assertThat(analyze(unit, "verify", "--man=no").lines().filter(line -> line.contains(unit)))
                .isEmpty();
    }

    /** From 0, no access, to 10. deploy/README.md says what the rest is needed for. */
    @ParameterizedTest
    @ValueSource(strings = {EXPORTER, SERVE})
    void shouldExposeAsLittleAsPossible(String unit) throws IOException, InterruptedException {
        // With another threshold, the command fails.
        String output = analyze(unit, "security", "--no-pager", "--offline=true", "--threshold=23");
        assertThat(output).contains("Overall exposure level for " + unit + ": 2.3 OK");
        assertThat(Files.readString(DEPLOY.resolve("README.md"))).contains("scores 2.3");
    }
}
