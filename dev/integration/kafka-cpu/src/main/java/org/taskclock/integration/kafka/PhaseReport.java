// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.integration.kafka;

import java.util.List;
import java.util.Locale;

/** The tables of the phases. */
final class PhaseReport {
    private final List<KafkaCpuTest.Phase> phases;
    private final double cpus;
    private final double quota;
    private StringBuilder text;

    PhaseReport(List<KafkaCpuTest.Phase> phases, double cpus, double quota) {
        this.phases = phases;
        this.cpus = cpus;
        this.quota = quota;
    }

    void appendTo(StringBuilder to) {
        text = to;
        appendDimensions(phases.get(0).figures());
        appendSums();
        appendQuota();
    }

    private void appendDimensions(Figures calm) {
        append("## Handler threads, calm%n%n");
        append(
                "In %.1f s, the kernel counted %.3f s of CPU time on the request handler threads, %.3f s on the network"
                        + " threads, and %.3f s in the whole broker.%n%n",
                calm.nanoTime() / 1e9, calm.handlers() / 1e9, calm.network() / 1e9, calm.process() / 1e9);
        append("| dimension | value | CPU time, ms | share of the handler threads |%n|---|---|---:|---:|%n");
        calm.accounts()
                .forEach((dimension, values) -> values.forEach((value, nanos) -> {
                    if (nanos > 0) {
                        append(
                                "| %s | %s | %.1f | %.2f %% |%n",
                                dimension, value, nanos / 1e6, 100.0 * nanos / calm.handlers());
                    }
                }));
    }

    private void appendSums() {
        append("%n## Sum of the accounts / kernel%n%n| phase | by request | by client id | by topic |%n");
        append("|---|---:|---:|---:|%n");
        for (KafkaCpuTest.Phase phase : phases) {
            Figures figures = phase.figures();
            double kernel = figures.handlers();
            append(
                    "| %s | %.4f | %.4f | %.4f |%n",
                    phase.name(),
                    figures.sum("request") / kernel,
                    figures.sum("client-id") / kernel,
                    figures.sum("topic") / kernel);
        }
    }

    private void appendQuota() {
        append(
                "%n## Quota%n%nTwo producers do the same work. The CPU limit of the broker is %.2f CPUs, and the quota"
                        + " of the client `limited` in the last three phases is a `request_percentage` of %.2f.%n%n",
                cpus, quota);
        append("| phase | client | requests/s | `request-time`, %% | `CpuAccount`, %% | `request-time`, us/request |"
                + " `CpuAccount`, us/request | `request-time` / `CpuAccount` | throttled by, ms/request |%n"
                + "|---|---|---:|---:|---:|---:|---:|---:|---:|%n");
        for (KafkaCpuTest.Phase phase : phases) {
            appendClient(phase.name(), "limited", phase.limited());
            appendClient(phase.name(), "other", phase.other());
        }
        append("%n| phase | handler threads, CPU s | network threads, CPU s | broker, CPU s | in GC, s | periods"
                + " throttled by the kernel | load average |%n|---|---:|---:|---:|---:|---:|---:|%n");
        for (KafkaCpuTest.Phase phase : phases) {
            Figures figures = phase.figures();
            append(
                    "| %s | %.3f | %.3f | %.3f | %.2f | %d | %.1f |%n",
                    phase.name(),
                    figures.handlers() / 1e9,
                    figures.network() / 1e9,
                    figures.process() / 1e9,
                    figures.gcMillis() / 1e3,
                    phase.throttledPeriods(),
                    phase.load());
        }
    }

    private void appendClient(String phase, String client, KafkaCpuTest.Usage usage) {
        append(
                "| %s | %s | %.1f | %.1f | %.1f | %.0f | %.0f | %.2f | %.1f |%n",
                phase,
                client,
                usage.requestsPerSecond(),
                usage.kafkaMicros() * usage.requestsPerSecond() / 1e4,
                usage.cpuMicros() * usage.requestsPerSecond() / 1e4,
                usage.kafkaMicros(),
                usage.cpuMicros(),
                usage.kafkaMicros() / usage.cpuMicros(),
                usage.throttleMillis());
    }

    private void append(String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments));
    }
}
