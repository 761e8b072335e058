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
class MonitoringBenchmarkTest {
    private static String run(int exitCode, String... arguments) throws IOException, InterruptedException {
        return BenchmarkRunner.run(MonitoringBenchmark.class, exitCode, arguments);
    }

    @Test
    void shouldMeasureEachTool() throws IOException, InterruptedException {
        String output = run(0, "--threads", "60", "--seconds", "1", "--rounds", "1", "--markdown");
        assertThat(output).contains("a JVM with 60 threads, 50 of which work", "for 1 s. 1 rounds");
        List<String[]> rows = BenchmarkRunner.rows(output);
        assertThat(rows)
                .extracting(row -> row[1])
                .containsExactly("no tool", "taskclock top", "taskclock top --no-attach", "pidstat -t", "top -H");
        for (String[] row : rows) {
            if (row[2].equals("not installed")) continue;
            assertThat(row[2].isEmpty()).as(row[1]).isEqualTo(row[1].equals("no tool"));
            // A tool may use less than one tick, which reads as 0.
            if (!row[2].isEmpty()) assertThat(median(row[2])).isNotNegative();
            // 50 threads with 0.2 ms every 50 ms use 20 % of a core.
            assertThat(median(row[3])).isBetween(2.0, 200.0);
            assertThat(median(row[5])).isBetween(0.0, median(row[3]));
        }
        assertThat(median(rows.get(1)[2])).isGreaterThan(median(rows.get(1)[5]));
        assertThat(output).containsPattern("first line, which covers an interval of 300 ms: [0-9]{3,5} \\(");
    }

    @Test
    void shouldListItsOptions() throws IOException, InterruptedException {
        assertThat(run(0, "--help")).contains("--threads=N", "--seconds=N", "--rounds=N", "--markdown");
    }
}
