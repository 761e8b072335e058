// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.history.HistoryException;
import org.taskclock.history.HistoryQueries;
import org.taskclock.history.RemoteHistory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "query",
        description = {
            "Query the history of taskclock serve with SQL, or export it as Parquet.",
            "The SQL dialect is DuckDB's. Only reading is possible. Works whether serve is running or not.",
            "Views: pool_cpu, thread_cpu, account_cpu, process_cpu, stack_cpu, method_cpu, jvm, mark. DESCRIBE pool_cpu lists the columns."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock query \"SELECT service, pool, sum(cpu_ns) / 1e9 AS seconds FROM pool_cpu",
            "      WHERE time >= now() - INTERVAL 1 HOUR GROUP BY ALL ORDER BY seconds DESC LIMIT 10\"",
            "  taskclock query \"SELECT account, sum(cpu_ns) / 1e9 AS seconds FROM account_cpu",
            "      WHERE type = 'tenant' GROUP BY ALL ORDER BY seconds DESC\"",
            "  taskclock query --format csv \"FROM jvm\"            all JVMs, for a spreadsheet",
            "  taskclock query --export history                    Parquet files for Spark, Trino, or DuckDB",
            "  taskclock query --from s3://bucket/taskclock --since 2026-11-20 \"SELECT host, sum(cpu_ns) FROM pool_cpu",
            "      GROUP BY host\"                                  many hosts, from serve --history-upload",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error."
        })
final class QueryCommand implements Callable<Integer> {
    private static final int DEFAULT_TIMEOUT_SECONDS = 60;
    private static final int DEFAULT_DAYS = 7;

    enum Format {
        TABLE,
        CSV,
        JSON,
        MARKDOWN
    }

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", arity = "0..1", paramLabel = "SQL", description = "One statement that reads.")
    private String sql;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Directory of the history (default: $XDG_STATE_HOME/taskclock or ~/.local/state/taskclock).")
    private Path data;

    @Option(names = "--format", paramLabel = "FORMAT", description = "table, csv, json, or markdown (default: table).")
    private String format = "table";

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Print at most N rows (default: ${DEFAULT-VALUE}).")
    private int limit;

    @Option(names = "--timeout", paramLabel = "TIME", description = "Cancel the query after this time (default: 1m).")
    private Duration timeout = Duration.ofSeconds(DEFAULT_TIMEOUT_SECONDS);

    @Option(
            names = "--export",
            paramLabel = "DIR",
            description =
                    "Write everything to DIR as Parquet files, by view, host, and day. Several hosts can be exported"
                            + " to the same directory.")
    private Path export;

    @Option(
            names = "--from",
            paramLabel = "s3://BUCKET/PREFIX",
            description = "Query the histories of many hosts, which serve --history-upload has written there.")
    private String from;

    @Option(names = "--since", paramLabel = "DAY", description = "With --from: the first day (default: a week ago).")
    private LocalDate since;

    @Option(names = "--until", paramLabel = "DAY", description = "With --from: the last day, in UTC (default: today).")
    private LocalDate until;

    @Option(names = "--host", paramLabel = "NAME", description = "With --from: only this host. Can be repeated.")
    private List<String> hosts = List.of();

    @Override
    public Integer call() throws IOException {
        if (sql == null && export == null) throw usage("give SQL, or --export DIR");
        if (sql != null && export != null) throw usage("SQL and --export exclude each other: give one of them");
        if (limit < 1 || limit > 1_000_000) throw usage("--limit: " + limit + " is not between 1 and 1000000");
        if (timeout.toSeconds() < 1) throw usage("--timeout: must be at least 1s");
        if (from == null && (since != null || until != null || !hosts.isEmpty()))
            throw usage("--since, --until, and --host need --from");
        if (from != null && (sql == null || data != null)) throw usage("--from needs SQL, and excludes --data");
        try {
            if (from != null) return remoteQuery();
            HistoryQueries queries = HistoryQueries.of(data == null ? defaultDirectory() : data);
            return export == null ? query(queries) : export(queries);
        } catch (HistoryException e) {
            return Main.fail(e.getMessage(), Main.FAILED);
        }
    }

    private int remoteQuery() throws IOException {
        LocalDate last = until == null ? LocalDate.now(ZoneOffset.UTC) : until;
        LocalDate first = since == null ? last.minusDays(DEFAULT_DAYS) : since;
        if (first.isAfter(last)) throw usage("--since " + first + ": is after --until " + last);
        QueryOutput output = new QueryOutput(format());
        RemoteHistory history = new RemoteHistory(from, cacheDirectory());
        return print(output, history.query(sql, new RemoteHistory.Range(first, last, hosts), limit, timeout, output));
    }

    private int query(HistoryQueries queries) throws IOException {
        QueryOutput output = new QueryOutput(format());
        return print(output, queries.query(sql, limit, timeout, output));
    }

    private int print(QueryOutput output, boolean isTruncated) throws IOException {
        Main.printUtf8(output.text());
        if (isTruncated) System.err.println("taskclock: only the first " + limit + " rows are shown: see --limit");
        return Main.OK;
    }

    private int export(HistoryQueries queries) throws IOException {
        int files = queries.export(export);
        Main.print(files + (files == 1 ? " file" : " files") + " in " + export + "\n");
        return Main.OK;
    }

    private Format format() {
        try {
            return Format.valueOf(format.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw usage("--format: \"" + format + "\" is not table, csv, json, or markdown");
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private static Path cacheDirectory() {
        String cache = System.getenv("XDG_CACHE_HOME");
        Path parent = cache == null || cache.isEmpty() || !Path.of(cache).isAbsolute()
                ? Path.of(System.getProperty("user.home"), ".cache")
                : Path.of(cache);
        return parent.resolve("taskclock").resolve("history");
    }

    /** Returns the directory that {@code serve} and {@code query} use by default. */
    static Path defaultDirectory() {
        String state = System.getenv("XDG_STATE_HOME");
        Path parent = state == null || state.isEmpty() || !Path.of(state).isAbsolute()
                ? Path.of(System.getProperty("user.home"), ".local", "state")
                : Path.of(state);
        return parent.resolve("taskclock");
    }
}
