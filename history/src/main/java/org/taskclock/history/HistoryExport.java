// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Locale;

/** Writes rows to a file for other programs. */
final class HistoryExport {
    private HistoryExport() {}

    /** Returns a query for the rows of one JVM, at the finest resolution that is kept. */
    static String query(String jvmId, Instant from, Instant to, ExportBy by) {
        String order =
                switch (by) {
                    case POOL -> "pool, kind";
                    case THREAD -> "pool, kind, name, tid";
                    case ACCOUNT -> "type, account";
                };
        return "SELECT * FROM " + by.name().toLowerCase(Locale.ROOT) + "_cpu WHERE jvm = "
                + HistoryDatabase.quote(jvmId) + " AND time >= " + timestamp(from) + " AND time < " + timestamp(to)
                + " ORDER BY time, " + order;
    }

    private static String timestamp(Instant time) {
        return "make_timestamptz(" + Math.multiplyExact(time.getEpochSecond(), 1_000_000) + "::BIGINT)";
    }

    /** Returns a temporary file with the rows, in the only directory that DuckDB may write to. */
    static Path writeFile(Path directory, Connection connection, String query, ExportFormat format)
            throws SQLException, IOException {
        Path file = Files.createTempFile(directory.resolve(HistoryDatabase.EXPORTS), "export", ".tmp");
        try {
            String target = HistoryDatabase.quote(file.toAbsolutePath());
            Sql.execute(connection, "COPY (" + query + ") TO " + target + " (" + options(format) + ")");
            return file;
        } catch (SQLException e) {
            Files.deleteIfExists(file);
            throw e;
        }
    }

    private static String options(ExportFormat format) {
        return switch (format) {
            case CSV -> "FORMAT csv, HEADER";
            case JSON -> "FORMAT json, ARRAY true";
            case PARQUET -> "FORMAT parquet, COMPRESSION zstd";
        };
    }
}
