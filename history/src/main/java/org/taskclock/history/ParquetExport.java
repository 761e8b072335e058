// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.Map;
import java.util.stream.Collectors;

/** Converts rows from outside of the history to Parquet. */
public final class ParquetExport {
    private ParquetExport() {}

    /**
     * Converts a CSV file with a header and without missing values.
     *
     * @param columns the names of the columns and their types in DuckDB, in the order of the file
     * @throws HistoryException if a value does not have the type of its column
     */
    public static void write(Path csv, Map<String, String> columns, OutputStream out) throws IOException {
        Path file = Files.createTempFile("taskclock-export", ".parquet");
        try {
            convert(csv, columns, file);
            Files.copy(file, out);
        } catch (SQLException e) {
            throw new HistoryException("cannot be exported as Parquet: " + Failures.describe(e), e);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private static void convert(Path csv, Map<String, String> columns, Path file) throws SQLException {
        String types = columns.entrySet().stream()
                .map(column -> HistoryDatabase.quote(column.getKey()) + ": " + HistoryDatabase.quote(column.getValue()))
                .collect(Collectors.joining(", "));
        String names = columns.keySet().stream().map(HistoryDatabase::quote).collect(Collectors.joining(", "));
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:", HistoryDatabase.properties())) {
            NativeLibrary.deleteTemporaryFile();
            Sql.execute(
                    connection,
                    "COPY (FROM read_csv(" + HistoryDatabase.quote(csv) + ", auto_detect = false,"
                            + " header = true, delim = ',', quote = '\"', escape = '\"', force_not_null = [" + names
                            + "], columns = {" + types + "})) TO " + HistoryDatabase.quote(file)
                            + " (FORMAT parquet, COMPRESSION zstd)");
        }
    }
}
