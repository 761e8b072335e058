// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.RecordingWriter;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** {@code taskclock diff} on recordings with known figures. */
@Tag("slow17")
class DiffTest {
    private static final String LEGEND = "~ marks a change that is below --threshold or not significant.\n";

    @TempDir
    private Path directory;

    /** Records intervals in which worker-1 uses the given percentage of a core. */
    private String record(String name, int intervals, long percent) throws IOException {
        Path file = directory.resolve(name);
        try (RecordingWriter writer = new RecordingWriter(file, RecordingWriter.Limits.NONE, "test", Map.of())) {
            for (int i = 0; i < intervals; i++) writer.write(interval(i, percent));
            writer.end("test");
        }
        return file.toString();
    }

    private static Interval interval(int number, long percent) {
        Interval template = SyntheticJvm.interval(4711, number);
        long nanos = percent * SyntheticJvm.SECOND / 100;
        ThreadUsage worker = ThreadUsage.of(4711, 101, "worker-1", ThreadKind.JAVA)
                .javaId(31)
                .cpu(nanos, nanos)
                .waited(0)
                .switches(number + 1, 0)
                .state('R')
                .build();
        ProcessUsage totals = template.totals();
        return new Interval(
                template.end(),
                template.intervalNanos(),
                4711,
                template.name(),
                template.source(),
                List.of(worker),
                new ProcessUsage(
                        nanos,
                        nanos,
                        totals.containerNanos(),
                        totals.containerCores(),
                        totals.throttledNanos(),
                        totals.machineNanos(),
                        totals.processors(),
                        totals.ownNanos()),
                List.of(),
                List.of());
    }

    private static String run(int exitCode, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("diff"));
        command.addAll(List.of(arguments));
        CliResult child = CliResult.runHere(command.toArray(String[]::new));
        assertThat(child).isEqualTo(new CliResult(exitCode, child.out(), ""));
        return child.out();
    }

    @Test
    void shouldListChanges() throws IOException, InterruptedException {
        String out = run(Main.OK, record("a.gz", 5, 20), record("b.gz", 5, 60));
        assertThat(out)
                .containsPattern("20\\.0 +60\\.0 +\\+40\\.0 +[+-]0\\.0   pool    worker-#\n")
                .contains("   thread  worker-1\n")
                .doesNotContain("~", "No significant change", "Too short");
    }

    @Test
    void shouldExplainTheMarkOfUnchangedLines() throws IOException, InterruptedException {
        String a = record("a.gz", 5, 20);
        assertThat(run(Main.OK, a, a))
                .contains("~ process\n")
                .doesNotContain("worker")
                .endsWith("No significant change in any pool or thread.\n" + LEGEND);
        assertThat(run(Main.OK, "--all", a, a)).contains("~ thread  worker-1\n").endsWith(LEGEND);
    }

    @Test
    void shouldIgnoreChangesBelowTheThreshold() throws IOException, InterruptedException {
        String a = record("a.gz", 5, 20);
        String b = record("b.gz", 5, 60);
        assertThat(run(Main.THRESHOLD, "--threshold", "39%", a, b))
                .contains("worker-1")
                .doesNotContain("~");
        assertThat(run(Main.OK, "--threshold", "41", a, b))
                .contains("~ process\n")
                .doesNotContain("worker")
                .endsWith(LEGEND);
    }

    @Test
    void shouldReportRecordingsThatAreTooShort() throws IOException, InterruptedException {
        assertThat(run(Main.OK, record("a.gz", 1, 20), record("b.gz", 5, 60)))
                .contains("? process\n", "? pool    worker-#\n")
                .endsWith("\nToo short to compare: one of the recordings has fewer than two intervals.\n");
    }
}
