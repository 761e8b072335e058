// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.monitor.recording.Mark;

/** SQL can read the history and nothing else, whether a process writes it or not. */
@Tag("slow17")
class HistoryQueriesTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final List<String> REFUSED = List.of(
            "INSERT INTO mark_row VALUES (1, 'x', 'x', 'x')",
            "DELETE FROM mark_row",
            "DROP VIEW pool_cpu",
            "CREATE TABLE x (a INTEGER)",
            "CREATE TEMP TABLE x (a INTEGER)",
            "WITH x AS (INSERT INTO mark_row VALUES (1, 'x', 'x', 'x') RETURNING *) SELECT * FROM x",
            "SELECT 1; DELETE FROM mark_row",
            "SELECT 1) ; DELETE FROM mark_row; SELECT (1",
            "COPY mark TO 'SECRET'",
            "COPY mark TO 'EXPORT/x.csv'",
            "COPY mark_row FROM 'SECRET'",
            "EXPORT DATABASE 'EXPORT'",
            "ATTACH 'SECRET' AS other",
            "ATTACH ':memory:' AS other",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET memory_limit = '1GB'",
            "PRAGMA database_list",
            "CHECKPOINT",
            "CALL force_checkpoint()",
            "BEGIN",
            "SELECT * FROM read_csv('SECRET')",
            "SELECT * FROM read_text('SECRET')",
            "SELECT * FROM 'SECRET'",
            "SELECT * FROM glob('/*')",
            "SELECT * FROM read_blob('EXPORT/*')",
            "SELECT * FROM read_csv('http://127.0.0.1:1/x.csv')",
            "SELECT (SELECT count(*) FROM read_text('SECRET'))",
            "SELECT * FROM query('SELECT 1')",
            "SELECT * FROM query_table('mark_row')",
            "SELECT * FROM checkpoint()",
            "SELECT * FROM enable_profiling(save_location := 'SECRET')",
            "SELECT * FROM json_execute_serialized_sql(json_serialize_sql("
                    + "'WITH x AS (DELETE FROM mark_row RETURNING *) SELECT * FROM x'))",
            "SELECT write_log('x')",
            "SELECT 1 PLUS100",
            "SELECT\u0001\n\u001b]0;x FROM",
            "SELECT sleep_ms(100000)",
            "SELEC 1",
            "",
            "SELECT * FROM missing");

    @TempDir
    Path temporary;

    private Path directory;
    private Path secret;

    @BeforeEach
    void writeHistory() throws IOException {
        directory = temporary.resolve("data");
        secret = temporary.resolve("secret.csv");
        Files.writeString(secret, "secret\n");
        Instant start = Instant.now().minusSeconds(60);
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            for (int i = 0; i < 20; i++)
                history.add(Samples.sample(
                        Samples.jvm(7),
                        start.plusSeconds(i),
                        List.of(Samples.pool("a", 5, 1), Samples.pool("it's", 2, 0)),
                        List.of(Samples.thread(9, "a", 5, 1))));
            history.add(new Mark(start, null, "user", "<b>"));
        }
    }

    private static final class Result implements RowConsumer {
        final List<String> names = new ArrayList<>();
        final List<List<Object>> rows = new ArrayList<>();
        boolean isTruncated;

        @Override
        public void columns(List<String> columns) {
            names.addAll(columns);
        }

        @Override
        public void row(List<Object> values) {
            rows.add(values);
        }
    }

    private Result query(String sql) throws IOException {
        Result result = new Result();
        result.isTruncated = HistoryQueries.of(directory).query(sql, 10, TIMEOUT, result);
        return result;
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @SuppressWarnings("try") // it only has to run
    void shouldAnswer(boolean isRunning) throws IOException {
        try (AutoCloseableHistory running = new AutoCloseableHistory(isRunning)) {
            Result result =
                    query("SELECT pool, sum(cpu_ns) AS cpu FROM pool_cpu GROUP BY pool ORDER BY cpu DESC; -- end");
            assertThat(result.names).containsExactly("pool", "cpu");
            assertThat(result.rows).hasSize(2);
            assertThat(result.rows.get(0)).containsExactly("a", 120L);
            assertThat(result.rows.get(1)).containsExactly("it's", 40L);
            assertThat(query("SELECT sum(cpu_ns) FROM thread_cpu").rows).containsExactly(List.of(120L));
            assertThat(query("SELECT kind, text FROM mark").rows).containsExactly(List.of("user", "<b>"));
            assertThat(query("SELECT host, pid, service FROM jvm").rows)
                    .containsExactly(List.of("host-a", 7L, "service-7"));
            assertThat(query("DESCRIBE pool_cpu").rows.get(0)).contains("time", "TIMESTAMP WITH TIME ZONE");
            assertThat(query("WITH x AS (SELECT 1 AS a) FROM x").rows).containsExactly(List.of(1L));
            Result truncated = query("SELECT time FROM pool_cpu");
            assertThat(truncated.isTruncated).isTrue();
            assertThat(truncated.rows).hasSize(10);
            assertThat(query("SELECT time FROM pool_cpu LIMIT 10").isTruncated).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @SuppressWarnings("try") // it only has to run
    void shouldRefuse(boolean isRunning) throws IOException {
        try (AutoCloseableHistory running = new AutoCloseableHistory(isRunning)) {
            for (String template : REFUSED) {
                String sql = template.replace("SECRET", secret.toString())
                        .replace("PLUS100", "+1".repeat(100))
                        .replace("EXPORT", directory.resolve("export").toString());
                assertThatThrownBy(() -> query(sql))
                        .as(sql)
                        .isInstanceOf(HistoryException.class)
                        .message()
                        .doesNotContainPattern("\\p{Cc}");
                assertThat(query("SELECT kind, text FROM mark").rows).as(sql).containsExactly(List.of("user", "<b>"));
                assertThat(secret).as(sql).hasContent("secret\n");
                try (var files = Files.list(directory.resolve("export"))) {
                    assertThat(files).as(sql).isEmpty();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @SuppressWarnings("try") // it only has to run
    void shouldLimitTheTime(boolean isRunning) throws IOException {
        try (AutoCloseableHistory running = new AutoCloseableHistory(isRunning)) {
            HistoryQueries queries = HistoryQueries.of(directory);
            String sql = "SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE hash(a.range + b.range) = 1";
            assertThatThrownBy(() -> queries.query(sql, 10, Duration.ofSeconds(1), new Result()))
                    .isInstanceOf(HistoryException.class)
                    .hasMessageContaining("not finished after 1 s");
        }
    }

    @Test
    void shouldOnlyLetTheOwnerAsk() throws IOException {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)))
                    .isEqualTo("rwx------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("query.sock"))))
                    .isEqualTo("rw-------");
            assertThat(history.status().problem()).isNull();
        }
        assertThat(directory.resolve("query.sock")).doesNotExist();
    }

    @Test
    void shouldExportPartitionedParquet() throws IOException {
        Path first = temporary.resolve("first");
        Path second = temporary.resolve("second");
        int files = HistoryQueries.of(directory).export(first);
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(HistoryQueries.of(directory).export(second)).isEqualTo(files);
            assertThat(history.status().problem()).isNull();
        }
        assertThat(first.resolve("jvm/host=host-a/part.parquet")).exists();
        try (var paths = Files.walk(first)) {
            List<Path> exported = paths.filter(Files::isRegularFile).toList();
            assertThat(exported).hasSize(files);
            for (Path path : exported) {
                assertThat(path).startsWith(first);
                assertThat(second.resolve(first.relativize(path))).exists();
            }
        }
    }

    @Test
    void shouldNameTheRemedyIfThereIsNoHistory() {
        assertThatThrownBy(() -> HistoryQueries.of(temporary.resolve("none")))
                .isInstanceOf(HistoryException.class)
                .hasMessageContaining("no history here: run taskclock serve");
    }

    /** The process that writes the history, or none. */
    private final class AutoCloseableHistory implements AutoCloseable {
        private final History history;

        AutoCloseableHistory(boolean isRunning) throws HistoryException {
            history = isRunning ? DuckDbHistory.open(directory, HistoryOptions.DEFAULT) : null;
        }

        @Override
        public void close() {
            if (history != null) history.close();
        }
    }
}
