// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.opensearch;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;

/** Compares the accounts of clients, which accounts.patch counts, with the kernel's figure for the search threads. */
final class AccountTest {
    private static final double SECONDS = 20;

    /** Sends searches one after another. */
    private record Client(String name, IntFunction<byte[]> searches) {
        void run(InetSocketAddress address, double seconds) throws Exception {
            try (HttpConnection connection = new HttpConnection(address)) {
                long end = System.nanoTime() + (long) (seconds * 1e9);
                for (int i = 0; System.nanoTime() < end; i++) connection.send(HttpConnection.as(name, searches.apply(i)));
            }
        }
    }

    private static final Client DASHBOARD = new Client("dashboard", i -> Documents.large("docs", 10, 5));
    private static final Client SHOP = new Client("shop", i -> Documents.small("docs", i));

    private final Report report;
    private final InetSocketAddress address;

    AccountTest(Report report, InetSocketAddress address) {
        this.report = report;
        this.address = address;
    }

    void measure() throws Exception {
        report.append(
                "Each client sends one search after another for %.0f s.%n%n"
                        + "| clients | `%s`, s | `%s`, s | kernel: search threads, s | accounts / search threads |%n"
                        + "|---|---:|---:|---:|---:|%n",
                SECONDS,
                DASHBOARD.name,
                SHOP.name);
        measure("aggregations", List.of(DASHBOARD));
        measure("small searches", List.of(SHOP));
        measure("both", List.of(DASHBOARD, SHOP));
        measure("three of each", List.of(DASHBOARD, SHOP, DASHBOARD, SHOP, DASHBOARD, SHOP));
    }

    private void measure(String name, List<Client> clients) throws Exception {
        double dashboard = seconds(DASHBOARD);
        double shop = seconds(SHOP);
        KernelTimes before = KernelTimes.read();
        run(clients);
        // The last search's threads may still be working for it.
        Thread.sleep(100);
        double kernel = KernelTimes.read().since(before, KernelTimes::isSearch) / 1e9;
        dashboard = seconds(DASHBOARD) - dashboard;
        shop = seconds(SHOP) - shop;
        double ratio = (dashboard + shop) / kernel;
        report.append("| %s | %.3f | %.3f | %.3f | %.3f |%n", name, dashboard, shop, kernel, ratio);
        report.check(dashboard > 0 == clients.contains(DASHBOARD), "%s: %s used %.3f s", name, "dashboard", dashboard);
        report.check(shop > 0 == clients.contains(SHOP), "%s: %s used %.3f s", name, "shop", shop);
        report.check(ratio > 0.7 && ratio < 1.01, "%s: accounts / search threads = %.3f", name, ratio);
    }

    private void run(List<Client> clients) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(clients.size());
        List<Future<?>> runs = new ArrayList<>();
        for (Client client : clients)
            runs.add(threads.submit(() -> {
                client.run(address, SECONDS);
                return null;
            }));
        for (Future<?> run : runs) run.get();
        threads.shutdown();
    }

    private static double seconds(Client client) {
        for (AccountUsage row : CpuAccounts.type("client").read().accounts())
            if (row.name().equals(client.name)) return row.cpuNanos() / 1e9;
        return 0;
    }
}
