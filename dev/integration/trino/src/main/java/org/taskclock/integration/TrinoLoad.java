// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration;

import static io.trino.testing.TestingSession.testSessionBuilder;

import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.QueryRunner;
import io.trino.testing.StandaloneQueryRunner;
import java.util.List;
import java.util.Map;

/** Trino in a single process, under load from TPC-H queries. */
public final class TrinoLoad {
    private static final int CLIENTS = 2;

    /**
     * Trino keeps a thread for a minute after each query. Without pauses, the number of threads would follow the
     * throughput.
     */
    private static final boolean IS_PACED = Boolean.getBoolean("soak.paced");

    private static final long PAUSE_MILLIS = 500;

    private static final List<String> QUERIES = List.of("""
            SELECT returnflag, linestatus, sum(quantity), sum(extendedprice * (1 - discount)), count(*)
            FROM lineitem WHERE shipdate <= DATE '1998-09-02' GROUP BY 1, 2 ORDER BY 1, 2""", """
            SELECT l.orderkey, round(sum(l.extendedprice * (1 - l.discount)), 2) AS revenue, o.orderdate
            FROM customer c JOIN orders o ON c.custkey = o.custkey JOIN lineitem l ON l.orderkey = o.orderkey
            WHERE c.mktsegment = 'BUILDING' AND o.orderdate < DATE '1995-03-15' AND l.shipdate > DATE '1995-03-15'
            GROUP BY l.orderkey, o.orderdate ORDER BY revenue DESC, o.orderdate, l.orderkey LIMIT 10""", """
            SELECT count(*), sum(quantity) FROM lineitem
            WHERE shipdate >= DATE '1994-01-01' AND shipdate < DATE '1995-01-01' AND quantity < 24""", """
            SELECT orders, count(*) FROM (SELECT c.custkey, count(o.orderkey) AS orders
              FROM customer c LEFT JOIN orders o ON c.custkey = o.custkey AND o.comment NOT LIKE '%special%requests%'
              GROUP BY c.custkey) GROUP BY orders ORDER BY 2 DESC, 1 DESC""");

    private TrinoLoad() {}

    public static void main(String[] args) throws Exception {
        QueryRunner runner = new StandaloneQueryRunner(
                testSessionBuilder().setCatalog("tpch").setSchema("tiny").build());
        runner.installPlugin(new TpchPlugin());
        runner.createCatalog("tpch", "tpch", Map.of("tpch.splits-per-node", "4"));
        Load load = Load.register();
        for (int i = 0; i < CLIENTS; i++) {
            int first = i;
            Thread client = new Thread(() -> run(load, runner, first), "client-" + i);
            client.setDaemon(true);
            client.start();
        }
        Load.awaitEnd();
    }

    private static void run(Load load, QueryRunner runner, int first) {
        for (int next = first; ; next++) {
            int query = next % QUERIES.size();
            try {
                // The last digits of doubles vary, because sums depend on the order in which splits finish.
                String answer = runner.execute(QUERIES.get(query)).getMaterializedRows().stream()
                        .map(row -> row.getFields().stream()
                                .map(f -> f instanceof Double d ? String.format("%.4g", d) : String.valueOf(f))
                                .toList()
                                .toString())
                        .toList()
                        .toString();
                load.answer("query " + (query + 1), answer);
                if (IS_PACED) Thread.sleep(PAUSE_MILLIS);
            } catch (InterruptedException e) {
                return;
            } catch (RuntimeException e) {
                load.fail(e);
            }
        }
    }
}
