// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.monitor.usage.ThreadUsage;

/** Exported files have exactly the rows that were added. */
class HistoryExportTest {
    private static final JvmKey JVM = Samples.jvm(4711);

    /** Names that CSV has to quote. */
    private static final List<String> NAMES = List.of("a", "with, comma", "with \"quotes\"", "it's", "größe 線程");

    private static final int SECONDS = 20;

    @TempDir
    Path directory;

    private final Instant start = Instant.now().truncatedTo(ChronoUnit.MINUTES).minusSeconds(120);

    /** An exported row. */
    private record Exported(Instant time, String name, long user, long system) {}

    @BeforeEach
    void writeHistory() throws HistoryException {
        try (History history = DuckDbHistory.open(directory.resolve("data"), HistoryOptions.DEFAULT)) {
            for (int i = 0; i < SECONDS; i++) {
                List<ThreadUsage> pools = new ArrayList<>();
                List<ThreadUsage> threads = new ArrayList<>();
                for (int n = 0; n < NAMES.size(); n++) {
                    pools.add(Samples.pool(NAMES.get(n), user(i, n), n));
                    pools.add(Samples.account("tenant", NAMES.get(n), user(i, n), n));
                    threads.add(Samples.thread(100 + n, NAMES.get(n), user(i, n), n));
                }
                for (JvmKey jvm : List.of(JVM, Samples.jvm(1)))
                    history.add(Samples.sample(jvm, start.plusSeconds(i + 1), pools, threads));
            }
        }
    }

    private static long user(int second, int name) {
        return 1_000_000L * (second + 1) + name;
    }

    /** Returns the rows from the sixth to the fifteenth second, which are exported. */
    private List<Exported> expected() {
        List<Exported> rows = new ArrayList<>();
        for (int i = 5; i < 15; i++)
            for (int n = 0; n < NAMES.size(); n++)
                rows.add(new Exported(start.plusSeconds(i), NAMES.get(n), user(i, n), n));
        return rows;
    }

    /** Returns the column with the name of the subject of a row. */
    private static String nameColumn(ExportBy by) {
        return switch (by) {
            case POOL -> "pool";
            case THREAD -> "name";
            case ACCOUNT -> "account";
        };
    }

    private byte[] export(ExportBy by, ExportFormat format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (History history = DuckDbHistory.open(directory.resolve("data"), HistoryOptions.DEFAULT)) {
            history.export(JVM.id(), start.plusSeconds(5), start.plusSeconds(15), by, format, out);
        }
        try (var left = Files.list(directory.resolve("data").resolve("export"))) {
            assertThat(left).isEmpty();
        }
        return out.toByteArray();
    }

    @Test
    void shouldExportJson() throws IOException {
        for (ExportBy by : ExportBy.values()) {
            String text = new String(export(by, ExportFormat.JSON), StandardCharsets.UTF_8);
            JsonArray array = JsonParser.parseString(text).getAsJsonArray();
            List<Exported> rows = new ArrayList<>();
            for (JsonElement element : array) {
                JsonObject row = element.getAsJsonObject();
                assertThat(row.get("jvm").getAsString()).isEqualTo(JVM.id());
                assertThat(row.get("seconds").getAsInt()).isEqualTo(1);
                String label = by == ExportBy.ACCOUNT ? "type" : "kind";
                assertThat(row.get(label).getAsString()).isEqualTo(by == ExportBy.ACCOUNT ? "tenant" : "java");
                assertThat(row.get("cpu_ns").getAsLong())
                        .isEqualTo(row.get("user_ns").getAsLong()
                                + row.get("system_ns").getAsLong());
                rows.add(new Exported(
                        time(row.get("time").getAsString()),
                        row.get(nameColumn(by)).getAsString(),
                        row.get("user_ns").getAsLong(),
                        row.get("system_ns").getAsLong()));
            }
            assertThat(rows).containsExactlyInAnyOrderElementsOf(expected());
        }
    }

    @Test
    void shouldExportCsv() throws IOException {
        for (ExportBy by : ExportBy.values()) {
            List<List<String>> lines = parseCsv(new String(export(by, ExportFormat.CSV), StandardCharsets.UTF_8));
            List<String> names = lines.get(0);
            List<Exported> rows = new ArrayList<>();
            for (List<String> line : lines.subList(1, lines.size())) {
                assertThat(line).hasSameSizeAs(names);
                assertThat(line.get(names.indexOf("pid"))).isEqualTo("4711");
                if (by == ExportBy.POOL)
                    assertThat(line.get(names.indexOf("threads"))).isEqualTo("3");
                if (by == ExportBy.THREAD)
                    assertThat(Integer.parseInt(line.get(names.indexOf("tid")))).isBetween(100, 104);
                rows.add(new Exported(
                        time(line.get(names.indexOf("time"))),
                        line.get(names.indexOf(nameColumn(by))),
                        Long.parseLong(line.get(names.indexOf("user_ns"))),
                        Long.parseLong(line.get(names.indexOf("system_ns")))));
            }
            assertThat(rows).containsExactlyInAnyOrderElementsOf(expected());
        }
    }

    /** Reads text as RFC 4180 says. */
    private static List<List<String>> parseCsv(String text) {
        List<List<String>> lines = new ArrayList<>();
        List<String> line = new ArrayList<>();
        StringBuilder field = new StringBuilder();
        boolean isQuoted = false;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isEscaped = isQuoted && c == '"' && i + 1 < text.length() && text.charAt(i + 1) == '"';
            if (isEscaped) field.append(text.charAt(++i));
            else if (c == '"') isQuoted = !isQuoted;
            else if (isQuoted || (c != ',' && c != '\n')) field.append(c);
            else {
                line.add(field.toString());
                field.setLength(0);
                if (c == '\n') {
                    lines.add(line);
                    line = new ArrayList<>();
                }
            }
        }
        assertThat(isQuoted).isFalse();
        assertThat(line).isEmpty();
        return lines;
    }

    @Test
    void shouldExportParquet() throws IOException, SQLException {
        for (ExportBy by : ExportBy.values()) {
            Path file = directory.resolve("export.parquet");
            Files.write(file, export(by, ExportFormat.PARQUET));
            assertThat(read(file, nameColumn(by))).containsExactlyInAnyOrderElementsOf(expected());
        }
    }

    @Test
    void shouldExportAllHostsAndDaysAsParquet() throws IOException, SQLException {
        Path target = directory.resolve("all");
        HistoryQueries.of(directory.resolve("data")).export(target);
        for (ExportBy by : ExportBy.values()) {
            String files =
                    target.resolve(by.name().toLowerCase(Locale.ROOT) + "_cpu") + "/host=host-a/date=*/part.parquet";
            assertThat(read(Path.of(files), nameColumn(by)))
                    .hasSize(2 * SECONDS * NAMES.size())
                    .containsAll(expected());
        }
    }

    private static List<Exported> read(Path files, String name) throws SQLException {
        List<Exported> rows = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(
                        "SELECT time, " + name + ", user_ns, system_ns, cpu_ns FROM '" + files + "'")) {
            while (result.next()) {
                assertThat(result.getLong(5)).isEqualTo(result.getLong(3) + result.getLong(4));
                rows.add(new Exported(
                        result.getObject(1, OffsetDateTime.class).toInstant(),
                        result.getString(2),
                        result.getLong(3),
                        result.getLong(4)));
            }
        }
        return rows;
    }

    /** Reads what DuckDB writes, such as 2026-11-22 03:12:00+00. */
    private static Instant time(String text) {
        return OffsetDateTime.parse(text.replace(' ', 'T').replaceAll("([+-][0-9]{2})$", "$1:00"))
                .toInstant();
    }
}
