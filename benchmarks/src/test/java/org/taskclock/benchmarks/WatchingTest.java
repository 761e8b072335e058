// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WatchingTest {
    /** Returns what it printed, all to one stream. */
    private static String watching(int exitCode, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Watching.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isEqualTo(exitCode);
        return said;
    }

    @Test
    void shouldTellWhatEachWatcherCosts() throws IOException, InterruptedException {
        String said = watching(0, "--threads", "60", "--seconds", "1", "--rounds", "1", "--markdown");
        assertThat(said).contains("a JVM with 60 threads, of which 50 work", "for 1 s. 1 rounds");
        List<String[]> rows = said.lines()
                .filter(line -> line.startsWith("| "))
                .skip(1)
                .map(line -> line.split(" *\\| *", -1))
                .toList();
        assertThat(rows)
                .extracting(row -> row[1])
                .containsExactly("nobody", "taskclock top", "taskclock top --no-attach", "pidstat -t", "top -H");
        for (String[] row : rows) {
            if (row[2].equals("not installed")) continue;
            assertThat(row[2].isEmpty()).as(row[1]).isEqualTo(row[1].equals("nobody"));
            // A watcher may use less than one tick of the kernel, and so read as none.
            if (!row[2].isEmpty()) assertThat(median(row[2])).isNotNegative();
            // 50 times 0.2 ms each 50 ms are 20 % of a core.
            assertThat(median(row[3])).isBetween(2.0, 200.0);
            assertThat(median(row[5])).isBetween(0.0, median(row[3]));
        }
        assertThat(median(rows.get(1)[2])).isGreaterThan(median(rows.get(1)[5]));
        assertThat(said).containsPattern("first line, which tells of an interval of 300 ms: [0-9]{3,5} \\(");
    }

    /** Before the brackets. */
    private static double median(String cell) {
        return Double.parseDouble(cell.split(" ", 2)[0]);
    }

    @Test
    void shouldSayWhatItKnows() throws IOException, InterruptedException {
        assertThat(watching(2, "--thread", "9"))
                .isEqualTo(
                        "taskclock: watching: --thread: known are --threads N, --seconds N, --rounds N, --markdown\n");
    }
}
