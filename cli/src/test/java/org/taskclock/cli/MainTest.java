// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Usage, help, and errors of the command line. */
@Tag("slow17")
class MainTest {
    @ParameterizedTest
    @ValueSource(strings = {"--help", "-h"})
    void shouldPrintHelp(String option) throws Exception {
        CliResult child = CliResult.runHere(option);
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("Usage: taskclock").contains("doctor", "Examples:", "Exit codes:");
        assertThat(child.err()).isEmpty();
    }

    @Test
    void shouldPrintHelpForACommand() throws Exception {
        CliResult child = CliResult.runHere("doctor", "--help");
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("Usage: taskclock doctor").contains("--json");
    }

    @Test
    void shouldPrintHelpWithoutACommand() throws Exception {
        CliResult child = CliResult.runHere();
        assertThat(child.exitCode()).isEqualTo(2);
        assertThat(child.out()).startsWith("Usage: taskclock");
    }

    @Test
    void shouldPrintItsVersion() throws Exception {
        CliResult child = CliResult.run("-V");
        assertThat(child.exitCode()).isZero();
        assertThat(child.out().trim()).isEqualTo("taskclock " + System.getProperty("project.version"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--bogus", "doctr", "doctor --bogus", "doctor surplus", "doctor --json=x", "yields --limit -1 1"
            })
    void shouldReportUsageErrorsInOneLine(String arguments) throws Exception {
        assertUsageError(CliResult.runHere(arguments.split(" ")), "--help");
    }

    @Test
    void shouldRejectAnUnknownBackend() throws Exception {
        assertUsageError(CliResult.run("-Dtaskclock.backend=bogus", "doctor"), "-Dtaskclock.backend=bogus", "mxbean");
    }

    @Test
    void shouldRejectAnUnusableBackend() throws Exception {
        assertUsageError(
                CliResult.run("-Dtaskclock.backend=syscall", "-Dtaskclock.library.path=/nonexistent", "doctor"),
                "-Dtaskclock.backend=syscall",
                "/nonexistent");
    }

    private static void assertUsageError(CliResult child, String... parts) {
        assertThat(child.exitCode()).isEqualTo(2);
        assertThat(child.out()).isEmpty();
        assertThat(child.err()).startsWith("taskclock: ").contains(parts);
        assertThat(child.err().lines()).hasSize(1);
    }

    @Test
    void shouldExitSilentlyWhenItsOutputIsClosed() throws IOException, InterruptedException {
        Process process = CliResult.builder(DoctorTest.FAST_OPTION, "doctor").start();
        process.getInputStream().close();
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(CliResult.exitCode(process)).isEqualTo(1);
        assertThat(err).isEmpty();
    }
}
