// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.tenants;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * Measures what a storm of expensive requests of one tenant does to the others, with each kind of limit:
 * {@code StormTest JAVA AGENT ROUNDS SECONDS FILE}. Exit code 1 if requests could not be counted or did not succeed
 * while there was no storm.
 */
public final class StormTest {
    private static final List<String> LIMITS = List.of("none", "concurrency", "cpu");
    private static final String FLOODING = "reports";
    private static final int FLOOD_CLIENTS = 64;
    private static final long TIMEOUT_MILLIS = 6000;

    /** Requests that were sent before the storm end before it begins. */
    private static final long PAUSE_MILLIS = 1000;

    /** Requests per second of each tenant without a storm. */
    private static final Map<String, Integer> RATES = Map.of("catalog", 100, "search", 20, "orders", 100, FLOODING, 2);

    private StormTest() {}

    /** One tenant in one phase. Times are in milliseconds, usage in CPUs. */
    record Row(
            String limit,
            String phase,
            String tenant,
            double sentPerSecond,
            double donePerSecond,
            double shedPerSecond,
            double failedPerSecond,
            double median,
            double p99,
            double cpus,
            double cpuMillisPerRequest) {}

    /** The sum over all tenants, and the kernel's clocks, in CPUs. */
    record Sum(String limit, String phase, double tenants, double carriers, double process) {}

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[2]);
        int seconds = Integer.parseInt(args[3]);
        Path file = Path.of(args[4]);
        StormReport report = new StormReport(args[0], rounds, seconds, FLOOD_CLIENTS);
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < LIMITS.size(); i++) {
                run(args, LIMITS.get((round + i) % LIMITS.size()), seconds, report);
            }
        }
        Files.writeString(file, report.markdown());
        System.out.println(report.markdown());
        System.exit(report.isComplete() ? 0 : 1);
    }

    private static void run(String[] args, String limit, int seconds, StormReport report)
            throws IOException, InterruptedException {
        try (StormServer server = new StormServer(args[0], args[1], limit)) {
            Map<String, StormClients> clients = new LinkedHashMap<>();
            for (String tenant : Tenants.NAMES) clients.put(tenant, new StormClients(server, tenant));
            clients.forEach((tenant, each) -> each.sendAtRate(RATES.get(tenant)));
            Thread.sleep(seconds * 1000L); // warm-up
            List<Phase> phases = new ArrayList<>();
            phases.add(new Phase("before", server, clients, seconds));
            Thread.sleep(PAUSE_MILLIS);
            StormClients flood = new StormClients(server, FLOODING);
            StormClients.Outcome flooding = flood.startPhase();
            flood.flood(FLOOD_CLIENTS);
            Phase storm = new Phase("storm", server, clients, seconds);
            flood.stop();
            phases.add(storm);
            phases.add(new Phase("after", server, clients, seconds));
            clients.values().forEach(StormClients::stop);
            Thread.sleep(TIMEOUT_MILLIS);
            for (Phase phase : phases) phase.report(limit, phase == storm ? flooding : null, report);
            server.cpu()
                    .tenants()
                    .forEach(usage -> report.addUncounted(usage.get("uncounted").asLong()));
        }
    }

    /** One phase of a run. */
    private static final class Phase {
        private final String name;
        private final Map<String, StormClients.Outcome> outcomes = new LinkedHashMap<>();
        private final StormServer.Cpu start;
        private final StormServer.Cpu end;
        private final double seconds;

        Phase(String name, StormServer server, Map<String, StormClients> clients, int seconds)
                throws IOException, InterruptedException {
            this.name = name;
            long startNanos = System.nanoTime();
            clients.forEach((tenant, each) -> outcomes.put(tenant, each.startPhase()));
            start = server.cpu();
            Thread.sleep(seconds * 1000L);
            end = server.cpu();
            clients.values().forEach(StormClients::startPhase);
            this.seconds = (System.nanoTime() - startNanos) / 1e9;
        }

        void report(String limit, StormClients.Outcome flood, StormReport report) {
            double cpuSeconds = (end.timeNanos() - start.timeNanos()) / 1e9;
            double sum = 0;
            for (String tenant : Tenants.NAMES) {
                StormClients.Outcome own = outcomes.get(tenant);
                List<StormClients.Outcome> all =
                        flood == null || !tenant.equals(FLOODING) ? List.of(own) : List.of(own, flood);
                double sent = sum(all, each -> each.sent.sum());
                double done = sum(all, each -> each.latencies.getTotalCount());
                double nanos = end.tenantNanos(tenant) - start.tenantNanos(tenant);
                double endpointNanos =
                        end.endpointNanos(tenant, "/" + tenant) - start.endpointNanos(tenant, "/" + tenant);
                sum += nanos;
                report.add(new Row(
                        limit,
                        name,
                        tenant,
                        sent / seconds,
                        done / seconds,
                        sum(all, each -> each.shed.sum()) / seconds,
                        sum(all, each -> each.failed.sum()) / seconds,
                        percentile(own, 50),
                        percentile(own, 99),
                        nanos / cpuSeconds / 1e9,
                        done == 0 ? Double.NaN : endpointNanos / done / 1e6));
            }
            report.add(new Sum(
                    limit,
                    name,
                    sum / cpuSeconds / 1e9,
                    (end.carriersNanos() - start.carriersNanos()) / cpuSeconds / 1e9,
                    (end.processNanos() - start.processNanos()) / cpuSeconds / 1e9));
        }

        /** Returns a latency in milliseconds, or NaN if no request succeeded. */
        private static double percentile(StormClients.Outcome outcome, double percentile) {
            if (outcome.latencies.getTotalCount() == 0) return Double.NaN;
            return outcome.latencies.getValueAtPercentile(percentile) / 1e3;
        }

        private static double sum(List<StormClients.Outcome> outcomes, ToLongFunction<StormClients.Outcome> count) {
            return outcomes.stream().mapToLong(count).sum();
        }
    }
}
