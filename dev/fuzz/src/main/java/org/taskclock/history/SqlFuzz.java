// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.taskclock.fuzz.OneLine;

/**
 * SQL of {@code taskclock query}, executed in a process that writes a history. It must not change the history, the
 * configuration, or a file, and must not show the content of another file.
 *
 * <p>An input is a statement. If it starts with 0, each of the other bytes stands for a part of a statement, so that
 * more inputs are valid SQL.
 */
public final class SqlFuzz {
    private static final String SECRET = "the content of a file";
    private static final int MAX_ROWS = 20;

    /** Separated by spaces. New parts are appended, so that known inputs keep their meaning. */
    private static final String[] PARTS = ("SELECT FROM WHERE WITH x AS ( ) , * ; 1 'a' pool_cpu thread_cpu jvm mark"
                    + " mark_row state GROUP BY ORDER LIMIT UNION ALL JOIN USING ON LATERAL VALUES EXISTS IN NOT CASE"
                    + " WHEN THEN ELSE END DESCRIBE SUMMARIZE SHOW EXPLAIN ANALYZE PIVOT UNPIVOT QUALIFY OVER PARTITION"
                    + " FILTER COPY TO INSERT INTO DELETE UPDATE SET CREATE TABLE TEMP VIEW MACRO DROP ATTACH DETACH"
                    + " USE PRAGMA CALL EXPORT DATABASE IMPORT INSTALL LOAD CHECKPOINT BEGIN COMMIT PREPARE EXECUTE"
                    + " RETURNING RECURSIVE MATERIALIZED POSITIONAL ASOF TABLESAMPLE AT VERSION COLUMNS EXCLUDE REPLACE"
                    + " MERGE MATCHED read_text read_csv read_csv_auto read_blob read_json read_json_objects glob"
                    + " read_duckdb parquet_scan sniff_csv query query_table seq_scan json_execute_serialized_sql"
                    + " json_serialize_sql json_deserialize_sql json_serialize_plan json_each write_log parse_duckdb_log_message"
                    + " sleep_ms nextval currval getvariable setseed current_setting getenv enable_profiling"
                    + " enable_logging truncate_duckdb_logs force_checkpoint checkpoint pragma_version"
                    + " pragma_database_size duckdb_settings duckdb_secrets duckdb_logs duckdb_tables duckdb_columns"
                    + " which_secret test_all_types repeat repeat_row summary arrow_scan storage_info add_parquet_key"
                    + " import_database_checked in_search_path current_database current_schemas txid_current error"
                    + " range generate_series unnest list_transform lambda : x + - / . :: [ ] { } = := < > ? $1 ' \" --"
                    + " /* */ main system temp pg_catalog information_schema tables 'SECRET' \"SECRET\""
                    + " 'SELECT' 'mark_row' 'DELETE' NULL 0 100 TRUE key value name text count sum max string_agg"
                    + " 'memory_limit' INTERVAL DATE TIMESTAMP VARCHAR INTEGER JSON STRUCT MAP CAST TRY_CAST")
            .split(" ");

    private static final Path DIRECTORY;
    private static final Path SECRET_FILE;
    private static final HistoryDatabase DATABASE;
    private static final String STATE;

    static {
        try {
            Path parent = Files.createTempDirectory("taskclock-fuzz-");
            DIRECTORY = parent.resolve("data");
            SECRET_FILE = Files.writeString(parent.resolve("secret.csv"), SECRET);
            DATABASE = HistoryDatabase.open(DIRECTORY);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(parent)));
            try (Connection connection = DATABASE.connection();
                    Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO mark_row VALUES (1, 'x', 'user', 'mark', 0)");
            }
            STATE = state();
        } catch (IOException | SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private SqlFuzz() {}

    /** Initializes this class, for which an input does not have enough time. */
    public static void fuzzerInitialize() {}

    public static void fuzzerTestOneInput(byte[] data) throws IOException, SQLException {
        String sql = sql(data).replace("SECRET", SECRET_FILE.toString());
        try (Connection connection = DATABASE.reader()) {
            QueryGuard.check(connection, sql);
        } catch (HistoryException e) {
            OneLine.check(e);
            return; // so that most inputs take little time
        }
        try (Connection connection = DATABASE.reader()) {
            new QuerySession(connection, DIRECTORY).query(sql, MAX_ROWS, 1, new RowConsumer() {
                @Override
                public void columns(List<String> names) {
                    check(names);
                }

                @Override
                public void row(List<Object> values) {
                    check(values);
                }
            });
        } catch (HistoryException e) {
            OneLine.check(e);
        } catch (SQLException e) {
            Failures.describe(e); // the callers print this
        }
        String state = state();
        if (!state.equals(STATE)) throw new AssertionError("changed from " + STATE + " to " + state + " by " + sql);
    }

    private static String sql(byte[] data) {
        if (data.length == 0 || data[0] != 0) return new String(data, StandardCharsets.UTF_8);
        StringBuilder sql = new StringBuilder();
        for (int i = 1; i < data.length; i++)
            sql.append(PARTS[(data[i] & 0xff) % PARTS.length]).append(' ');
        return sql.toString();
    }

    private static void check(List<?> values) {
        for (Object value : values)
            if (String.valueOf(value).contains(SECRET)) throw new AssertionError("a file was read: " + value);
    }

    /** Returns what a statement could change: rows, tables, settings, and files. */
    private static String state() throws SQLException, IOException {
        String sql = "SELECT (SELECT string_agg(text) FROM mark_row)"
                + " || (SELECT count(*) || ' ' || sum(estimated_size) FROM duckdb_tables())"
                + " || (SELECT ' ' || count(*) FROM duckdb_views() WHERE NOT internal)"
                + " || (SELECT ' ' || count(*) FROM duckdb_databases() WHERE NOT internal)"
                + " || current_setting('enable_external_access') || current_setting('lock_configuration')"
                + " || current_setting('memory_limit') || current_setting('threads')";
        StringBuilder state = new StringBuilder();
        try (Connection connection = DATABASE.connection();
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            result.next();
            state.append(result.getString(1));
        }
        try (Stream<Path> files = Files.walk(DIRECTORY.getParent())) {
            for (Path file : files.filter(Files::isRegularFile).sorted().toList())
                state.append(' ').append(file.getFileName()).append(' ').append(Files.size(file));
        }
        return state.append(Files.readString(SECRET_FILE).equals(SECRET)).toString();
    }

    private static void delete(Path directory) {
        DATABASE.close();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
        } catch (IOException e) {
            // The directory is cleaned by the system.
        }
    }
}
