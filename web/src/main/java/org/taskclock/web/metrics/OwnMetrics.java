// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.monitor.fleet.FleetStatus;

/** The metrics of the exporter itself. */
final class OwnMetrics {
    private static final String PREFIX = "taskclock_exporter_";
    private static final String RESIDENT = "VmRSS:";

    private OwnMetrics() {}

    static List<MetricSnapshot> of(ExporterStatus status, FleetStatus fleet) {
        List<MetricSnapshot> all = new ArrayList<>();
        all.add(new InfoSnapshot(
                new MetricMetadata(PREFIX + "build", "Version of the exporter."),
                List.of(new InfoSnapshot.InfoDataPointSnapshot(
                        Labels.of("version", status.version, "java_version", System.getProperty("java.version"))))));
        all.add(gauge("jvms", "JVMs that are read.", fleet.jvms()));
        all.add(counter("jvms_found", "JVMs that were found since the start of the exporter.", fleet.jvmsFound()));
        all.add(gauge("threads", "Threads of the JVMs that are read.", fleet.threads()));
        all.add(gauge("series", "Series of all JVMs in the last response.", status.series));
        all.add(new GaugeSnapshot(
                new MetricMetadata(
                        PREFIX + "refused_jvms",
                        "JVMs that the exporter may not read (unreadable), or not ask for thread names (attach)."),
                List.of(
                        new GaugeDataPointSnapshot(fleet.unreadable(), Labels.of("reason", "unreadable"), null),
                        new GaugeDataPointSnapshot(fleet.withoutNames(), Labels.of("reason", "attach"), null))));
        all.add(counter(
                "jvm_errors",
                "JVMs, or their agents, that were given up for a while because reading them failed or gave impossible"
                        + " values.",
                fleet.jvmErrors()));
        all.add(new GaugeSnapshot(
                new MetricMetadata(PREFIX + "sample_age_seconds", "Time since the last sample.", Unit.SECONDS),
                List.of(new GaugeDataPointSnapshot(fleet.sampleAge().toNanos() / 1e9, Labels.EMPTY, null))));
        all.add(duration("read_duration", "Time to read all threads of all JVMs.", fleet.readings()));
        all.add(duration("sample_duration", "Time to read the threads that run often.", fleet.samples()));
        all.add(new CounterSnapshot(
                new MetricMetadata(PREFIX + "cpu_seconds", "CPU time of the exporter.", Unit.SECONDS),
                List.of(new CounterDataPointSnapshot(Math.max(0, status.cpuNanos()) / 1e9, Labels.EMPTY, null, 0))));
        long resident = residentBytes();
        if (resident >= 0)
            all.add(new GaugeSnapshot(
                    new MetricMetadata(PREFIX + "resident_memory_bytes", "Memory of the exporter.", Unit.BYTES),
                    List.of(new GaugeDataPointSnapshot(resident, Labels.EMPTY, null))));
        all.add(new CounterSnapshot(
                new MetricMetadata(
                        PREFIX + "pushes",
                        "Pushes: received, given up after retries or because they were refused, and never sent."),
                List.of(
                        push("ok", status.pushed()),
                        push("failed", status.failed()),
                        push("dropped", status.dropped()))));
        all.add(gauge("push_queue_length", "Pushes that wait for the receiver.", status.queued));
        return all;
    }

    private static MetricSnapshot gauge(String name, String help, double value) {
        return new GaugeSnapshot(
                new MetricMetadata(PREFIX + name, help),
                List.of(new GaugeDataPointSnapshot(value, Labels.EMPTY, null)));
    }

    private static MetricSnapshot counter(String name, String help, long value) {
        return new CounterSnapshot(
                new MetricMetadata(PREFIX + name, help),
                List.of(new CounterDataPointSnapshot(value, Labels.EMPTY, null, 0)));
    }

    private static MetricSnapshot duration(String name, String help, FleetStatus.Total duration) {
        return new SummarySnapshot(
                new MetricMetadata(PREFIX + name + "_seconds", help, Unit.SECONDS),
                List.of(new SummarySnapshot.SummaryDataPointSnapshot(
                        duration.count(), duration.nanos() / 1e9, Quantiles.EMPTY, Labels.EMPTY, null, 0)));
    }

    private static CounterDataPointSnapshot push(String result, long count) {
        return new CounterDataPointSnapshot(count, Labels.of("result", result), null, 0);
    }

    /** The kernel reports kilobytes, whatever the size of its pages. */
    static long residentBytes() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"), StandardCharsets.ISO_8859_1))
                if (line.startsWith(RESIDENT))
                    return 1_024
                            * Long.parseLong(
                                    line.substring(RESIDENT.length()).strip().split(" ", 2)[0]);
        } catch (IOException | RuntimeException e) {
            return -1;
        }
        return -1;
    }
}
