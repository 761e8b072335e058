// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What remains of the history when its process is killed, or its file is damaged. */
class CrashTest {
    /** The JVM in the history uses this in each second. */
    private static final long NANOS = 1_000_001;

    private static final JvmKey JVM = Samples.jvm(1);

    private static final int MAX_LOST_SECONDS = 5;

    /** What a busy machine delayed the child by most, which it may lose besides. */
    private final AtomicLong delayMillis = new AtomicLong();

    @TempDir
    Path directory;

    /** Adds a sample a second for many JVMs, and prints each second that was added, and how late that was. */
    public static final class Child {
        private Child() {}

        public static void main(String[] args) throws Exception {
            try (History history = DuckDbHistory.open(Path.of(args[0]), HistoryOptions.DEFAULT)) {
                for (long second = Instant.now().getEpochSecond(); ; second++) {
                    Instant end = Instant.ofEpochSecond(second + 1);
                    for (int pid = 1; pid <= 30; pid++) {
                        history.add(Samples.sample(
                                Samples.jvm(pid),
                                end,
                                List.of(Samples.pool("a", NANOS, 0), Samples.pool("b", 1, 0)),
                                List.of(Samples.thread(pid, "t", 5, 5))));
                    }
                    if (history.status().problem() != null)
                        throw new IllegalStateException(history.status().problem());
                    System.out.println(second + " " + (System.currentTimeMillis() - second * 1_000));
                    Thread.sleep(Math.max(0, end.toEpochMilli() - System.currentTimeMillis()));
                }
            }
        }
    }

    @Test
    void shouldLoseAtMostFiveSeconds() throws Exception {
        killRepeatedly(3);
    }

    @Test
    @Tag("slow")
    void shouldLoseAtMostFiveSecondsInAHundredRounds() throws Exception {
        killRepeatedly(100);
    }

    private void killRepeatedly(int rounds) throws Exception {
        Random random = new Random(rounds);
        for (int round = 0; round < rounds; round++) {
            Instant start = Instant.now().minusSeconds(1);
            long last = runAndKill(6_000 + random.nextInt(5_000));
            try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
                assertThat(history.status().setAside()).isNull();
                PoolSeries series = history.pools(JVM.id(), start, Instant.ofEpochSecond(last + 1), 10_000);
                long[] user = series.pools().get(0).userNanos();
                int lost = 0;
                for (int i = user.length - 1; i >= 0 && user[i] <= 0; i--) lost++;
                assertThat(lost)
                        .as("round %d", round)
                        .isLessThanOrEqualTo(MAX_LOST_SECONDS + (int) (2 * delayMillis.get() / 1_000));
                int begin = 0;
                while (user[begin] <= 0) begin++;
                assertThat(begin).isLessThanOrEqualTo(MAX_LOST_SECONDS + 25); // the start of the child
                for (int i = begin; i < user.length - lost; i++)
                    assertThat(user[i]).isEqualTo(NANOS);
            }
        }
    }

    /** Returns the last second that the child added before it was killed. */
    private long runAndKill(long millis) throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        directory.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        AtomicLong last = new AtomicLong();
        BufferedReader out = new BufferedReader(new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8));
        try {
            delayMillis.set(0);
            last.set(Long.parseLong(out.readLine().split(" ")[0]));
            Thread reader =
                    new Thread(() -> out.lines().map(line -> line.split(" ")).forEach(line -> {
                        last.set(Long.parseLong(line[0]));
                        delayMillis.accumulateAndGet(Long.parseLong(line[1]), Math::max);
                    }));
            reader.start();
            Thread.sleep(millis);
            child.destroyForcibly().waitFor();
            try {
                reader.join();
            } catch (UncheckedIOException e) {
                // the pipe of the killed child
            }
            return last.get();
        } finally {
            child.destroyForcibly().waitFor();
        }
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
