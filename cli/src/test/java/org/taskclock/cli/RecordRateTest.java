// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.taskclock.monitor.recording.Recording;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.testing.LoadJvm;

@Isolated("other tests would delay the recorder")
@Tag("slow17")
class RecordRateTest {
    private static final long MILLIS = 1_000_000;

    @TempDir
    private Path directory;

    @Test
    void shouldWriteAsManyIntervalsAsRequestedDespiteStalls() throws Exception {
        Path file = directory.resolve("recording.gz");
        try (LoadJvm load = LoadJvm.start("busy")) {
            Process recorder = CliResult.builder(
                            "record", Long.toString(load.pid()), "100ms", "-o", file.toString(), "--for", "4s")
                    .redirectErrorStream(true)
                    .start();
            for (int intervals : new int[] {3, 12}) {
                awaitIntervals(file, intervals);
                signal(recorder, "STOP");
                Thread.sleep(350); // the recorder misses three or four intervals
                signal(recorder, "CONT");
            }
            String output = new String(recorder.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(CliResult.exitCode(recorder)).as(output).isEqualTo(Main.OK);
            try (Recording recording = Recording.open(file)) {
                // The last one ends with the recording. A busy machine may delay it and the one before.
                assertThat(recording.intervalCount()).as(output).isBetween(38, 41);
                long nanos = 0;
                for (Interval interval : recording) nanos += interval.intervalNanos();
                assertThat(nanos).isGreaterThan(3_900 * MILLIS);
            }
        }
    }

    private static void awaitIntervals(Path file, int count) throws InterruptedException, IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CliResult.TIMEOUT_SECONDS);
        while (System.nanoTime() - end < 0) {
            if (Files.exists(file)) {
                try (Recording recording = Recording.open(file)) {
                    if (recording.intervalCount() >= count) return;
                } catch (IOException e) {
                    // It is still empty, or its first block is incomplete.
                    assertThat(e.getMessage()).containsPattern("no block can be read|is not a TaskClock recording");
                }
            }
            Thread.sleep(10);
        }
        throw new AssertionError("fewer than " + count + " intervals");
    }

    private static void signal(Process process, String name) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start()
                .waitFor();
        assertThat(exit).isZero();
    }
}
