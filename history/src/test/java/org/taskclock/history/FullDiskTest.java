// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.recording.PoolSeries;

/** A full disk is reported, and nothing is lost if it has room again soon. */
@Tag("slow17")
class FullDiskTest {
    private static final long TIMEOUT_NANOS = 120_000_000_000L;
    private static final int SECONDS = 20;

    @TempDir
    Path mountPoint;

    /** Fills the disk while it writes, and prints what the history then says. */
    public static final class Child {
        private Child() {}

        public static void main(String[] args) throws Exception {
            Path disk = Path.of(args[0]);
            Path filler = disk.resolve("filler");
            Instant start = Instant.now().minusSeconds(1_000);
            JvmKey jvm = Samples.jvm(1);
            try (History history = DuckDbHistory.open(disk.resolve("data"), HistoryOptions.DEFAULT)) {
                add(history, jvm, start, 0);
                await(history, false);
                fill(filler);
                // The write-ahead log may still have room in its last block.
                int i = 1;
                for (long begin = System.nanoTime(); history.status().problem() == null; i++) {
                    if (System.nanoTime() - begin > TIMEOUT_NANOS) throw new IllegalStateException("no problem");
                    add(history, jvm, start, i);
                    Thread.sleep(500);
                }
                System.out.println("full: " + history.status().problem());
                add(history, jvm, start, i++);
                Files.delete(filler);
                await(history, true);
                add(history, jvm, start, i++);
                System.out.println("added: " + i);
            }
            try (History history = DuckDbHistory.open(disk.resolve("data"), HistoryOptions.DEFAULT)) {
                PoolSeries series = history.pools(jvm.id(), start, start.plusSeconds(10_000), 100_000);
                System.out.println("kept: " + series.pools().get(0).cpuNanos() / SECONDS);
                System.out.println("aside: " + history.status().setAside());
            }
        }

        /** Adds one nanosecond in each of some seconds, for pools enough to need blocks. */
        private static void add(History history, JvmKey jvm, Instant start, int number) {
            for (int i = 0; i < SECONDS; i++)
                history.add(Samples.sample(
                        jvm,
                        start.plusSeconds((long) number * SECONDS + i + 1),
                        List.of(Samples.pool("a", 1, 0)),
                        List.of(Samples.thread(1, "x".repeat(400) + number + "-" + i, 1, 1))));
        }

        /** Waits until everything is written. */
        private static void await(History history, boolean hadProblem) throws InterruptedException {
            long begin = System.nanoTime();
            while (history.status().problem() != null || history.status().since() == null) {
                if (System.nanoTime() - begin > TIMEOUT_NANOS)
                    throw new IllegalStateException("not written: " + history.status());
                Thread.sleep(100);
            }
            if (hadProblem) System.out.println("resumed");
        }

        private static void fill(Path file) throws IOException {
            try (var out = Files.newOutputStream(file)) {
                while (true) out.write(new byte[4_096]);
            } catch (IOException e) {
                if (!String.valueOf(e.getMessage()).contains("No space left")) throw e;
            }
        }
    }

    @Test
    void shouldReportAFullDiskAndResume() throws Exception {
        assumeTrue(canMount(), "NOT RUN: unshare cannot mount a file system here");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String script = "mount -t tmpfs -o size=16m tmpfs \"$1\" && exec \"$2\" -cp \"$3\" \"$4\" \"$1\"";
        Process child = new ProcessBuilder(
                        "unshare",
                        "-rm",
                        "sh",
                        "-c",
                        script,
                        "sh",
                        mountPoint.toString(),
                        java,
                        System.getProperty("java.class.path"),
                        Child.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String out = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(out).containsPattern("full: disk full: .*No space left").contains("resumed", "aside: null");
            String added = out.replaceAll("(?s).*added: ([0-9]+).*", "$1");
            assertThat(out).contains("kept: " + added + "\n");
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    private boolean canMount() throws IOException, InterruptedException {
        Process process = new ProcessBuilder("unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", mountPoint.toString())
                .redirectErrorStream(true)
                .start();
        process.getInputStream().readAllBytes();
        return process.waitFor(60, TimeUnit.SECONDS) && process.exitValue() == 0;
    }
}
