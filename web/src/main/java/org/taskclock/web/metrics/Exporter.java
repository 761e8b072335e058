// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.monitor.fleet.JvmFleet;

/** Exports the metrics of all JVMs of this machine, from its creation until it is closed. */
public final class Exporter implements AutoCloseable {
    /** The thread that stops the exporter waits this long. */
    private static final long CLOSE_MILLIS = 1_000;

    private final ExporterOptions options;
    private final JvmFleet fleet;
    private final WebServer server;
    private final String scheme;
    private final OtlpPusher pusher;
    private final Thread sampler = new Thread(this::sample, "taskclock-sampler");
    private volatile boolean isClosing;

    /**
     * Starts an exporter.
     *
     * @throws ExporterException if the options cannot be used; the message is the reason, in one line
     */
    public Exporter(ExporterOptions options) throws ExporterException {
        this.options = options;
        if (options.fleet().maxPools() < PoolCounters.MIN_POOLS)
            throw new ExporterException(
                    "--max-pools " + options.fleet().maxPools() + ": must be at least " + PoolCounters.MIN_POOLS);
        WebSecurity security = new WebSecurity(options.webConfig());
        ExporterStatus status = new ExporterStatus(options.version());
        try {
            fleet = new JvmFleet(options.fleet(), Text::log);
        } catch (IllegalArgumentException e) {
            throw new ExporterException(e.getMessage());
        }
        OtlpMetrics converter = new OtlpMetrics(options.version(), new EpochClock());
        pusher = options.push() == null
                ? null
                : new OtlpPusher(options.push(), () -> converter.of(fleet.read()), status);
        server = new WebServer(
                options.listenAddress(),
                security,
                new PrometheusMetrics(fleet, status),
                () -> fleet.status().isCurrent(options.interval()),
                options.version());
        WebConfig web = security.config();
        scheme = web.tls() == null ? "http" : "https";
        warnIfOpen(web);
        sampler.setDaemon(true);
        sampler.start();
        if (pusher != null) pusher.start();
    }

    private void warnIfOpen(WebConfig web) {
        InetSocketAddress address = server.address();
        if (!address.getAddress().isLoopbackAddress() && web.users().isEmpty() && !hasClientAuth(web))
            Text.log(options.listenAddress() + ": anyone on the network can read the metrics: see --web.config.file");
    }

    private static boolean hasClientAuth(WebConfig web) {
        return web.tls() != null && web.tls().clientAuth().equals(WebConfig.REQUIRE_AND_VERIFY);
    }

    /** Returns the URL of the metrics. */
    public String url() {
        InetSocketAddress address = server.address();
        String host = address.getAddress().getHostAddress();
        if (host.contains(":")) host = "[" + host + "]"; // IPv6
        return scheme + "://" + host + ":" + address.getPort() + "/metrics";
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
                    fleet.sample();
                } catch (RuntimeException e) {
                    // The exporter is not ready until there is another sample.
                    if (!isReported)
                        Text.log("internal error: " + e + ": "
                                + List.of(e.getStackTrace()).get(0));
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
        sampler.interrupt();
        try {
            sampler.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        server.close();
        if (pusher != null) pusher.close();
        fleet.close();
    }
}
