// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

/** The tables and views of the database file. */
final class HistorySchema {
    /** Increased when the tables change, so that an older program does not write to a newer file. */
    static final int VERSION = 1;

    /**
     * Rows of the tables for different resolutions are additive: several rows of a series may have the same time. A row
     * of one second belongs to a batch. Rows of batches up to {@code rolled} are contained in the coarser tables, too.
     *
     * <p>A pool that used little in a minute has one row for it, marked {@code sparse}, instead of rows for ten
     * seconds.
     *
     * <p>The number of the last transaction tells whether one that failed was written nevertheless. Rows of one second
     * are complete from {@code seconds_from}, those of ten seconds from {@code ten_from}. The time of {@code retention}
     * is that of {@link RetentionClock}.
     */
    static final String TABLES = """
            CREATE TABLE IF NOT EXISTS state (version INTEGER, transaction BIGINT, rolled INTEGER,
                seconds_from INTEGER, ten_from INTEGER);
            CREATE TABLE IF NOT EXISTS retention (time BIGINT);
            CREATE TABLE IF NOT EXISTS recorded (start INTEGER, stop INTEGER);
            CREATE TABLE IF NOT EXISTS jvm_key (jvm INTEGER, id VARCHAR, host VARCHAR, pid BIGINT, service VARCHAR,
                command VARCHAR, container VARCHAR, pod VARCHAR, started BIGINT, first_seen INTEGER, last_seen INTEGER);
            CREATE TABLE IF NOT EXISTS pool_key (series INTEGER, jvm INTEGER, pool VARCHAR, kind VARCHAR);
            CREATE TABLE IF NOT EXISTS thread_key (series INTEGER, jvm INTEGER, tid INTEGER, name VARCHAR, pool VARCHAR,
                kind VARCHAR);
            CREATE TABLE IF NOT EXISTS mark_row (time BIGINT, jvm VARCHAR, kind VARCHAR, text VARCHAR);
            CREATE TABLE IF NOT EXISTS pool_1 (batch INTEGER, time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT, wait_ns BIGINT, threads INTEGER);
            CREATE TABLE IF NOT EXISTS pool_10 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT, wait_ns BIGINT, threads INTEGER);
            CREATE TABLE IF NOT EXISTS pool_60 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT, wait_ns BIGINT, threads INTEGER, sparse BOOLEAN);
            CREATE TABLE IF NOT EXISTS thread_1 (batch INTEGER, time INTEGER, jvm INTEGER, series INTEGER,
                user_ns BIGINT, system_ns BIGINT);
            CREATE TABLE IF NOT EXISTS thread_10 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT);
            CREATE TABLE IF NOT EXISTS thread_60 (time INTEGER, jvm INTEGER, series INTEGER, user_ns BIGINT,
                system_ns BIGINT);
            CREATE TABLE IF NOT EXISTS process_1 (batch INTEGER, time INTEGER, jvm INTEGER, user_ns BIGINT,
                system_ns BIGINT, container_ns BIGINT, throttled_ns BIGINT, cpu_limit DOUBLE);
            CREATE TABLE IF NOT EXISTS process_10 (time INTEGER, jvm INTEGER, user_ns BIGINT, system_ns BIGINT,
                container_ns BIGINT, throttled_ns BIGINT, cpu_limit DOUBLE);
            CREATE TABLE IF NOT EXISTS process_60 (time INTEGER, jvm INTEGER, user_ns BIGINT, system_ns BIGINT,
                container_ns BIGINT, throttled_ns BIGINT, cpu_limit DOUBLE, sparse BOOLEAN);
            INSERT INTO state SELECT %d, 0, 0, 0, 0 WHERE NOT EXISTS (FROM state);
            """.formatted(VERSION);

    /** What people query. Each moment appears once, at the finest resolution that is kept. */
    static final String VIEWS = """
            CREATE OR REPLACE VIEW jvm AS
                SELECT id AS jvm, host, pid, service, command, container, pod,
                    make_timestamptz(started * 1000) AS started,
                    make_timestamptz(first_seen * 1000000::BIGINT) AS first_seen,
                    make_timestamptz(last_seen * 1000000::BIGINT) AS last_seen
                FROM jvm_key;
            CREATE OR REPLACE VIEW mark AS
                SELECT make_timestamptz(time * 1000) AS time, jvm, kind, text FROM mark_row;
            CREATE OR REPLACE VIEW pool_cpu AS
                SELECT make_timestamptz(r.time * 1000000::BIGINT) AS time, r.seconds, k.id AS jvm, k.host, k.pid,
                    k.service, p.pool, p.kind, r.user_ns + r.system_ns AS cpu_ns, r.user_ns, r.system_ns, r.wait_ns,
                    r.threads
                FROM (
                    SELECT time, 1 AS seconds, series, user_ns, system_ns, wait_ns, threads FROM pool_1, state
                        WHERE time >= seconds_from OR batch > rolled
                    UNION ALL SELECT time, 10, series, user_ns, system_ns, wait_ns, threads FROM pool_10, state
                        WHERE time < seconds_from AND time >= ten_from
                    UNION ALL SELECT time, 60, series, user_ns, system_ns, wait_ns, threads FROM pool_60, state
                        WHERE time < seconds_from AND (time < ten_from OR sparse)
                ) r JOIN pool_key p ON p.series = r.series JOIN jvm_key k ON k.jvm = p.jvm;
            CREATE OR REPLACE VIEW thread_cpu AS
                SELECT make_timestamptz(r.time * 1000000::BIGINT) AS time, r.seconds, k.id AS jvm, k.host, k.pid,
                    k.service, t.tid, t.name, t.pool, t.kind, r.user_ns + r.system_ns AS cpu_ns, r.user_ns, r.system_ns
                FROM (
                    SELECT time, 1 AS seconds, series, user_ns, system_ns FROM thread_1, state
                        WHERE time >= seconds_from OR batch > rolled
                    UNION ALL SELECT time, 10, series, user_ns, system_ns FROM thread_10, state
                        WHERE time < seconds_from AND time >= ten_from
                    UNION ALL SELECT time, 60, series, user_ns, system_ns FROM thread_60, state
                        WHERE time < seconds_from AND time < ten_from
                ) r JOIN thread_key t ON t.series = r.series JOIN jvm_key k ON k.jvm = t.jvm;
            CREATE OR REPLACE VIEW process_cpu AS
                SELECT make_timestamptz(r.time * 1000000::BIGINT) AS time, r.seconds, k.id AS jvm, k.host, k.pid,
                    k.service, r.user_ns + r.system_ns AS cpu_ns, r.user_ns, r.system_ns, r.container_ns,
                    r.throttled_ns,
                    r.cpu_limit
                FROM (
                    SELECT 1 AS seconds, * EXCLUDE (batch) FROM (SELECT process_1.* FROM process_1, state
                        WHERE time >= seconds_from OR batch > rolled)
                    UNION ALL SELECT 10, process_10.* FROM process_10, state
                        WHERE time < seconds_from AND time >= ten_from
                    UNION ALL SELECT 60, * EXCLUDE (sparse) FROM (SELECT process_60.* FROM process_60, state
                        WHERE time < seconds_from AND (time < ten_from OR sparse))
                ) r JOIN jvm_key k ON k.jvm = r.jvm;
            """;

    private HistorySchema() {}
}
