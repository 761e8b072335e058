// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files in the data directory other than the database count, and are deleted if they are of no more use. */
class DataDirectoryTest {
    private static final long NOW = 1_790_000_040;

    @TempDir
    Path directory;

    private static void allocate(Path file, long bytes) throws IOException {
        Files.createDirectories(file.getParent());
        try (RandomAccessFile created = new RandomAccessFile(file.toFile(), "rw")) {
            created.setLength(bytes);
        }
    }

    private static boolean isMaintained(Maintenance maintenance, StepwiseHistory history) throws SQLException {
        for (int step = 0; step < 300; step++) if (maintenance.run(history.writer)) return true;
        return false;
    }

    @Test
    void shouldDeleteTheDamagedFileBeforeRowsAndCountRecordings() throws Exception {
        Path damaged = directory.resolve("history.duckdb.damaged-20261122T031200000Z");
        long[] seconds = {0};
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            for (int i = 0; i < 3_600; i++) {
                if (i == 3_500) history.write();
                history.add(Samples.sample(
                        Samples.jvm(1),
                        Instant.ofEpochSecond(NOW + i),
                        List.of(Samples.pool("a", 9_000_000, 0)),
                        List.of()));
            }
            history.writeAll();
            history.writer.checkpoint();
            long max = 8 * history.writer.usedBytes();
            HistoryOptions options =
                    new HistoryOptions(Duration.ofDays(1), Duration.ofDays(1), Duration.ofDays(1), max);
            Maintenance maintenance =
                    new Maintenance(options, history.keys, history.database, () -> seconds[0] * 1_000_000_000);
            allocate(damaged, max / 4);
            assertThat(isMaintained(maintenance, history)).isTrue();
            assertThat(damaged).as("while there is room").exists();
            allocate(damaged, max * 3);
            seconds[0] += 601;
            assertThat(isMaintained(maintenance, history)).isTrue();
            assertThat(damaged).doesNotExist();
            assertThat(history.number("SELECT count(*) FROM pool_10"))
                    .as("there is room again")
                    .isPositive();

            allocate(directory.resolve("opened/1-2.gz"), 3 * max);
            assertThat(history.database.otherBytes())
                    .as("what clients open never replaces rows")
                    .isLessThan(4_096);
            allocate(directory.resolve("recordings/taskclock-1.tclog"), max);
            assertThat(history.database.otherBytes()).isBetween(max, max + 4_096);
            seconds[0] += 601;
            assertThat(isMaintained(maintenance, history)).isTrue();
            assertThat(directory.resolve("recordings/taskclock-1.tclog")).exists();
            assertThat(history.number("SELECT count(*) FROM pool_10"))
                    .as("half the size remains for rows")
                    .isPositive();
        }
    }

    @Test
    void shouldKeepOneDamagedFile() throws IOException {
        allocate(directory.resolve("history.duckdb.damaged-20261122T031200000Z"), 10);
        allocate(directory.resolve("history.duckdb.damaged-20261122T031200000Z.wal"), 10);
        Files.writeString(directory.resolve(HistoryDatabase.FILE), "This is not a database. ".repeat(1_000));
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT);
                Stream<Path> files = Files.list(directory)) {
            assertThat(files.map(file -> file.getFileName().toString()).filter(name -> name.contains("damaged")))
                    .containsExactly(history.status().setAside());
        }
    }

    @Test
    void shouldDeleteWhatAKilledProcessHasLeft() throws IOException {
        Path temporary = directory.resolve("temp/duckdb_temp_storage_DEFAULT-0.tmp");
        Path export = directory.resolve("export/export123.tmp");
        Path other = directory.resolve("export/mine.csv");
        for (Path file : List.of(temporary, export, other)) allocate(file, 10);
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(history.status().problem()).isNull();
            assertThat(temporary).doesNotExist();
            assertThat(export).doesNotExist();
            assertThat(other).exists();
        }
    }

    @Test
    void shouldLimitTemporaryFiles() throws SQLException, HistoryException {
        try (StepwiseHistory history = new StepwiseHistory(directory);
                Connection connection = history.database.reader();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT current_setting('max_temp_directory_size'),"
                        + " current_setting('memory_limit'), current_setting('threads')")) {
            result.next();
            assertThat(result.getString(1)).isEqualTo("953.6 MiB");
            assertThat(result.getString(2)).isEqualTo("91.5 MiB");
            assertThat(result.getInt(3)).isEqualTo(1);
        }
    }
}
