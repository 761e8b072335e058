// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;

/** An exporter that does not answer, which only Prometheus notices. */
public final class ExporterDown extends FindingKind {
    public ExporterDown() {
        super(
                "exporter-down",
                100,
                Color.RED,
                Source.METRICS,
                "There are no figures of the JVMs on this host.",
                "Check whether taskclock exporter runs there, and whether it listens on an address that Prometheus"
                        + " reaches.");
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockExporterDown",
                5,
                Alert.Severity.WARNING,
                "up{job=~\"taskclock.*\"} == 0",
                "Prometheus cannot scrape {{ $labels.instance }} (job {{ $labels.job }})",
                ""));
    }
}
