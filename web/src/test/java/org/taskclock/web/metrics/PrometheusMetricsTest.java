// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.config.ExporterProperties;
import io.prometheus.metrics.config.PrometheusProperties;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.testing.LoadJvm;

class PrometheusMetricsTest {
    private static final long TIMEOUT_SECONDS = 60;

    /** The kernel tells the start of a process, and the uptime, in units of 10 ms. */
    private static final long TICK_MILLIS = 20;

    @Test
    void shouldSayThatTheCountersOfAJvmBeganWithTheJvm() throws Exception {
        FleetOptions options =
                new FleetOptions(List.of(), "LoadProgram busy=1 lightly=2 kernel", 100, Duration.ofMinutes(1), true);
        long before = System.currentTimeMillis();
        try (LoadJvm load = LoadJvm.start("busy=1", "lightly=2", "kernel");
                JvmFleet fleet = new JvmFleet(options, line -> {})) {
            assertThat(load.isAlive()).isTrue();
            long after = System.currentTimeMillis();
            // As if it were found only now.
            Thread.sleep(500);
            fleet.refresh();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
            while (fleet.read().isEmpty()) assertThat(System.nanoTime()).isLessThan(end);
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            PrometheusProperties properties = PrometheusProperties.builder()
                    .exporterProperties(ExporterProperties.builder()
                            .includeCreatedTimestamps(true)
                            .build())
                    .build();
            ExpositionFormats.init(properties)
                    .getOpenMetricsTextFormatWriter()
                    .write(out, new PrometheusMetrics(fleet, new ExporterStatus("")).collect());
            String created = out.toString(StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith("taskclock_process_cpu_time_seconds_created{"))
                    .findFirst()
                    .orElseThrow();
            assertThat((long) (1_000 * Double.parseDouble(created.substring(created.lastIndexOf(' ')))))
                    .isBetween(before - TICK_MILLIS, after);
        }
    }
}
