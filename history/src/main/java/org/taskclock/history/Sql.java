// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Runs single statements. */
final class Sql {
    /** Reads the current row. */
    interface RowReader {
        void read(ResultSet row) throws SQLException;
    }

    private Sql() {}

    static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) statement.execute(sql);
        }
    }

    /** Runs a query with values for its parameters, and reads each row of the result. */
    static void query(Connection connection, RowReader reader, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) statement.setObject(i + 1, values[i]);
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) reader.read(result);
            }
        }
    }

    /** Returns the number that is the result of a query; null if there is none. */
    static Long number(Connection connection, String sql, Object... values) throws SQLException {
        Long[] number = {null};
        query(
                connection,
                row -> {
                    long value = row.getLong(1);
                    if (!row.wasNull()) number[0] = value;
                },
                sql,
                values);
        return number[0];
    }
}
