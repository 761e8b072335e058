// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.taskclock.hostile.Check;
import org.taskclock.hostile.HostileRun;
import org.taskclock.hostile.Scenario;

/**
 * Exporter and serve beside all hostile JVMs at once: the short version of {@code dev/integration/hostile/hostile.sh}.
 * Only what hangs exceeds its time limits, which are long because of busy machines.
 */
@Isolated("the commands of other tests would find the hostile JVMs")
@Tag("slow17")
class HostileTest {
    private static final int SECONDS = 12;
    private static final int THREADS_PER_SECOND = 1_000;
    private static final long MAX_MILLIS = 15_000;
    private static final double MAX_PERCENT = 10;

    private static HostileRun run;

    @BeforeAll
    static void observe() throws IOException, InterruptedException {
        // Not in /tmp, which is hidden from one of the JVMs.
        Path target = Path.of(System.getProperty("cli.jar")).toAbsolutePath().getParent();
        run = new HostileRun(new HostileRun.Settings(
                Path.of(System.getProperty("cli.jar")),
                Files.createTempDirectory(target, "hostile"),
                List.of(Scenario.hostile()),
                2,
                SECONDS,
                1,
                THREADS_PER_SECOND,
                MAX_MILLIS,
                MAX_PERCENT,
                false));
        run.run();
        run.skipped().forEach(reason -> System.out.println("NOT RUN: " + reason));
    }

    @AfterAll
    static void end() throws IOException {
        run.close();
    }

    private static void assertPassed(Check check) {
        assertThat(run.failures(check)).as(check.toString()).isEmpty();
    }

    @Test
    void shouldAnswerInTime() {
        assertPassed(Check.ANSWERS);
    }

    @Test
    void shouldMeasureHonestJvms() {
        assertPassed(Check.FIGURES);
    }

    @Test
    void shouldKnowTheNamesOfHonestThreads() {
        assertPassed(Check.NAMES);
    }

    @Test
    void shouldExportOnlyPlausibleValues() {
        assertPassed(Check.VALUES);
    }

    @Test
    void shouldLimitTexts() {
        assertPassed(Check.SIZES);
    }

    @Test
    void shouldStayWithinItsLimits() {
        assertPassed(Check.RESOURCES);
    }

    @Test
    void shouldNotTrustFilesOfOthers() {
        assertPassed(Check.TRUST);
    }

    @Test
    void shouldEndCommandsInTime() {
        assertPassed(Check.COMMANDS);
    }

    @Test
    void shouldEndOnSigterm() {
        assertPassed(Check.END);
    }

    @Test
    void shouldRunAllScenarios() {
        assertPassed(Check.SCENARIOS);
        long needRoot =
                Stream.of(Scenario.hostile()).filter(Scenario::needsRoot).count();
        assertThat(run.hostileJvms().size() + run.skipped().size()).isEqualTo(Scenario.hostile().length);
        assertThat(run.skipped().size()).isLessThanOrEqualTo((int) needRoot);
    }
}
