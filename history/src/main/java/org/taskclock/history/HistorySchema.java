// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The tables and views of the database file. */
final class HistorySchema {
    /** Incremented when the tables change, so that an older program does not write to a newer file. */
    static final int VERSION = 3;

    /**
     * The SQL that converts each version of the tables to the next, starting with an empty file. A step is never
     * changed after its release.
     *
     * <p>Rows of the tables for different resolutions are additive: several rows of a series may have the same time. A
     * row of one second belongs to a batch. Rows of batches up to {@code rolled} are contained in the coarser tables,
     * too.
     *
     * <p>A row of a pool of kind {@code account} is a named account, whose CPU time is also in the other pools.
     *
     * <p>A pool that used little in a minute has one row for it, marked {@code sparse}, instead of rows for ten
     * seconds.
     *
     * <p>A row of a profile is the CPU time of a pool in one stack in a minute. The rows of a pool and minute add up to
     * what the pool used. Equal stacks are stored once; their hash finds them.
     *
     * <p>The number of the last transaction shows whether a transaction that failed was written nevertheless. The
     * columns {@code clock} and {@code deleted_1} to {@code deleted_60} are recorded time, see {@link RecordedTime}:
     * rows of the resolution that were recorded before were deleted. The table {@code gap} has the times for which rows
     * of one or ten seconds are missing, so that coarser ones are shown.
     */
    static final List<String> STEPS = List.of("""
            CREATE TABLE state (version INTEGER, transaction BIGINT, rolled INTEGER,
                seconds_from INTEGER, ten_from INTEGER);
            CREATE TABLE retention (time BIGINT);
            CREATE TABLE recorded (start INTEGER, stop INTEGER);
            CREATE TABLE jvm_key (jvm INTEGER, id VARCHAR, host VARCHAR, pid BIGINT, service VARCHAR,
                command VARCHAR, container VARCHAR, pod VARCHAR, started BIGINT, first_seen INTEGER, last_seen INTEGER);
            CREATE TABLE pool_key (series INTEGER, jvm INTEGER, pool VARCHAR, kind VARCHAR);
            CREATE TABLE thread_key (series INTEGER, jvm INTEGER, tid INTEGER, name VARCHAR, pool VARCHAR,
                kind VARCHAR);
            CREATE TABLE mark_row (time BIGINT, jvm VARCHAR, kind VARCHAR, text VARCHAR);
            CREATE TABLE pool_1 (batch INTEGER, time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT, wait_ns BIGINT, threads INTEGER);
            CREATE TABLE pool_10 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT, wait_ns BIGINT, threads INTEGER);
            CREATE TABLE pool_60 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT, wait_ns BIGINT, threads INTEGER, sparse BOOLEAN);
            CREATE TABLE thread_1 (batch INTEGER, time INTEGER, jvm INTEGER, series INTEGER,
                user_ns BIGINT, system_ns BIGINT);
            CREATE TABLE thread_10 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT);
            CREATE TABLE thread_60 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT);
            CREATE TABLE process_1 (batch INTEGER, time INTEGER, jvm INTEGER, user_ns BIGINT,
                system_ns BIGINT, container_ns BIGINT, throttled_ns BIGINT, cpu_limit DOUBLE);
            CREATE TABLE process_10 (time INTEGER, jvm INTEGER, user_ns BIGINT, system_ns BIGINT,
                container_ns BIGINT, throttled_ns BIGINT, cpu_limit DOUBLE);
            CREATE TABLE process_60 (time INTEGER, jvm INTEGER, user_ns BIGINT, system_ns BIGINT,
                container_ns BIGINT, throttled_ns BIGINT, cpu_limit DOUBLE, sparse BOOLEAN);
            INSERT INTO state VALUES (1, 0, 0, 0, 0);
            """, """
            ALTER TABLE recorded ADD COLUMN clock BIGINT;
            UPDATE recorded SET clock = r.clock FROM (SELECT rowid AS id,
                    (sum(stop - start) OVER (ORDER BY rowid) - (stop - start))::BIGINT AS clock FROM recorded) r
                WHERE recorded.rowid = r.id;
            ALTER TABLE mark_row ADD COLUMN clock BIGINT;
            UPDATE mark_row SET clock = coalesce(
                (SELECT max(r.clock + mark_row.time // 1000 - r.start) FROM recorded r
                    WHERE r.start <= mark_row.time // 1000 AND r.stop > mark_row.time // 1000),
                (SELECT max(r.clock + r.stop - r.start) FROM recorded r), 0);
            CREATE TABLE gap (seconds INTEGER, start INTEGER, stop INTEGER);
            INSERT INTO gap SELECT 1, 0, seconds_from FROM state WHERE seconds_from > 0
                UNION ALL SELECT 10, 0, ten_from FROM state WHERE ten_from > 0;
            ALTER TABLE state DROP COLUMN seconds_from;
            ALTER TABLE state DROP COLUMN ten_from;
            ALTER TABLE state ADD COLUMN deleted_1 BIGINT DEFAULT 0;
            ALTER TABLE state ADD COLUMN deleted_10 BIGINT DEFAULT 0;
            ALTER TABLE state ADD COLUMN deleted_60 BIGINT DEFAULT 0;
            DROP TABLE retention;
            """, """
            CREATE TABLE stack_key (stack INTEGER, hash BIGINT, frames VARCHAR[]);
            CREATE TABLE profile_60 (time INTEGER, jvm INTEGER, series INTEGER, stack INTEGER, cpu_ns BIGINT,
                samples BIGINT);
            """);

    /** Returns the version of the tables in a file; 0 if it has none. */
    static int version(Connection connection) throws SQLException {
        String tables = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'state' AND NOT internal";
        if (Sql.number(connection, tables) == 0) return 0;
        return Sql.number(connection, "SELECT max(version) FROM state").intValue();
    }

    /** Creates the tables and views, or those that are missing in an older file, in one transaction. */
    static void migrate(Connection connection) throws SQLException {
        int version = version(connection);
        Sql.execute(connection, "BEGIN");
        Sql.execute(connection, STEPS.subList(version, VERSION).toArray(String[]::new));
        Sql.execute(connection, "UPDATE state SET version = " + VERSION, VIEWS, "COMMIT");
    }

    /** The view of methods, from that of stacks. */
    static final String METHODS = """
            CREATE OR REPLACE VIEW method_cpu AS
                SELECT time, seconds, jvm, host, pid, service, pool, kind, method,
                    if(method = frames[-1], cpu_ns, 0) AS self_ns, cpu_ns AS total_ns
                FROM (SELECT *, unnest(list_distinct(frames)) AS method FROM stack_cpu);
            """;

    /** The views for users. Each moment appears once, at the finest resolution that is kept. */
    static final String VIEWS =
            """
            CREATE OR REPLACE VIEW jvm AS
                SELECT id AS jvm, host, pid, service, command, container, pod,
                    make_timestamptz(started * 1000) AS started,
                    make_timestamptz(first_seen * 1000000::BIGINT) AS first_seen,
                    make_timestamptz(last_seen * 1000000::BIGINT) AS last_seen
                FROM jvm_key;
            CREATE OR REPLACE VIEW mark AS
                SELECT make_timestamptz(time * 1000) AS time, jvm, kind, text FROM mark_row;
            CREATE OR REPLACE VIEW pool_row AS
                SELECT make_timestamptz(r.time * 1000000::BIGINT) AS time, r.seconds, k.id AS jvm, k.host, k.pid,
                    k.service, p.pool, p.kind, r.user_ns + r.system_ns AS cpu_ns, r.user_ns, r.system_ns, r.wait_ns,
                    r.threads
                FROM (
                    SELECT time, 1 AS seconds, series, user_ns, system_ns, wait_ns, threads FROM pool_1 t
                        WHERE NOT @1 OR batch > (SELECT rolled FROM state)
                    UNION ALL SELECT time, 10, series, user_ns, system_ns, wait_ns, threads FROM pool_10 t
                        WHERE @1 AND NOT @10
                    UNION ALL SELECT time, 60, series, user_ns, system_ns, wait_ns, threads FROM pool_60 t
                        WHERE @1 AND (sparse OR @10)
                ) r JOIN pool_key p ON p.series = r.series JOIN jvm_key k ON k.jvm = p.jvm;
            CREATE OR REPLACE VIEW pool_cpu AS FROM pool_row WHERE kind != 'account';
            CREATE OR REPLACE VIEW account_cpu AS
                SELECT time, seconds, jvm, host, pid, service, left(pool, strpos(pool, '=') - 1) AS type,
                    substr(pool, strpos(pool, '=') + 1) AS account, cpu_ns, user_ns, system_ns, wait_ns
                FROM pool_row WHERE kind = 'account';
            CREATE OR REPLACE VIEW thread_cpu AS
                SELECT make_timestamptz(r.time * 1000000::BIGINT) AS time, r.seconds, k.id AS jvm, k.host, k.pid,
                    k.service, t.tid, t.name, t.pool, t.kind, r.user_ns + r.system_ns AS cpu_ns, r.user_ns, r.system_ns
                FROM (
                    SELECT time, 1 AS seconds, series, user_ns, system_ns FROM thread_1 t
                        WHERE NOT @1 OR batch > (SELECT rolled FROM state)
                    UNION ALL SELECT time, 10, series, user_ns, system_ns FROM thread_10 t WHERE @1 AND NOT @10
                    UNION ALL SELECT time, 60, series, user_ns, system_ns FROM thread_60 t WHERE @1 AND @10
                ) r JOIN thread_key t ON t.series = r.series JOIN jvm_key k ON k.jvm = t.jvm;
            CREATE OR REPLACE VIEW process_cpu AS
                SELECT make_timestamptz(r.time * 1000000::BIGINT) AS time, r.seconds, k.id AS jvm, k.host, k.pid,
                    k.service, r.user_ns + r.system_ns AS cpu_ns, r.user_ns, r.system_ns, r.container_ns,
                    r.throttled_ns,
                    r.cpu_limit
                FROM (
                    SELECT 1 AS seconds, * EXCLUDE (batch) FROM process_1 t
                        WHERE NOT @1 OR batch > (SELECT rolled FROM state)
                    UNION ALL SELECT 10, * FROM process_10 t WHERE @1 AND NOT @10
                    UNION ALL SELECT 60, * EXCLUDE (sparse) FROM process_60 t WHERE @1 AND (sparse OR @10)
                ) r JOIN jvm_key k ON k.jvm = r.jvm;
            CREATE OR REPLACE VIEW stack_cpu AS
                SELECT make_timestamptz(r.time * 1000000::BIGINT) AS time, 60 AS seconds, k.id AS jvm, k.host, k.pid,
                    k.service, p.pool, p.kind, r.cpu_ns, r.samples, s.frames
                FROM profile_60 r JOIN pool_key p ON p.series = r.series JOIN jvm_key k ON k.jvm = p.jvm
                    JOIN stack_key s ON s.stack = r.stack;
            """.replaceAll("@(10?)", "EXISTS (FROM gap WHERE seconds = $1 AND start <= t.time AND stop > t.time)")
                    + METHODS;

    private HistorySchema() {}
}
