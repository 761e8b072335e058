// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.ExportBy;
import org.taskclock.history.ExportFormat;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** Rows of an opened recording as Parquet, read with DuckDB. */
class RecordingExportTest {
    private static final Instant START = Instant.parse("2026-11-22T03:12:00.250Z");

    @TempDir
    Path directory;

    private static ThreadUsage thread(int tid, String name, String pool, long cpu, long user) {
        return ThreadUsage.of(1, tid, name, ThreadKind.JAVA)
                .pool(pool)
                .cpu(cpu, user)
                .waited(0)
                .switches(0, 0)
                .state('S')
                .build();
    }

    private static List<Interval> intervals() {
        List<Interval> intervals = new ArrayList<>();
        for (int i = 0; i < 3; i++)
            intervals.add(new Interval(
                    START.plusSeconds(i + 1),
                    1_000_000_000,
                    1,
                    "Main",
                    "proc",
                    List.of(
                            thread(7, "a \"1\", it's\nlong", "a \"#\", it's\nlong", 30 + i, 20),
                            thread(8, "a \"2\", it's\nlong", "a \"#\", it's\nlong", 5, 5),
                            thread(9, "", "", 2, 1),
                            thread(10, "idle", "idle", 0, 0)),
                    null,
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(ThreadUsage.ofGroup(1, new PoolKey("tenant=a=\"b\"\n", ThreadKind.ACCOUNT), 0)
                            .cpu(12, 7)
                            .build())));
        return intervals;
    }

    private List<List<Object>> read(ExportBy by) throws IOException, SQLException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        RecordingExport.write(intervals(), by, ExportFormat.PARQUET, out);
        Path file = Files.write(directory.resolve("export.parquet"), out.toByteArray());
        List<List<Object>> rows = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("FROM '" + file + "'")) {
            while (result.next()) {
                List<Object> row = new ArrayList<>();
                row.add(result.getObject(1, OffsetDateTime.class).toInstant());
                for (int i = 2; i <= result.getMetaData().getColumnCount(); i++) row.add(result.getObject(i));
                rows.add(row);
            }
        }
        return rows;
    }

    @Test
    void shouldExportPoolsAsParquet() throws IOException, SQLException {
        List<List<Object>> rows = read(ExportBy.POOL);
        assertThat(rows).hasSize(6);
        for (int i = 0; i < 3; i++) {
            Instant end = START.plusSeconds(i + 1);
            assertThat(rows.get(2 * i))
                    .containsExactly(end, 1_000_000_000L, "a \"#\", it's\nlong", "java", 25L, 10L + i);
            assertThat(rows.get(2 * i + 1)).containsExactly(end, 1_000_000_000L, "", "java", 1L, 1L);
        }
    }

    @Test
    void shouldExportAccountsAsParquet() throws IOException, SQLException {
        List<List<Object>> rows = read(ExportBy.ACCOUNT);
        assertThat(rows).hasSize(3);
        assertThat(rows.get(2)).containsExactly(START.plusSeconds(3), 1_000_000_000L, "tenant", "a=\"b\"\n", 7L, 5L);
    }

    @Test
    void shouldExportThreadsAsParquet() throws IOException, SQLException {
        List<List<Object>> rows = read(ExportBy.THREAD);
        assertThat(rows).hasSize(9);
        assertThat(rows.get(0))
                .containsExactly(
                        START.plusSeconds(1),
                        1_000_000_000L,
                        7,
                        "a \"1\", it's\nlong",
                        "a \"#\", it's\nlong",
                        "java",
                        20L,
                        10L);
        assertThat(rows.get(8)).containsExactly(START.plusSeconds(3), 1_000_000_000L, 9, "", "", "java", 1L, 1L);
    }
}
