// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Reads the stacks of profiles, of one JVM or of all that a condition selects. */
final class StackReader implements RowConsumer {
    private static final long MINUTE = 60;
    private static final String FRAME_END = "\n";

    private Duration profiled = Duration.ZERO;
    private final List<StackHistory.Stack> stacks = new ArrayList<>();

    static StackHistory read(Connection connection, String jvmId, Instant from, Instant to, String pool, int maxStacks)
            throws SQLException {
        StackReader reader = new StackReader();
        Sql.query(
                connection,
                row -> reader.add(
                        row.getLong(1),
                        row.getString(2),
                        row.getString(3),
                        row.getString(4),
                        row.getLong(5),
                        row.getLong(6)),
                sql("id = " + HistoryDatabase.quote(jvmId), from, to, pool, maxStacks));
        return reader.result();
    }

    /**
     * Returns SQL for the stacks of the minutes that overlap a range.
     *
     * @param jvms a condition on the table of JVMs
     * @param pool null for all pools
     * @param maxStacks the number of stacks to read; the others are combined
     */
    static String sql(String jvms, Instant from, Instant to, String pool, int maxStacks) {
        String pools = pool == null ? "" : " WHERE pool = " + HistoryDatabase.quote(pool);
        return """
                WITH r AS (SELECT time, series, stack, cpu_ns, samples FROM profile_60 WHERE time >= %1$d AND time < %2$d
                        AND jvm IN (SELECT jvm FROM jvm_key WHERE %3$s)),
                sums AS (SELECT p.pool, p.kind, r.stack, sum(r.cpu_ns)::BIGINT AS cpu, sum(r.samples)::BIGINT AS n
                    FROM r JOIN (FROM pool_key%4$s) p USING (series) GROUP BY ALL),
                ranked AS (SELECT *, row_number() OVER (ORDER BY cpu DESC) AS place FROM sums),
                named AS (SELECT pool, kind, coalesce(array_to_string(s.frames, chr(10)), '%5$s') AS frames,
                        sum(cpu)::BIGINT AS cpu, sum(n)::BIGINT AS samples
                    FROM ranked LEFT JOIN stack_key s ON s.stack = ranked.stack AND place <= %6$d GROUP BY ALL)
                SELECT seconds, pool, kind, frames, cpu, samples
                FROM (SELECT count(DISTINCT time) * 60 AS seconds FROM r) LEFT JOIN named ON true ORDER BY cpu DESC
                """.formatted(
                        Math.floorDiv(from.getEpochSecond(), MINUTE) * MINUTE,
                        to.getEpochSecond(),
                        jvms,
                        pools,
                        HistoryProfile.OTHER,
                        maxStacks);
    }

    @Override
    public void columns(List<String> names) {
        // Those of the SQL above.
    }

    @Override
    public void row(List<Object> row) {
        add(
                number(row.get(0)),
                (String) row.get(1),
                (String) row.get(2),
                (String) row.get(3),
                number(row.get(4)),
                number(row.get(5)));
    }

    private static long number(Object value) {
        return value == null ? 0 : ((Number) value).longValue();
    }

    private void add(long seconds, String pool, String kind, String frames, long cpuNanos, long samples) {
        profiled = Duration.ofSeconds(seconds);
        if (pool == null) return; // there are no stacks
        stacks.add(new StackHistory.Stack(pool, kind, List.of(frames.split(FRAME_END, -1)), cpuNanos, samples));
    }

    StackHistory result() {
        return new StackHistory(profiled, stacks);
    }
}
