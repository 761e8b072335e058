// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.web.http.WebException;
import org.taskclock.web.metrics.Exporter;
import org.taskclock.web.metrics.ExporterOptions;
import org.taskclock.web.metrics.FatalErrors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "exporter",
        description = {
            "Export the CPU time of all JVMs of this machine by thread pool.",
            "Serves metrics for Prometheus until interrupted, and pushes them to an OpenTelemetry receiver with"
                    + " --push. Needs no change to the JVMs."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock exporter                                   metrics on http://127.0.0.1:10077/metrics",
            "  taskclock exporter --web.listen-address :10077       reachable from the network",
            "  taskclock exporter --service env:APP                 label JVMs with a variable of their environment",
            "  taskclock exporter --otlp-endpoint http://localhost:4318",
            "",
            "Exit codes: 0 terminated by a signal, 1 failure, 2 usage error (also for an invalid configuration file, or"
                    + " if the port is in use), 3 out of memory."
        })
final class ExporterCommand implements Callable<Integer> {
    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
    /** For findings. A scrape has those of its time. */
    private static final Duration ACCOUNTS_INTERVAL = Duration.ofSeconds(15);

    @Option(
            names = "--web.listen-address",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:10077",
            description = "Address to listen on (default: ${DEFAULT-VALUE}). Without HOST, all interfaces.")
    private String listenAddress;

    @Option(
            names = "--web.config.file",
            paramLabel = "FILE",
            description = "YAML file with TLS settings and bcrypt hashes of passwords, in the format of Prometheus'"
                    + " exporters.")
    private Path webConfig;

    @Option(
            names = "--service",
            paramLabel = "RULE",
            description =
                    "How to find the label \"service\": otel (configuration of OpenTelemetry), main (main class or"
                            + " jar), jar, env:NAME, or regex:PATTERN (first group of a match in the command line). If given"
                            + " several times, the first that gives a name counts, then otel and main.")
    private List<String> service = List.of();

    @Option(
            names = "--match",
            paramLabel = "TEXT",
            description = "Export only JVMs whose command line contains this text, ignoring case.")
    private String match;

    @Option(
            names = "--max-pools",
            paramLabel = "N",
            defaultValue = "100",
            description = "Number of thread pools per JVM with their own series; the rest is in \"other\""
                    + " (default: ${DEFAULT-VALUE}).")
    private int maxPools;

    @Option(
            names = {"-d", "--interval"},
            paramLabel = "TIME",
            defaultValue = "1s",
            description = "Interval between readings (default: ${DEFAULT-VALUE}).")
    private Duration interval;

    @Option(
            names = "--refresh",
            paramLabel = "TIME",
            defaultValue = "2s",
            description = "How often to look for new JVMs (default: ${DEFAULT-VALUE}).")
    private Duration refresh;

    @Option(
            names = "--keep-ended",
            paramLabel = "TIME",
            defaultValue = "1m",
            description = "How long to export the last values of a JVM that has exited (default: ${DEFAULT-VALUE}).")
    private Duration keepEnded;

    @Option(names = "--no-attach", description = "Do not attach to any JVM: names are truncated to 15 characters.")
    private boolean noAttach;

    @Mixin
    private final PushOptions push = new PushOptions();

    @Option(
            names = "--kubernetes-node",
            paramLabel = "NAME",
            description = "In a pod: name of its node, to show the names of pods, containers, and workloads. The"
                    + " service account must be allowed to list pods.")
    private String kubernetesNode;

    @Override
    public Integer call() throws InterruptedException {
        TerminationSignal termination = new TerminationSignal();
        try {
            ExporterOptions options = options();
            FatalErrors.endProcess("exporter");
            try (Exporter exporter = new Exporter(options, ExporterCommand::log)) {
                log("serving metrics on " + exporter.url());
                termination.await();
            }
            return Main.OK;
        } catch (CommandException e) {
            return Main.fail("exporter: " + e.getMessage(), e.exitCode);
        } catch (WebException e) {
            return Main.fail("exporter: " + e.getMessage(), Main.USAGE);
        }
    }

    private static void log(String message) {
        System.err.println("taskclock: exporter: " + CellFormat.sanitize(message));
    }

    private ExporterOptions options() throws CommandException {
        checkAtLeast("--interval", interval, MIN_INTERVAL);
        checkAtLeast("--refresh", refresh, MIN_INTERVAL);
        return new ExporterOptions(
                listenAddress,
                webConfig,
                new FleetOptions(
                        service,
                        match,
                        maxPools,
                        push.keepEnded(keepEnded),
                        !noAttach,
                        ACCOUNTS_INTERVAL,
                        kubernetesNode),
                interval,
                refresh,
                push.read(),
                Main.version());
    }

    static void checkAtLeast(String option, Duration value, Duration minimum) throws CommandException {
        if (value.compareTo(minimum) < 0)
            throw new CommandException(
                    Main.USAGE, option + ": must be at least " + UnitConverters.formatDuration(minimum));
    }
}
