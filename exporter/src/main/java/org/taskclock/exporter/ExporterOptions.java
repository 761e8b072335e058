// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The options of the exporter.
 *
 * @param listenAddress HOST:PORT
 * @param webConfig TLS and passwords; null for none
 * @param service the rules of {@link ServiceName}
 * @param match part of the command lines of the JVMs to export, ignoring case; null for all
 * @param maxPools for each JVM
 * @param interval between two samples
 * @param refresh between two searches for JVMs
 * @param keepEnded how long to keep the series of a JVM after it has exited
 * @param attach whether to ask JVMs for the names of their threads
 * @param push where to push to; null to not push
 * @param version of TaskClock
 */
public record ExporterOptions(
        String listenAddress,
        Path webConfig,
        List<String> service,
        String match,
        int maxPools,
        Duration interval,
        Duration refresh,
        Duration keepEnded,
        boolean attach,
        Push push,
        String version) {
    /**
     * The destination of pushes.
     *
     * @param endpoint the URL of an OTLP receiver
     * @param isGrpc whether to use gRPC instead of HTTP
     * @param queueLimit the number of pushes that may wait while the receiver is down
     */
    public record Push(
            String endpoint, boolean isGrpc, Map<String, String> headers, Duration interval, int queueLimit) {}
}
