// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;

/** Runs SQL of users, and exports, on a read-only connection. */
final class QuerySession {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ssxxx");

    /** The exported views, and their columns except for the host and the date, which partition the files. */
    private static final List<String> EXPORTED =
            List.of("pool_cpu", "thread_cpu", "account_cpu", "process_cpu", "stack_cpu");

    private static final int MAX_CHARACTERS = 100_000_000;

    private final Connection connection;
    private final Path directory;

    QuerySession(Connection connection, Path directory) {
        this.connection = connection;
        this.directory = directory;
    }

    /** Returns whether there are more rows than {@code maxRows}. */
    boolean query(String sql, int maxRows, int maxSeconds, RowConsumer out) throws SQLException, IOException {
        String statement = QueryGuard.check(connection, sql);
        try (Statement limited = connection.createStatement()) {
            limited.setQueryTimeout(maxSeconds);
            // The limit keeps the result small. A subquery cannot contain a statement that writes.
            String query = "FROM (" + statement + ") LIMIT " + (maxRows + 1L);
            long start = System.nanoTime();
            try (ResultSet result = limited.executeQuery(query)) {
                return copy(result, maxRows, out);
            } catch (SQLException e) {
                if (System.nanoTime() - start < maxSeconds * 1_000_000_000L) throw e;
                throw new HistoryException(
                        "SQL: not finished after " + maxSeconds + " s: select less, or set a longer --timeout", e);
            }
        }
    }

    private static boolean copy(ResultSet result, int maxRows, RowConsumer out) throws SQLException, IOException {
        ResultSetMetaData columns = result.getMetaData();
        List<String> names = new ArrayList<>();
        for (int i = 1; i <= columns.getColumnCount(); i++) names.add(columns.getColumnLabel(i));
        out.columns(names);
        long characters = 0;
        for (int rows = 0; result.next(); rows++) {
            if (rows == maxRows) return true;
            List<Object> values = new ArrayList<>(names.size());
            for (int i = 1; i <= names.size(); i++) {
                Object value = value(result.getObject(i));
                characters += value instanceof String text ? text.length() : 1;
                values.add(value);
            }
            if (characters > MAX_CHARACTERS)
                throw new HistoryException(
                        "SQL: the result has more than " + MAX_CHARACTERS + " characters: select less");
            out.row(values);
        }
        return false;
    }

    private static Object value(Object value) {
        if (value == null || value instanceof Boolean) return value;
        if (value instanceof Long || value instanceof Integer || value instanceof Short || value instanceof Byte)
            return ((Number) value).longValue();
        if (value instanceof BigInteger sum && sum.bitLength() < Long.SIZE) return sum.longValue();
        if (value instanceof BigInteger || value instanceof BigDecimal) return value;
        if (value instanceof Number number)
            return Double.isFinite(number.doubleValue()) ? (Object) number.doubleValue() : number.toString();
        if (value instanceof OffsetDateTime time) return TIME.format(time.atZoneSameInstant(ZoneId.systemDefault()));
        return value.toString();
    }

    /** Receives exported files. */
    interface FileConsumer {
        /**
         * Called for each file.
         *
         * @param name the path relative to the directory of the export
         * @param content a temporary file
         */
        void file(String name, Path content) throws IOException;
    }

    /** A part of the export. */
    private record Partition(String host, String date) {}

    /**
     * Exports Parquet files, one for each view, host, and day.
     *
     * @param day the only day to export; null for all
     */
    void export(String day, FileConsumer out) throws SQLException, IOException {
        for (String view : EXPORTED) {
            for (Partition part : partitions(view)) {
                if (day != null && !day.equals(part.date)) continue;
                String query = "SELECT * EXCLUDE (host) FROM " + view + " WHERE host = "
                        + HistoryDatabase.quote(part.host) + " AND time >= TIMESTAMPTZ '" + part.date
                        + " 00:00:00+00' AND time < TIMESTAMPTZ '" + part.date
                        + " 00:00:00+00' + INTERVAL 24 HOURS ORDER BY time";
                write(view + "/host=" + encode(part.host) + "/date=" + part.date + "/part.parquet", query, out);
            }
        }
        for (String view : List.of("jvm", "mark")) {
            String host = hostName();
            String query = "SELECT *" + (view.equals("jvm") ? " EXCLUDE (host)" : "") + " FROM " + view;
            write(view + "/host=" + encode(host) + "/part.parquet", query, out);
        }
    }

    /** Returns the host of this history; one of them if the history was moved between hosts. */
    private String hostName() throws SQLException {
        String[] host = {null};
        Sql.query(connection, row -> host[0] = row.getString(1), "SELECT max_by(host, last_seen) FROM jvm_key");
        return String.valueOf(host[0]);
    }

    private List<Partition> partitions(String view) throws SQLException {
        List<Partition> parts = new ArrayList<>();
        Sql.query(
                connection,
                row -> parts.add(new Partition(row.getString(1), row.getString(2))),
                "SELECT DISTINCT host, strftime(time AT TIME ZONE 'UTC', '%Y-%m-%d') AS date FROM " + view
                        + " ORDER BY ALL");
        return parts;
    }

    private void write(String name, String query, FileConsumer out) throws SQLException, IOException {
        Path file = HistoryExport.writeFile(directory, connection, query, ExportFormat.PARQUET);
        try {
            out.file(name, file);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** Encodes a host name for a directory as Hive does. */
    static String encode(String host) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < host.length(); i++) {
            char c = host.charAt(i);
            boolean isPlain = Character.isLetterOrDigit(c) || c == '-' || c == '_' || (c == '.' && i > 0);
            if (isPlain || c > 0x7f) text.append(c);
            else text.append(String.format("%%%02X", (int) c));
        }
        return text.toString();
    }
}
