// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.benchmarks.BenchmarkRunner.median;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class AttachBenchmarkTest {
    private static String run(int exitCode, String... arguments) throws IOException, InterruptedException {
        return BenchmarkRunner.run(AttachBenchmark.class, exitCode, arguments);
    }

    @Test
    void shouldMeasureEachAction() throws IOException, InterruptedException {
        String output = run(0, "--rounds", "1", "--warm-up", "1", "--markdown");
        assertThat(output).contains("medians of 1 rounds");
        List<String[]> rows = BenchmarkRunner.rows(output);
        assertThat(rows)
                .extracting(row -> row[1])
                .containsExactly(
                        "nothing",
                        "jcmd VM.version, first",
                        "jcmd VM.version, again",
                        "attach",
                        "detach",
                        "attach, again",
                        "detach, again");
        for (String[] row : rows) {
            // A JVM uses more than one tick, and the program keeps running in some window.
            if (!row[1].equals("nothing")) assertThat(median(row[2])).as(row[1]).isBetween(10.0, 20_000.0);
            assertThat(median(row[4])).as(row[1]).isBetween(0.0, 1.5);
            assertThat(median(row[5])).as(row[1]).isBetween(0.0, 1.5);
        }
    }

    @Test
    void shouldReportAWrongOption() throws IOException, InterruptedException {
        assertThat(run(2, "--round")).isEqualTo("taskclock: attach benchmark: Unknown option: '--round': see --help\n");
        assertThat(run(2, "--rounds", "0"))
                .isEqualTo("taskclock: attach benchmark: Invalid value for option '--rounds': not a number from 1 to "
                        + "999999: see --help\n");
    }
}
