// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class ThreadDumpBenchmarkTest {
    @Test
    void shouldMeasureEachKindOfDump() throws Exception {
        String output = BenchmarkRunner.run(
                ThreadDumpBenchmark.class, 0, "--threads", "5", "--dumps", "2", "--heap", "16", "--markdown");
        List<String[]> rows = BenchmarkRunner.rows(output);
        assertThat(rows)
                .extracting(row -> row[2])
                .containsExactly("taskclock top", "jcmd Thread.print", "jcmd Thread.print -l");
        for (String[] row : rows) assertThat(Double.parseDouble(row[3])).isBetween(0.01, 10_000.0);
    }
}
