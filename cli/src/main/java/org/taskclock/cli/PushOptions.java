// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.taskclock.web.metrics.ExporterOptions;
import picocli.CommandLine.Option;

/** The options of pushes to an OpenTelemetry receiver. */
final class PushOptions {
    private static final Duration MIN_INTERVAL = Duration.ofMillis(100);
    private static final List<String> PROTOCOLS = List.of("http/protobuf", "grpc");

    @Option(
            names = "--push",
            description = "Push to an OpenTelemetry receiver, as the environment says: OTEL_EXPORTER_OTLP_ENDPOINT"
                    + " (default: http://localhost:4318), OTEL_EXPORTER_OTLP_HEADERS, and so on.")
    private boolean isOn;

    @Option(
            names = "--otlp-endpoint",
            paramLabel = "URL",
            description = "Push to this OpenTelemetry receiver, such as http://localhost:4318.")
    private String endpoint;

    @Option(
            names = "--otlp-protocol",
            paramLabel = "PROTOCOL",
            description = "Protocol of the receiver: http/protobuf (the default) or grpc.")
    private String protocol;

    @Option(
            names = "--otlp-headers-file",
            paramLabel = "FILE",
            description = "File with a line NAME=VALUE for each header to send with a push, such as a token. Read"
                    + " again for each push.")
    private Path headers;

    @Option(
            names = "--push-interval",
            paramLabel = "TIME",
            defaultValue = "15s",
            description = "Interval between pushes (default: ${DEFAULT-VALUE}).")
    private Duration interval;

    @Option(
            names = "--push-queue",
            paramLabel = "N",
            defaultValue = "20",
            description = "Number of pushes to keep while one is being retried; then the oldest is dropped (default:"
                    + " ${DEFAULT-VALUE}).")
    private int queue;

    /** Returns the destination; null if nothing is pushed. */
    ExporterOptions.Push read() throws CommandException {
        ExporterCommand.checkAtLeast("--push-interval", interval, MIN_INTERVAL);
        if (queue < 1) throw new CommandException(Main.USAGE, "--push-queue " + queue + ": must be at least 1");
        if (protocol != null && !PROTOCOLS.contains(protocol))
            throw new CommandException(
                    Main.USAGE, "--otlp-protocol " + protocol + ": must be " + String.join(" or ", PROTOCOLS));
        return isOn || endpoint != null ? new ExporterOptions.Push(endpoint, protocol, headers, interval, queue) : null;
    }

    /** Returns how long to keep a JVM that has exited: a push must have its last values. */
    Duration keepEnded(Duration least) {
        Duration needed = isOn || endpoint != null ? interval.multipliedBy(2) : Duration.ZERO;
        return least.compareTo(needed) < 0 ? needed : least;
    }
}
