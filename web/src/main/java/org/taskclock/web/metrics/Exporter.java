// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.monitor.fleet.FleetFindings;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.Access;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.InternalErrors;
import org.taskclock.web.http.ListenAddress;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.Routes;
import org.taskclock.web.http.WebConfig;
import org.taskclock.web.http.WebException;
import org.taskclock.web.http.WebSecurity;
import org.taskclock.web.http.WebServer;

/** Exports the metrics of all JVMs of this machine, from its creation until it is closed. */
public final class Exporter implements AutoCloseable {
    /** The thread that stops the exporter waits this long. */
    private static final long CLOSE_MILLIS = 1_000;

    private static final String LANDING_PAGE = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><title>TaskClock exporter</title></head>
            <body>
            <h1>TaskClock exporter</h1>
            <p>CPU time of the JVMs of this machine by thread pool. Version: %s</p>
            <ul>
            <li><a href="metrics">Metrics</a></li>
            <li><a href="-/healthy">Health</a></li>
            <li><a href="-/ready">Readiness</a></li>
            </ul>
            </body>
            </html>
            """;

    private final ExporterOptions options;
    private final JvmFleet fleet;
    private final FleetFindings findings = new FleetFindings();
    private final Consumer<String> log;
    private final WebServer server;
    private final OtlpPusher pusher;
    private final DaemonThread sampler = new DaemonThread(this::sample, "taskclock-sampler");
    private volatile boolean isClosing;

    /**
     * Starts an exporter.
     *
     * @param log receives messages of one line
     * @throws WebException if the options cannot be used; the message is the reason, in one line
     */
    public Exporter(ExporterOptions options, Consumer<String> log) throws WebException {
        this.options = options;
        this.log = log;
        if (options.fleet().maxPools() < PoolCounters.MIN_POOLS)
            throw new WebException(
                    "--max-pools " + options.fleet().maxPools() + ": must be at least " + PoolCounters.MIN_POOLS);
        ListenAddress address = ListenAddress.parse("--web.listen-address", options.listenAddress());
        WebSecurity security = new WebSecurity(options.webConfig(), config -> {}, log);
        ExporterStatus status = new ExporterStatus(options.version());
        try {
            fleet = new JvmFleet(options.fleet(), log);
        } catch (IllegalArgumentException e) {
            throw new WebException(e.getMessage());
        }
        pusher = OtlpPusher.of(options, fleet, status, log);
        server = new WebServer(address, Access.of(security), routes(status));
        server.warmUp("/metrics");
        WebConfig web = security.config();
        if (!address.isLoopback() && web.users().isEmpty() && !web.requiresClientCertificate())
            log.accept(options.listenAddress() + ": anyone on the network can read the metrics: see --web.config.file");
        sampler.start();
        if (pusher != null) pusher.start();
    }

    private Routes routes(ExporterStatus status) {
        Routes routes = new Routes(log);
        routes.add(
                "GET", "/metrics", new MetricsEndpoint(new PrometheusMetrics(fleet, status), RequestBudget.ofHeap()));
        routes.add("GET", "/-/healthy", call -> call.text(200, "TaskClock exporter is healthy.\n"));
        routes.add("GET", "/-/ready", call -> {
            if (fleet.status().isCurrent(options.interval())) call.text(200, "TaskClock exporter is ready.\n");
            else call.text(503, "TaskClock exporter has no current sample.\n");
        });
        String page =
                LANDING_PAGE.formatted(options.version().replace("&", "&amp;").replace("<", "&lt;"));
        routes.add("GET", "/", call -> call.send(200, Call.HTML, page.getBytes(StandardCharsets.UTF_8)));
        return routes;
    }

    /** Returns the URL of the metrics. */
    public String url() {
        return server.url() + "metrics";
    }

    private void sample() {
        long interval = options.interval().toNanos();
        long refreshDue = System.nanoTime();
        long due = System.nanoTime();
        boolean isReported = false;
        try {
            while (!isClosing) {
                try {
                    if (System.nanoTime() - refreshDue >= 0) {
                        refreshDue = System.nanoTime() + options.refresh().toNanos();
                        fleet.refresh();
                    }
                    findings.add(fleet.sample(), Instant.now());
                } catch (RuntimeException e) {
                    // The exporter is not ready until there is another sample.
                    if (!isReported) log.accept(InternalErrors.describe(e));
                    isReported = true;
                }
                due = Math.max(due + interval, System.nanoTime() + interval / 2);
                TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Stops serving, and sends the remaining pushes. */
    @Override
    public void close() {
        isClosing = true;
        sampler.end(CLOSE_MILLIS);
        server.close();
        if (pusher != null) pusher.close();
        fleet.close();
    }
}
