// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import java.nio.file.Path;
import java.time.Duration;
import org.taskclock.monitor.fleet.FleetOptions;

/**
 * The options of the exporter.
 *
 * @param listenAddress HOST:PORT
 * @param webConfig TLS and passwords; null for none
 * @param fleet the JVMs to export
 * @param interval between two samples
 * @param refresh between two searches for JVMs
 * @param push where to push to; null for nowhere
 * @param version of TaskClock
 */
public record ExporterOptions(
        String listenAddress,
        Path webConfig,
        FleetOptions fleet,
        Duration interval,
        Duration refresh,
        Push push,
        String version) {
    /**
     * The destination of pushes.
     *
     * @param endpoint the URL of an OTLP receiver; null for that of OTEL_EXPORTER_OTLP_ENDPOINT
     * @param protocol grpc or http/protobuf; null for that of OTEL_EXPORTER_OTLP_PROTOCOL
     * @param headersFile what {@link OtlpHeaders} reads; null for those of OTEL_EXPORTER_OTLP_HEADERS
     * @param queueLimit the number of pushes that may wait while the receiver is down
     */
    public record Push(String endpoint, String protocol, Path headersFile, Duration interval, int queueLimit) {}
}
