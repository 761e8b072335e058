// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.CpuTime;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.usage.ThreadUsage;

/** Neither many questions nor errors keep the history from being written. */
@Tag("slow17")
class HistoryLoadTest {
    private static final JvmKey JVM = Samples.jvm(1);
    private static final int SERIES = 400;
    private static final int MINUTES = 10_000;
    private static final long START = 1_790_000_040;
    private static final long END = START + MINUTES * 60L;
    private static final int CLIENTS = 8;
    private static final long TIMEOUT_NANOS = 120_000_000_000L;

    private static final List<String> QUERIES = List.of(
            "FROM pool_cpu",
            "SELECT pool, time, sum(cpu_ns) AS n FROM pool_cpu GROUP BY ALL ORDER BY n DESC",
            "SELECT repeat('x', 1000) AS a FROM range(1000000)",
            "SELECT repeat('x', 200000000) AS a");

    @TempDir
    Path directory;

    /** Asks for everything at once, in a small heap. */
    public static final class Child {
        private Child() {}

        public static void main(String[] args) throws Exception {
            Path directory = Path.of(args[0]);
            Instant from = Instant.ofEpochSecond(START);
            Instant to = Instant.ofEpochSecond(END);
            ExecutorService clients = Executors.newFixedThreadPool(3 * CLIENTS);
            try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
                List<Future<String>> answers = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    String sql = QUERIES.get(i % QUERIES.size());
                    answers.add(clients.submit(() -> "pools "
                            + history.pools(JVM.id(), from, to, 10_000).pools().size()));
                    answers.add(clients.submit(() -> "threads "
                            + history.threads(JVM.id(), from, to, 10_000, 1_000)
                                    .threads()
                                    .size()));
                    answers.add(clients.submit(() -> query(directory, sql)));
                }
                for (Future<String> answer : answers) {
                    try {
                        System.out.println(answer.get());
                    } catch (ExecutionException e) {
                        // Who waits for too long is refused.
                        if (!(e.getCause() instanceof HistoryException)) throw e;
                    }
                }
                history.add(Samples.sample(JVM, to.plusSeconds(1), List.of(Samples.pool("last", 77, 0)), List.of()));
            } finally {
                clients.shutdownNow();
            }
            try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
                PoolSeries series = history.pools(JVM.id(), to, to.plusSeconds(10), 10);
                System.out.println("written " + series.pools().get(0).cpuNanos());
            }
        }

        private static String query(Path directory, String sql) throws IOException {
            try {
                HistoryQueries.of(directory).query(sql, 1_000_000, Duration.ofSeconds(60), new RowConsumer() {
                    @Override
                    public void columns(List<String> names) {}

                    @Override
                    public void row(List<Object> values) {}
                });
                return "answered";
            } catch (HistoryException e) {
                return "refused: " + e.getMessage();
            }
        }
    }

    private void fill() throws Exception {
        DuckDbHistory.open(directory, HistoryOptions.DEFAULT).close();
        try (Connection connection =
                        DriverManager.getConnection("jdbc:duckdb:" + directory.resolve(HistoryDatabase.FILE));
                Statement sql = connection.createStatement()) {
            sql.execute("SET threads = 1");
            sql.execute("INSERT INTO gap VALUES (1, 0, " + END + "), (10, 0, " + END + ")");
            sql.execute("INSERT INTO recorded VALUES (" + START + ", " + END + ", 0)");
            sql.execute("INSERT INTO jvm_key VALUES (1, '" + JVM.id() + "', 'host', 1, 'a', 'A', NULL, NULL, 0, "
                    + START + ", " + END + ")");
            sql.execute("INSERT INTO pool_key SELECT range, 1, 'pool-' || range, 'JAVA' FROM range(1, " + SERIES + ")");
            sql.execute(
                    "INSERT INTO thread_key SELECT range, 1, range, 'thread-' || range, 'pool', 'JAVA' FROM range(1, "
                            + SERIES + ")");
            String rows = "range(" + START + ", " + END + ", 60) t(time), range(1, " + SERIES + ") s(series)";
            sql.execute("INSERT INTO pool_60 SELECT time, 1, series, 1, 1, 0, 4, false FROM " + rows);
            sql.execute("INSERT INTO thread_60 SELECT time, 1, series, 1, 1 FROM " + rows);
        }
    }

    @Test
    void shouldAnswerManyQuestionsAtOnceInASmallHeap() throws Exception {
        fill();
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        // As the launcher starts the server.
                        "-Xmx128m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        directory.toString())
                .redirectErrorStream(true)
                .start();
        try {
            String out = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(out).contains("pools 399", "written 77").doesNotContain("OutOfMemoryError");
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldWriteAgainAfterAnError() throws Exception {
        Instant start = Instant.ofEpochSecond(START);
        List<ThreadUsage> failing = new AbstractList<>() {
            @Override
            public ThreadUsage get(int index) {
                throw new OutOfMemoryError("for the test");
            }

            @Override
            public int size() {
                return 1;
            }
        };
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(history.status().problem()).isNull();
            history.add(new HistorySample(JVM, start, Samples.SECOND, failing, List.of(), new CpuTime(1, 1, 0), null));
            await(() -> history.status().problem() != null);
            assertThat(history.status().problem()).contains("for the test");
            history.add(Samples.sample(JVM, start.plusSeconds(1), List.of(Samples.pool("a", 5, 0)), List.of()));
            await(() -> history.status().problem() == null);
            assertThat(history.status().lostSamples()).isEqualTo(1);
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(history.pools(JVM.id(), start, start.plusSeconds(9), 9)
                            .pools()
                            .get(0)
                            .cpuNanos())
                    .isEqualTo(5);
        }
    }

    private interface Condition {
        boolean isMet();
    }

    private static void await(Condition condition) throws InterruptedException {
        for (long begin = System.nanoTime(); !condition.isMet(); Thread.sleep(20))
            assertThat(System.nanoTime() - begin).as("waiting").isLessThan(TIMEOUT_NANOS);
    }

    @Test
    void shouldAnswerAlthoughClientsDoNotAsk() throws Exception {
        List<SocketChannel> silent = new ArrayList<>();
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            for (int i = 0; i < 10; i++)
                silent.add(SocketChannel.open(UnixDomainSocketAddress.of(directory.resolve(QueryServer.SOCKET))));
            await(() -> {
                try {
                    return Child.query(directory, "SELECT 1").equals("answered");
                } catch (IOException e) {
                    return false; // refused before the request was read
                }
            });
            assertThat(history.status().problem()).isNull();
        } finally {
            for (SocketChannel channel : silent) channel.close();
        }
    }
}
