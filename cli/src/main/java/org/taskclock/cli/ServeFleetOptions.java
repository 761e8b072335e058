// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.nio.file.Path;
import java.util.List;
import org.taskclock.web.fleet.PrometheusOptions;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The options of {@code serve --fleet}. */
final class ServeFleetOptions {
    /** A server of a fleet has no JVMs and no history. */
    private static final List<String> NOT_OF_FLEETS = List.of(
            "--keep",
            "--max-size",
            "--allow-actions",
            "--evidence",
            "--profile",
            "--service",
            "--match",
            "--max-pools",
            "--no-attach",
            "--history-upload",
            "--webhook",
            "--push",
            "--otlp-endpoint",
            "--kubernetes-node");

    private static final List<String> ONLY_OF_FLEETS = List.of("--fleet-config", "--host-url", "--price");

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--fleet",
            paramLabel = "URL",
            description = "Show many hosts instead of this one, from a server with Prometheus' HTTP API, such as"
                    + " Prometheus, Thanos, Mimir, or VictoriaMetrics. It must have loaded the recording rules. Reads no"
                    + " JVM of this host.")
    private String fleet;

    @Option(
            names = "--fleet-config",
            paramLabel = "FILE",
            description = "YAML file with a bearer token, a password, headers, or a CA for requests to --fleet, in the"
                    + " format of promtool's --http.config.file.")
    private Path config;

    @Option(
            names = "--host-url",
            paramLabel = "URL",
            defaultValue = "http://{instance}/",
            description =
                    "Address of the page of each host, to which the fleet's links lead. {instance} is the label of"
                            + " that name, and {host} the same without a port (default: ${DEFAULT-VALUE}).")
    private String hostUrl;

    @Option(
            names = "--price",
            paramLabel = "AMOUNT",
            description = "Price of one processor for one hour, to show the cost of CPU time.")
    private Double price;

    /** Returns null without --fleet. */
    PrometheusOptions options() throws CommandException {
        for (String option : fleet == null ? ONLY_OF_FLEETS : NOT_OF_FLEETS) {
            if (!spec.commandLine().getParseResult().hasMatchedOption(option)) continue;
            throw new CommandException(
                    Main.USAGE,
                    fleet == null
                            ? option + ": needs --fleet URL"
                            : option + ": cannot be combined with --fleet: give it to taskclock serve on each host");
        }
        if (price != null && !(price >= 0 && price < Double.POSITIVE_INFINITY))
            throw new CommandException(Main.USAGE, "--price " + price + ": must be an amount such as 0.04");
        return fleet == null ? null : new PrometheusOptions(fleet, config, hostUrl, price);
    }
}
