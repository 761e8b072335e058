// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that an older or a newer version wrote. */
class HistoryVersionTest {
    private static final JvmKey JVM = Samples.jvm(1);
    private static final Instant START = Instant.ofEpochSecond(1_790_000_040);

    @TempDir
    Path directory;

    private Path file() {
        return directory.resolve(HistoryDatabase.FILE);
    }

    private void execute(String... sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:" + file());
                Statement statement = connection.createStatement()) {
            for (String one : sql) statement.execute(one);
        }
    }

    private void writeSome() throws HistoryException {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            for (int i = 0; i < 10; i++)
                history.add(Samples.sample(JVM, START.plusSeconds(i + 1), List.of(Samples.pool("a", 1, 0)), List.of()));
        }
    }

    private void expectRefused(String reason) throws IOException {
        byte[] before = Files.readAllBytes(file());
        assertThatThrownBy(() ->
                        DuckDbHistory.open(directory, HistoryOptions.DEFAULT).close())
                .isInstanceOf(HistoryException.class)
                .message()
                .startsWith(file() + ": written by a newer version (")
                .contains(reason)
                .endsWith("): use that version or another --data directory")
                .doesNotContain("\n");
        assertThat(Files.readAllBytes(file())).as("left as it is").isEqualTo(before);
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder(HistoryDatabase.FILE, HistoryDatabase.EXPORTS, "lock");
        }
    }

    @Test
    void shouldRefuseANewerFileAndLeaveItAsItIs() throws IOException, SQLException {
        writeSome();
        // What a later version may do.
        execute(
                "UPDATE state SET version = 99",
                "ALTER TABLE mark_row RENAME TO event",
                "CREATE VIEW mark_row AS FROM event");
        expectRefused("schema 99, this is ");
    }

    @Test
    void shouldNotTakeAFileWithOtherTablesForADamagedOne() throws IOException, SQLException {
        // Such as a newer version that keeps its version elsewhere.
        execute("CREATE TABLE jvm (a INTEGER)");
        byte[] before = Files.readAllBytes(file());
        assertThatThrownBy(() ->
                        DuckDbHistory.open(directory, HistoryOptions.DEFAULT).close())
                .isInstanceOf(HistoryException.class)
                .message()
                .startsWith(file() + ": has unexpected tables (")
                .endsWith("): use the version that wrote it or another --data directory")
                .doesNotContain("\n");
        assertThat(Files.readAllBytes(file())).isEqualTo(before);
    }

    @Test
    void shouldTellAFileOfANewerDuckDbFromADamagedOne() throws IOException {
        writeSome();
        ByteBuffer header = ByteBuffer.wrap(Files.readAllBytes(file())).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(header.getLong(0)).as("DuckDB's checksum").isEqualTo(checksum(header));
        assertThat(header.getInt(8)).as("DuckDB's magic bytes").isEqualTo(0x4b435544);
        header.putLong(12, 9_999);
        header.putLong(0, checksum(header));
        Files.write(file(), header.array());
        expectRefused("9999");
        Path directory = this.directory;
        assertThatThrownBy(() -> HistoryQueries.of(directory)
                        .query("FROM jvm", 1, Duration.ofSeconds(9), new RowConsumer() {
                            @Override
                            public void columns(List<String> names) {}

                            @Override
                            public void row(List<Object> values) {}
                        }))
                .isInstanceOf(HistoryException.class)
                .hasMessageContaining("9999")
                .message()
                .doesNotContain("\n");
    }

    /** Returns the checksum of the first block, after which it is stored. */
    private static long checksum(ByteBuffer header) {
        long sum = 5381;
        for (int i = 8; i < 4_096; i += Long.BYTES) sum ^= header.getLong(i) * 0xbf58476d1ce4e5b9L;
        return sum;
    }

    @Test
    void shouldMigrateAFileOfTheFirstVersion() throws Exception {
        long time = START.getEpochSecond();
        Files.createDirectories(directory);
        execute(
                HistorySchema.STEPS.get(0),
                "UPDATE state SET transaction = 7, rolled = 1, seconds_from = " + (time + 120) + ", ten_from = "
                        + (time + 60),
                "INSERT INTO retention VALUES (" + time + ")",
                "INSERT INTO recorded VALUES (" + time + ", " + (time + 180) + "), (100, 160)",
                "INSERT INTO jvm_key VALUES (1, '" + JVM.id() + "', 'host', 1, 'a', 'A', NULL, NULL, 0, " + time + ", "
                        + (time + 180) + ")",
                "INSERT INTO pool_key VALUES (1, 1, 'a', 'JAVA')",
                "INSERT INTO pool_1 SELECT 1, range, 1, 1, 1, 0, 0, 1 FROM range(" + (time + 120) + ", " + (time + 180)
                        + ")",
                "INSERT INTO pool_10 SELECT range, 1, 1, 10, 0, 0, 1 FROM range(" + (time + 60) + ", " + (time + 180)
                        + ", 10)",
                "INSERT INTO pool_60 SELECT range, 1, 1, 60, 0, 0, 1, false FROM range(" + time + ", " + (time + 180)
                        + ", 60)",
                "INSERT INTO mark_row VALUES (" + (time + 90) * 1_000
                        + ", NULL, 'user', 'a'), (4e12, NULL, 'user', 'b')");
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            assertThat(history.number("SELECT version FROM state")).isEqualTo(HistorySchema.VERSION);
            assertThat(history.number("SELECT clock FROM recorded WHERE start = 100"))
                    .isEqualTo(180);
            assertThat(history.number("SELECT clock FROM mark_row WHERE text = 'a'"))
                    .isEqualTo(90);
            assertThat(history.number("SELECT clock FROM mark_row WHERE text = 'b'"))
                    .isEqualTo(240);
            assertThat(history.number("SELECT sum(cpu_ns) FROM pool_cpu")).isEqualTo(180);
            assertThat(history.number("SELECT count(*) FROM pool_cpu")).isEqualTo(1 + 6 + 60);
            history.writer.trimByAge(new Retention(HistoryOptions.DEFAULT));
            assertThat(history.number("SELECT sum(cpu_ns) FROM pool_cpu")).isEqualTo(180);
        }
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            assertThat(history.number("SELECT sum(cpu_ns) FROM pool_cpu"))
                    .as("opened again")
                    .isEqualTo(180);
        }
    }

    @Test
    void shouldAddProfilesToAFileOfTheSecondVersion() throws Exception {
        Files.createDirectories(directory);
        execute(HistorySchema.STEPS.get(0), HistorySchema.STEPS.get(1), "UPDATE state SET version = 2");
        writeSome();
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            assertThat(history.number("SELECT version FROM state")).isEqualTo(HistorySchema.VERSION);
            assertThat(history.number("SELECT count(*) FROM pool_cpu")).isEqualTo(10);
            assertThat(history.number("SELECT count(*) FROM stack_cpu")).isZero();
            assertThat(history.number("SELECT count(*) FROM method_cpu")).isZero();
        }
    }

    @Test
    void shouldLeaveAFileAsItIsIfItCannotBeMigrated() throws IOException, SQLException {
        execute(HistorySchema.STEPS.get(0), "CREATE TABLE gap (a INTEGER)");
        assertThatThrownBy(() ->
                        DuckDbHistory.open(directory, HistoryOptions.DEFAULT).close())
                .isInstanceOf(HistoryException.class)
                .hasMessageContaining("gap");
        execute("SELECT seconds_from, ten_from FROM state", "FROM retention");
    }
}
