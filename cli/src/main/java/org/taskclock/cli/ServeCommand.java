// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.history.HistoryOptions;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.monitor.profile.FindingProfiler;
import org.taskclock.web.FleetServer;
import org.taskclock.web.ServerOptions;
import org.taskclock.web.TaskClockServer;
import org.taskclock.web.fleet.PrometheusOptions;
import org.taskclock.web.http.WebException;
import org.taskclock.web.metrics.ExporterOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "serve",
        description = {
            "Show the CPU time of all JVMs of this machine in a browser, live and with its history.",
            "Also serves the metrics of the exporter, and pushes them with --push. Needs no change to the JVMs."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock serve                                the page on http://127.0.0.1:10077/",
            "  taskclock serve --allow-actions                with stacks, yields, the agent, and recordings",
            "  taskclock serve --evidence                     keeps what explains a finding",
            "  taskclock serve --profile 1%%                   with methods in the history, for at most 1 %% of a core",
            "  taskclock serve --listen :10077 --token-file t  reachable from the network, with a token",
            "  taskclock serve --fleet http://prometheus:9090  all hosts, by service, version, host, pool, and account",
            "",
            "Exit codes: 0 terminated by a signal, 1 failure, 2 usage error (also for an invalid configuration file, or"
                    + " if the port is in use)."
        })
final class ServeCommand implements Callable<Integer> {
    private static final Duration INTERVAL = Duration.ofSeconds(1);
    private static final Duration REFRESH = Duration.ofSeconds(2);
    private static final Duration KEEP_ENDED = Duration.ofMinutes(1);

    /** How long a bundle records. */
    private static final Duration BUNDLE = Duration.ofSeconds(10);

    /** The number of resolutions of the history. */
    private static final int RESOLUTIONS = 3;

    /** In percent of one core. Starting Flight Recorder once in a few minutes takes about the minimum. */
    private static final double MIN_PROFILE = 0.1;

    private static final double MAX_PROFILE = 5;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:10077",
            description = "Address to listen on (default: ${DEFAULT-VALUE}). Without HOST, all interfaces; addresses"
                    + " other than loopback need --token-file, --oidc-issuer, or client certificates.")
    private String listen;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Directory of the history and the audit log (default: $XDG_STATE_HOME/taskclock or"
                    + " ~/.local/state/taskclock).")
    private Path data;

    @Option(
            names = "--keep",
            paramLabel = "TIMES",
            defaultValue = "1h,7d,365d",
            description = "How long to keep the history at one second, ten seconds, and one minute (default:"
                    + " ${DEFAULT-VALUE}).")
    private String keep;

    @Option(
            names = "--max-size",
            paramLabel = "SIZE",
            converter = UnitConverters.SizeConverter.class,
            defaultValue = "4G",
            description = "Keep at most this much history, and delete the oldest (default: ${DEFAULT-VALUE}).")
    private long maxSize;

    @Option(
            names = "--history-upload",
            paramLabel = "s3://BUCKET/PREFIX",
            description = "Upload each day of the history there as Parquet files, for taskclock query --from. The AWS"
                    + " SDK's environment variables and files give credentials and address.")
    private String historyUpload;

    @Option(names = "--token-file", paramLabel = "FILE", description = "File with a token that every request needs.")
    private Path tokenFile;

    @Mixin
    private LoginOptions login;

    @Option(
            names = "--web.config.file",
            paramLabel = "FILE",
            description = "YAML file with TLS settings, such as client certificates, and bcrypt hashes of passwords, in"
                    + " the format of Prometheus' exporters.")
    private Path webConfig;

    @Option(
            names = "--allowed-host",
            paramLabel = "NAME",
            description = "Name of this machine that browsers use, besides localhost and addresses. Can be repeated.")
    private List<String> allowedHosts = List.of();

    @Option(
            names = "--external-url",
            paramLabel = "URL",
            description = "Address of the page for browsers that reach it through a proxy, such as"
                    + " https://watch.example.com/taskclock/.")
    private String externalUrl;

    @Option(
            names = "--allow-actions",
            description =
                    "Allow the page to ask JVMs for stacks, to profile them, to count yields, to load and detach"
                            + " the agent, to write recordings and bundles, and to add marks. Each of these is written to DIR/audit.log.")
    private boolean allowActions;

    @Option(
            names = "--evidence",
            description = "When a finding begins, keep a thread dump and a profile of the threads concerned in"
                    + " DIR/evidence, with a link on the page. At most one a minute for each JVM, one an hour for each"
                    + " cause, and twelve an hour in all.")
    private boolean evidence;

    @Option(
            names = "--profile",
            paramLabel = "PERCENT",
            converter = UnitConverters.PercentConverter.class,
            description =
                    "Profile all JVMs all the time, so that the history shows which methods used CPU time. PERCENT"
                            + " limits what this costs each JVM, in percent of one core, from 0.1%% to 5%%. Uses async-profiler"
                            + " if it is installed, otherwise Flight Recorder.")
    private Double profile;

    @Mixin
    private WebhookOptions webhooks;

    @Option(
            names = "--service",
            paramLabel = "RULE",
            description = "How to name JVMs: otel (configuration of OpenTelemetry), main (main class or jar), jar,"
                    + " env:NAME, or regex:PATTERN (first group of a match in the command line). If given several"
                    + " times, the first that gives a name counts, then otel and main.")
    private List<String> service = List.of();

    @Option(
            names = "--match",
            paramLabel = "TEXT",
            description = "Watch only JVMs whose command line contains this text, ignoring case.")
    private String match;

    @Option(
            names = "--max-pools",
            paramLabel = "N",
            defaultValue = "100",
            description = "Number of thread pools per JVM with their own metrics; the rest is in \"other\" (default:"
                    + " ${DEFAULT-VALUE}).")
    private int maxPools;

    @Option(
            names = "--no-attach",
            description = "Do not attach to any JVM, also while the page shows it: names are truncated to 15"
                    + " characters, and there are no thread dumps.")
    private boolean noAttach;

    @Mixin
    private final PushOptions push = new PushOptions();

    @Option(
            names = "--kubernetes-node",
            paramLabel = "NAME",
            description = "In a pod: name of its node, to show the names of pods, containers, and workloads. The"
                    + " service account must be allowed to list pods.")
    private String kubernetesNode;

    @Mixin
    private ServeFleetOptions fleet;

    @Override
    public Integer call() throws InterruptedException {
        TerminationSignal termination = new TerminationSignal();
        try {
            PrometheusOptions prometheus = fleet.options();
            if (prometheus != null) {
                try (FleetServer server = new FleetServer(options(), prometheus, ServeCommand::log)) {
                    return await(server.url(), termination);
                }
            }
            try (TaskClockServer server = new TaskClockServer(options(), ServeCommand::log)) {
                return await(server.url(), termination);
            }
        } catch (CommandException e) {
            return Main.fail("serve: " + e.getMessage(), e.exitCode);
        } catch (WebException e) {
            return Main.fail("serve: " + e.getMessage(), Main.USAGE);
        }
    }

    private static int await(String url, TerminationSignal termination) throws InterruptedException {
        log("serving on " + url);
        termination.await();
        return Main.OK;
    }

    private static void log(String message) {
        System.err.println("taskclock: serve: " + CellFormat.sanitize(message));
    }

    private ServerOptions options() throws CommandException, WebException {
        String attaching = allowActions ? "--allow-actions" : evidence ? "--evidence" : "--profile";
        if (noAttach && (allowActions || evidence || profile != null))
            throw new CommandException(Main.USAGE, attaching + ": cannot be combined with --no-attach");
        if (profile != null && (profile < MIN_PROFILE || profile > MAX_PROFILE))
            throw new CommandException(Main.USAGE, "--profile " + profile + ": must be from 0.1% to 5%");
        ExporterOptions exporter = new ExporterOptions(
                listen,
                webConfig,
                new FleetOptions(
                        service, match, maxPools, push.keepEnded(KEEP_ENDED), !noAttach, Duration.ZERO, kubernetesNode),
                INTERVAL,
                REFRESH,
                push.read(),
                Main.version());
        return new ServerOptions(
                exporter,
                dataDirectory(),
                historyOptions(),
                historyUpload,
                tokenFile,
                login.options(),
                allowActions,
                evidence,
                profile == null ? 0 : profile,
                webhooks.targets(ServeCommand::log),
                allowedHosts,
                externalUrl,
                ServeCommand::writeBundle,
                Clock.systemUTC());
    }

    private static void writeBundle(long pid, boolean redact, Path file) throws IOException {
        new Bundle(pid, BUNDLE, redact, FindingProfiler::sleep, line -> {}).write(file);
    }

    /**
     * Checks a directory that was given, and creates it. The default one is not needed to show what is happening now.
     */
    private Path dataDirectory() throws CommandException {
        if (data == null) return QueryCommand.defaultDirectory();
        String problem = "--data " + data + ": ";
        if (Files.exists(data) && !Files.isDirectory(data))
            throw new CommandException(Main.USAGE, problem + "is not a directory: give another one");
        try {
            Files.createDirectories(
                    data, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (IOException e) {
            throw new CommandException(Main.USAGE, problem + "cannot be created: give another directory");
        }
        if (!Files.isReadable(data) || !Files.isWritable(data) || !Files.isExecutable(data))
            throw new CommandException(
                    Main.USAGE,
                    problem + "cannot be read or written: change its permissions or give another directory");
        return data;
    }

    private HistoryOptions historyOptions() throws CommandException {
        String[] times = keep.split(",", -1);
        if (times.length != RESOLUTIONS) throw invalidKeep("must be three times, such as 1h,7d,365d");
        Duration[] kept = new Duration[RESOLUTIONS];
        for (int i = 0; i < RESOLUTIONS; i++) {
            try {
                kept[i] = new UnitConverters.DurationConverter().convert(times[i].strip());
            } catch (RuntimeException e) {
                throw invalidKeep(e.getMessage());
            }
            if (i > 0 && kept[i].compareTo(kept[i - 1]) < 0)
                throw invalidKeep("a coarser resolution must be kept at least as long as a finer one");
        }
        return new HistoryOptions(kept[0], kept[1], kept[2], maxSize);
    }

    private CommandException invalidKeep(String reason) {
        return new CommandException(Main.USAGE, "--keep " + keep + ": " + reason);
    }
}
