// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.duckdb.DuckDBAppender;

/** The rows of the table of JVMs. */
final class JvmRows {
    private JvmRows() {}

    static void append(DuckDBAppender appender, SeriesKeys.Jvm jvm) throws SQLException {
        JvmKey key = jvm.key;
        appender.beginRow().append(jvm.id);
        append(appender, key.id());
        append(appender, key.host()).append(key.pid());
        append(appender, key.service());
        append(appender, key.command());
        append(appender, key.containerId());
        append(appender, key.podUid());
        if (key.started() == null) appender.appendNull();
        else appender.append(key.started().toEpochMilli());
        appender.append(jvm.firstSeen).append(jvm.lastSeen).endRow();
    }

    private static DuckDBAppender append(DuckDBAppender appender, String text) throws SQLException {
        return text == null ? appender.appendNull() : appender.append(SeriesKeys.cut(text));
    }

    static JvmKey key(ResultSet result) throws SQLException {
        long started = result.getLong("started");
        boolean isStartKnown = !result.wasNull();
        return new JvmKey(
                result.getString("id"),
                result.getString("host"),
                result.getLong("pid"),
                result.getString("service"),
                result.getString("command"),
                result.getString("container"),
                result.getString("pod"),
                isStartKnown ? Instant.ofEpochMilli(started) : null);
    }
}
