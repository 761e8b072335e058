// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The history of many hosts in an object storage, as {@link HistoryUpload} writes it. The files that a query needs are
 * copied to a cache, because DuckDB reads object storage only with an extension that it would have to download.
 */
public final class RemoteHistory {
    static final long MAX_CACHE = 4L << 30;
    private static final int MAX_FILES = 20_000;
    private static final List<String> VIEWS =
            List.of("pool_cpu", "thread_cpu", "account_cpu", "process_cpu", "stack_cpu", "jvm", "mark");
    private static final Pattern KEY = Pattern.compile(
            "([a-z_]+)/host=([^/\\\\\\p{Cntrl}]{1,300})(?:/date=(\\d{4}-\\d{2}-\\d{2}))?/part\\.parquet");

    private final String url;
    private final FileCache cache;

    /**
     * @param url s3://BUCKET/PREFIX
     * @param cache the directory for copies, which is created
     */
    public RemoteHistory(String url, Path cache) throws HistoryException {
        this(url, cache, MAX_CACHE);
    }

    RemoteHistory(String url, Path cache, long maxBytes) throws HistoryException {
        ObjectStore.check(url);
        this.url = url;
        this.cache = new FileCache(cache, maxBytes);
    }

    /**
     * What to read.
     *
     * @param since the first day, in UTC
     * @param until the last day
     * @param hosts names; empty for all
     */
    public record Range(LocalDate since, LocalDate until, List<String> hosts) {
        boolean includes(String host, String date) {
            if (!hosts.isEmpty() && !hosts.contains(host)) return false;
            return date == null || (date.compareTo(since.toString()) >= 0 && date.compareTo(until.toString()) <= 0);
        }
    }

    /** Runs one SQL statement, like {@link HistoryQueries#query}. */
    public boolean query(String sql, Range range, int maxRows, Duration timeout, RowConsumer out) throws IOException {
        Map<String, List<Path>> files = new TreeMap<>();
        try (ObjectStore store = ObjectStore.open(url)) {
            List<ObjectStore.Entry> needed = new ArrayList<>();
            for (String view : VIEWS) if (isNamed(view, sql)) needed.addAll(find(store, view, range));
            for (ObjectStore.Entry entry : cache.fetch(store, needed))
                files.computeIfAbsent(view(entry.key()), view -> new ArrayList<>())
                        .add(cache.path(store, entry));
        }
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:", HistoryDatabase.properties())) {
            NativeLibrary.deleteTemporaryFile();
            for (Map.Entry<String, List<Path>> view : files.entrySet())
                Sql.execute(connection, view(view.getKey(), view.getValue()));
            if (files.containsKey("stack_cpu")) Sql.execute(connection, HistorySchema.METHODS);
            Sql.execute(
                    connection,
                    "SET TimeZone = 'UTC'",
                    "SET allowed_directories = [" + HistoryDatabase.quote(cache.directory()) + "]",
                    "SET enable_external_access = false",
                    "SET lock_configuration = true");
            int seconds = (int) Math.max(1, Math.min(86_400, timeout.toSeconds()));
            return new QuerySession(connection, cache.directory()).query(sql, maxRows, seconds, out);
        } catch (SQLException e) {
            throw new HistoryException("SQL: " + Failures.describe(e), e);
        }
    }

    /** Returns whether a statement may read a view. A name in a text costs only time. */
    private static boolean isNamed(String view, String sql) {
        String names = view.equals("stack_cpu") ? "stack_cpu|method_cpu" : view;
        return Pattern.compile("(?i)\\b(" + names + ")\\b").matcher(sql).find();
    }

    private static String view(String key) {
        return key.substring(0, key.indexOf('/'));
    }

    private List<ObjectStore.Entry> find(ObjectStore store, String view, Range range) throws HistoryException {
        List<ObjectStore.Entry> found = new ArrayList<>();
        List<String> starts = range.hosts.isEmpty()
                ? List.of(view + "/host=")
                : range.hosts.stream()
                        .map(host -> view + "/host=" + QuerySession.encode(host) + "/")
                        .toList();
        List<String> encoded = range.hosts.stream().map(QuerySession::encode).toList();
        Range keys = new Range(range.since, range.until, encoded);
        for (String start : starts)
            store.list(start, entry -> {
                Matcher key = KEY.matcher(entry.key());
                // Other objects, and those with names that could lead out of the cache, are none of ours.
                if (key.matches()
                        && key.group(1).equals(view)
                        && !key.group(2).startsWith(".")
                        && keys.includes(key.group(2), key.group(3))) found.add(entry);
            });
        String days = " from " + range.since + " to " + range.until;
        if (found.isEmpty())
            throw new HistoryException(store + ": has no " + view + days
                    + ": see --since, --until, and --host, and serve --history-upload");
        if (found.size() > MAX_FILES)
            throw new HistoryException(
                    store + ": has " + found.size() + " files of " + view + days + ": select fewer days or hosts");
        return found;
    }

    private static String view(String name, List<Path> files) {
        String list = files.stream().map(HistoryDatabase::quote).collect(Collectors.joining(", "));
        boolean hasDates = !name.equals("jvm") && !name.equals("mark");
        return "CREATE VIEW " + name + " AS SELECT *" + (hasDates ? " EXCLUDE (date)" : "") + " FROM read_parquet(["
                + list + "], hive_partitioning = true, hive_types_autocast = false, union_by_name = true)";
    }
}
