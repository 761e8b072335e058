// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
    @ParameterizedTest
    @ValueSource(strings = {"--help", "-h"})
    void shouldHelp(String option) throws Exception {
        Child child = Child.run(option);
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("Usage: taskclock").contains("doctor", "Examples:", "Exit codes:");
        assertThat(child.err()).isEmpty();
    }

    @Test
    void shouldHelpWithACommand() throws Exception {
        Child child = Child.run("doctor", "--help");
        assertThat(child.exitCode()).isZero();
        assertThat(child.out()).startsWith("Usage: taskclock doctor").contains("--json");
    }

    @Test
    void shouldHelpWhereNoCommandIsGiven() throws Exception {
        Child child = Child.run();
        assertThat(child.exitCode()).isEqualTo(2);
        assertThat(child.out()).startsWith("Usage: taskclock");
    }

    @Test
    void shouldTellItsVersion() throws Exception {
        Child child = Child.run("-V");
        assertThat(child.exitCode()).isZero();
        assertThat(child.out().trim()).isEqualTo("taskclock " + System.getProperty("project.version"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"--bogus", "doctr", "doctor --bogus", "doctor surplus", "doctor --json=x"})
    void shouldRefuseWrongUsageInOneLine(String arguments) throws Exception {
        assertRefused(Child.run(arguments.split(" ")), "--help");
    }

    @Test
    void shouldRefuseABogusRungInOneLine() throws Exception {
        assertRefused(Child.run("-Dtaskclock.rung=bogus", "doctor"), "-Dtaskclock.rung=bogus", "mxbean");
    }

    @Test
    void shouldRefuseARungThatCannotBeUsedInOneLine() throws Exception {
        assertRefused(
                Child.run("-Dtaskclock.rung=syscall", "-Dtaskclock.library.path=/nonexistent", "doctor"),
                "-Dtaskclock.rung=syscall",
                "/nonexistent");
    }

    private static void assertRefused(Child child, String... parts) {
        assertThat(child.exitCode()).isEqualTo(2);
        assertThat(child.out()).isEmpty();
        assertThat(child.err()).startsWith("taskclock: ").contains(parts);
        assertThat(child.err().lines()).hasSize(1);
    }

    @Test
    void shouldEndQuietlyWhereItsOutputIsClosed() throws IOException, InterruptedException {
        Process process = Child.builder("doctor").start();
        process.getInputStream().close();
        String err = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(Child.exitCode(process)).isEqualTo(1);
        assertThat(err).isEmpty();
    }
}
