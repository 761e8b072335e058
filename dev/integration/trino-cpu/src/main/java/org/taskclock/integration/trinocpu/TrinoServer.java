// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.trinocpu;

import static io.trino.testing.TestingSession.testSessionBuilder;

import io.airlift.units.Duration;
import io.trino.execution.QueryInfo;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.spi.QueryId;
import io.trino.testing.QueryRunner;
import io.trino.testing.StandaloneQueryRunner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Trino in this JVM with a thread for each driver, and the queries. */
final class TrinoServer {
    static final List<String> QUERIES = List.of("""
            SELECT returnflag, linestatus, sum(quantity), sum(extendedprice * (1 - discount)), count(*)
            FROM lineitem WHERE shipdate <= DATE '1998-09-02' GROUP BY 1, 2 ORDER BY 1, 2""", """
            SELECT l.orderkey, sum(l.extendedprice * (1 - l.discount)) AS revenue, o.orderdate
            FROM customer c JOIN orders o ON c.custkey = o.custkey JOIN lineitem l ON l.orderkey = o.orderkey
            WHERE c.mktsegment = 'BUILDING' AND o.orderdate < DATE '1995-03-15' AND l.shipdate > DATE '1995-03-15'
            GROUP BY l.orderkey, o.orderdate ORDER BY revenue DESC, o.orderdate, l.orderkey LIMIT 10""", """
            SELECT orders, count(*) FROM (SELECT c.custkey, count(o.orderkey) AS orders
              FROM customer c LEFT JOIN orders o ON c.custkey = o.custkey AND o.comment NOT LIKE '%special%requests%'
              GROUP BY c.custkey) GROUP BY orders ORDER BY 2 DESC, 1 DESC""");

    /** How many drivers may run at a time. The default is that of Trino's server for tests. */
    static final int WORKERS = Integer.getInteger("workers", 4);

    static final List<String> NAMES = List.of("aggregation", "join", "outer join");

    /** The CPU time of each kernel thread when it was last read. */
    private static final Map<String, Long> KERNEL_NANOS = new HashMap<>();

    private static long kernelSum;

    private final QueryRunner runner;

    TrinoServer(String schema) {
        runner = new StandaloneQueryRunner(
                testSessionBuilder().setCatalog("tpch").setSchema(schema).build(),
                server -> server.addProperty("experimental.thread-per-driver-scheduler-enabled", "true"));
        runner.installPlugin(new TpchPlugin());
        runner.createCatalog("tpch", "tpch", Map.of("tpch.splits-per-node", String.valueOf(Math.max(4, WORKERS))));
    }

    /** Runs a query and returns its final statistics. */
    QueryInfo run(String sql) throws InterruptedException {
        QueryId id = runner.executeWithPlan(runner.getDefaultSession(), sql).queryId();
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30); System.nanoTime() < end; Thread.sleep(5)) {
            QueryInfo info = runner.getCoordinator().getQueryManager().getFullQueryInfo(id);
            if (info.isFinalQueryInfo()) return info;
        }
        throw new IllegalStateException("no final statistics of query " + id);
    }

    static long nanos(Duration duration) {
        return duration.roundTo(TimeUnit.NANOSECONDS);
    }

    /**
     * Returns the CPU time of the kernel threads whose name starts so, from the kernel's scheduler. Threads that have
     * ended since the last call are included as of that call.
     */
    static long kernelNanos(String prefix) {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            for (Path thread : threads.toList()) {
                try {
                    if (!Files.readString(thread.resolve("comm")).startsWith(prefix)) continue;
                    String schedstat = Files.readString(thread.resolve("schedstat"));
                    long nanos = Long.parseLong(schedstat.substring(0, schedstat.indexOf(' ')));
                    Long before = KERNEL_NANOS.put(thread.getFileName().toString(), nanos);
                    // The kernel reuses thread ids.
                    kernelSum += before == null || before > nanos ? nanos : nanos - before;
                } catch (IOException e) {
                    // The thread has ended.
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return kernelSum;
    }
}
