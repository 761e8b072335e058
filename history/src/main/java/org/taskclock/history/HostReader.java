// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.recording.Mark;

/** Reads data about the whole host. */
final class HostReader {
    private HostReader() {}

    static List<JvmHistory> jvms(Connection connection, Instant from, Instant to) throws SQLException {
        // The key is updated once a minute, so the last rows of a JVM may be later.
        String sql = """
                WITH cpu AS (
                    SELECT jvm, sum(user_ns + system_ns)::BIGINT AS nanos, max(stop) AS stop FROM (
                        SELECT jvm, user_ns, system_ns, time + 1 AS stop FROM process_1 t WHERE time >= $1 AND time < $2 AND (batch >
                            (SELECT rolled FROM state) OR NOT EXISTS (FROM gap WHERE seconds = 1
                                AND start <= t.time AND stop > t.time))
                        UNION ALL SELECT jvm, user_ns, system_ns, NULL FROM process_60 t WHERE time >= $1 AND time < $2
                            AND EXISTS (FROM gap WHERE seconds = 1 AND start <= t.time AND stop > t.time))
                    GROUP BY jvm)
                SELECT k.*, coalesce(cpu.nanos, 0) AS nanos, greatest(k.last_seen, coalesce(cpu.stop, 0)) AS seen FROM jvm_key k LEFT JOIN cpu USING (jvm)
                WHERE k.first_seen < $2 AND k.last_seen >= $1 ORDER BY nanos DESC, k.id LIMIT 2000
                """;
        List<JvmHistory> jvms = new ArrayList<>();
        Sql.query(
                connection,
                row -> jvms.add(new JvmHistory(
                        RowAppender.jvmKey(row),
                        Instant.ofEpochSecond(row.getLong("first_seen")),
                        Instant.ofEpochSecond(row.getLong("seen")),
                        row.getLong("nanos"))),
                sql,
                from.getEpochSecond(),
                to.getEpochSecond());
        return jvms;
    }

    static List<Mark> marks(Connection connection, String jvmId, Instant from, Instant to) throws SQLException {
        String sql = """
                SELECT * FROM (SELECT time, jvm, kind, text FROM mark_row
                    WHERE time >= $1 AND time < $2 AND ($3 IS NULL OR jvm IS NULL OR jvm = $3)
                    ORDER BY time DESC LIMIT 2000) ORDER BY time, kind, text
                """;
        List<Mark> marks = new ArrayList<>();
        Sql.query(
                connection,
                row -> marks.add(new Mark(
                        Instant.ofEpochMilli(row.getLong(1)), row.getString(2), row.getString(3), row.getString(4))),
                sql,
                from.toEpochMilli(),
                to.toEpochMilli(),
                jvmId);
        return marks;
    }
}
