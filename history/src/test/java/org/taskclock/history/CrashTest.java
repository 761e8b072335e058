// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.monitor.usage.ThreadUsage;

/** What remains of the history when its process is killed, or its file is damaged. */
@Tag("slow17")
class CrashTest {
    /** Each JVM in the history uses this in each second. */
    private static final long NANOS = 1_000_001;

    private static final JvmKey JVM = Samples.jvm(1);

    private static final int JVMS = 30;

    private static final long MAX_LOST_NANOS = 5_000_000_000L;

    @TempDir
    Path directory;

    /** A sample that the child has added, and when, as of System.nanoTime, which is the same for all processes. */
    private record Added(long second, long nanoTime) {}

    /** Adds a sample a second for many JVMs, and prints each second and when it was added. */
    public static final class Child {
        private Child() {}

        public static void main(String[] args) throws Exception {
            try (History history = DuckDbHistory.open(Path.of(args[0]), HistoryOptions.DEFAULT)) {
                for (long second = Instant.now().getEpochSecond(); ; second++) {
                    Instant end = Instant.ofEpochSecond(second + 1);
                    Thread.sleep(Math.max(0, end.toEpochMilli() - System.currentTimeMillis()));
                    for (int pid = 1; pid <= JVMS; pid++) {
                        history.add(Samples.sample(
                                Samples.jvm(pid),
                                end,
                                List.of(Samples.pool("a", NANOS, 0), Samples.pool("b", 1, 0)),
                                List.of(Samples.thread(pid, "t", 5, 5))));
                    }
                    System.out.println(second + " " + System.nanoTime());
                    if (history.status().problem() != null)
                        throw new IllegalStateException(history.status().problem());
                }
            }
        }
    }

    @Test
    void shouldLoseAtMostFiveSeconds() throws Exception {
        killRepeatedly(4);
    }

    @Test
    @Tag("slow")
    void shouldLoseAtMostFiveSecondsInAHundredRounds() throws Exception {
        killRepeatedly(100);
    }

    private void killRepeatedly(int rounds) throws Exception {
        Random random = new Random(rounds);
        Instant start = Instant.now().minusSeconds(1);
        long kept = 0;
        long maxLostNanos = 0;
        for (int round = 0; round < rounds; round++) {
            // Every other time at about the first roll-up and deletion, which follow the first two transactions.
            long pause = round % 2 == 0 ? 4_000 + random.nextInt(7_000) : 1_000 + random.nextInt(4_500);
            List<Added> added = new ArrayList<>();
            long killedAt = runAndKill(pause, added);
            long first = added.get(0).second;
            try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
                assertThat(history.status().setAside()).isNull();
                int keptSeconds = keptSeconds(history, Samples.jvm(1 + random.nextInt(JVMS)), first);
                kept += keptSeconds;
                for (Added sample : added) {
                    if (sample.second < first + keptSeconds) continue;
                    assertThat(killedAt - sample.nanoTime)
                            .as("lost in round %d, killed after %d ms, has %d of %s", round, pause, keptSeconds, added)
                            .isLessThan(MAX_LOST_NANOS);
                    maxLostNanos = Math.max(maxLostNanos, killedAt - sample.nanoTime);
                }
                assertThat(cpuNanos(history, start)).as("all rounds").isEqualTo(kept * (NANOS + 1));
            }
        }
        assertThat(kept).isGreaterThan(rounds);
        System.out.printf("%d kills: lost at most %.2f s%n", rounds, maxLostNanos / 1e9);
    }

    /** Returns how many seconds were kept without a gap. There must be none after a gap. */
    private static int keptSeconds(History history, JvmKey jvm, long first) throws HistoryException {
        Instant from = Instant.ofEpochSecond(first);
        PoolSeries pools = history.pools(jvm.id(), from, from.plusSeconds(60), 10_000);
        ThreadSeries threads = history.threads(jvm.id(), from, from.plusSeconds(60), 10_000, 10);
        if (pools.pools().isEmpty()) return 0;
        assertThat(pools.pools()).hasSize(2);
        assertThat(threads.threads()).hasSize(1);
        long[] user = pools.pools().get(0).userNanos();
        int kept = 0;
        while (user[kept] > 0) kept++;
        for (int i = 0; i < user.length; i++) {
            boolean isKept = i < kept;
            assertThat(Math.max(0, user[i])).isEqualTo(isKept ? NANOS : 0);
            assertThat(Math.max(0, pools.pools().get(1).userNanos()[i])).isEqualTo(isKept ? 1 : 0);
            assertThat(Math.max(0, threads.threads().get(0).userNanos()[i])).isEqualTo(isKept ? 5 : 0);
        }
        return kept;
    }

    private static long cpuNanos(History history, Instant start) throws HistoryException {
        return history.pools(JVM.id(), start, Instant.now().plusSeconds(60), 10_000).pools().stream()
                .mapToLong(PoolSeries.Row::cpuNanos)
                .sum();
    }

    /** Returns when the child was killed, as of System.nanoTime. */
    private long runAndKill(long millis, List<Added> added) throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out =
                new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
            added.add(parse(out.readLine()));
            Thread.sleep(millis);
            assertThat(child.isAlive()).isTrue();
            long killedAt = System.nanoTime();
            // Process.destroyForcibly would close the pipe, which still has what the child has printed.
            child.toHandle().destroyForcibly();
            for (String line = out.readLine(); line != null; line = out.readLine()) added.add(parse(line));
            return killedAt;
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    private static Added parse(String line) {
        assertThat(line).as("output of the child").matches("[0-9]+ [0-9]+");
        String[] fields = line.split(" ", -1);
        return new Added(Long.parseLong(fields[0]), Long.parseLong(fields[1]));
    }

    @Test
    void shouldSetADamagedFileAside() throws IOException {
        writeSome();
        Path file = directory.resolve(HistoryDatabase.FILE);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(16_384), 0);
        }
        expectSetAside();
    }

    @Test
    void shouldSetATruncatedFileAside() throws IOException {
        writeSome();
        try (FileChannel channel =
                FileChannel.open(directory.resolve(HistoryDatabase.FILE), StandardOpenOption.WRITE)) {
            channel.truncate(10_000);
        }
        expectSetAside();
    }

    @Test
    void shouldSetAFileOfAnotherKindAside() throws IOException {
        Files.writeString(directory.resolve(HistoryDatabase.FILE), "This is not a database. ".repeat(1_000));
        expectSetAside();
    }

    @Test
    void shouldSetAFileAsideThatIsDamagedInTheMiddle() throws Exception {
        Instant start = Instant.now().truncatedTo(ChronoUnit.HOURS).minusSeconds(3_600);
        writeLargeFile(start);
        Path file = directory.resolve(HistoryDatabase.FILE);
        long size = Files.size(file);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            byte[] garbage = new byte[(int) size / 2];
            new Random(1).nextBytes(garbage);
            channel.write(ByteBuffer.wrap(garbage), size / 4);
        }
        String name;
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(history.status().setAside()).as("it can be opened").isNull();
            assertThatThrownBy(() -> history.pools(JVM.id(), start, start.plusSeconds(3_600), 10_000))
                    .isInstanceOf(HistoryException.class)
                    .hasMessageStartingWith("the history cannot be read: ")
                    .message()
                    .doesNotContain("\n");
            addSome(history);
            long begin = System.nanoTime();
            while (history.status().setAside() == null) {
                assertThat(System.nanoTime() - begin).as("%s", history.status()).isLessThan(60_000_000_000L);
                Thread.sleep(50);
            }
            name = history.status().setAside();
            assertThat(directory.resolve(name)).hasSize(size);
            addSome(history);
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(history.status().setAside()).isNull();
            assertThat(cpuNanos(history, Instant.now().minusSeconds(200))).isEqualTo(2 * 50 * NANOS);
        }
    }

    /** Writes rows that take several blocks, and less than a minute of them in the log. */
    private void writeLargeFile(Instant start) throws Exception {
        Random random = new Random(1);
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            for (int second = 0; second < 3_600; second++) {
                List<ThreadUsage> pools = new ArrayList<>();
                for (int pool = 0; pool < 100; pool++)
                    pools.add(Samples.pool("pool-" + pool, random.nextInt(900_000_000), random.nextInt(90_000_000)));
                history.add(Samples.sample(JVM, start.plusSeconds(second + 1), pools, List.of()));
                if (second % 100 == 0) history.write();
            }
            history.writeAll();
            history.writer.checkpoint();
        }
    }

    @Test
    void shouldKeepTheLatestSamplesIfTheyCannotBeWrittenInTime() throws HistoryException {
        int samples = 20_000;
        Instant start = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(samples);
        long lost;
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            for (int i = 0; i < samples; i++)
                history.add(Samples.sample(JVM, start.plusSeconds(i + 1), List.of(Samples.pool("a", 1, 0)), List.of()));
            lost = history.status().lostSamples();
            assertThat(lost).isBetween(1L, samples - 3_000L);
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            PoolSeries series = history.pools(JVM.id(), start, start.plusSeconds(samples), 100_000);
            assertThat(series.pools().get(0).cpuNanos()).isEqualTo(samples - lost);
            long[] latest = series.pools().get(0).userNanos();
            for (int i = samples - 3_000; i < samples; i++)
                assertThat(latest[i]).isEqualTo(1);
        }
    }

    private void writeSome() throws HistoryException {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            addSome(history);
        }
    }

    private static void addSome(History history) {
        Instant start = Instant.now().minusSeconds(100);
        for (int i = 0; i < 50; i++)
            history.add(Samples.sample(JVM, start.plusSeconds(i), List.of(Samples.pool("a", NANOS, 0)), List.of()));
    }

    private void expectSetAside() throws IOException {
        String name;
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            name = history.status().setAside();
            assertThat(name).startsWith("history.duckdb.damaged-");
            assertThat(directory.resolve(name)).exists();
            addSome(history);
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(history.status().setAside()).isNull();
            Instant now = Instant.now();
            PoolSeries series = history.pools(JVM.id(), now.minusSeconds(200), now, 1_000);
            assertThat(series.pools().get(0).cpuNanos()).isEqualTo(50 * NANOS);
        }
    }

    @Test
    void shouldRefuseASecondWriter() throws HistoryException {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThatThrownBy(() -> DuckDbHistory.open(directory, HistoryOptions.DEFAULT))
                    .isInstanceOf(HistoryException.class)
                    .hasMessageContaining(directory + ": in use by another process that writes a history: stop it");
            assertThat(history.status().problem()).isNull();
        }
    }
}
