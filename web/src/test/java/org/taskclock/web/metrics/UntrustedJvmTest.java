// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.prometheus.metrics.expositionformats.ExpositionFormats;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.monitor.fleet.JvmFleet;
import org.taskclock.monitor.fleet.JvmSample;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;

/** A JVM with bad data costs its own series only. */
class UntrustedJvmTest {
    private static final long HUGE = Long.MAX_VALUE / 2 + 1_000;
    private static final long HOURS = 1L << 44;

    private final String mark = "-Dtaskclock.untrusted.test=" + System.nanoTime();
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());
    private final ExporterStatus status = new ExporterStatus("test");
    private final List<Process> children = new ArrayList<>();

    @AfterEach
    void endChildren() throws InterruptedException {
        for (Process child : children) child.destroyForcibly().waitFor();
    }

    private JvmFleet fleet() {
        FleetOptions options = new FleetOptions(List.of(), mark, 100, Duration.ofMinutes(1), true);
        return new JvmFleet(options, log::add);
    }

    private Process start(String... reports) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                mark,
                ForgedReportProgram.OPTION,
                "-cp",
                System.getProperty("java.class.path"),
                ForgedReportProgram.class.getName()));
        command.addAll(List.of(reports));
        Process child = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        children.add(child);
        assertThat(child.getInputStream().read()).isEqualTo('r');
        return child;
    }

    private static String scrape(PrometheusMetrics metrics) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ExpositionFormats.init().getPrometheusTextFormatWriter().write(out, metrics.collect());
        return out.toString(StandardCharsets.UTF_8);
    }

    /** Scrapes until the text meets a condition. */
    private String await(JvmFleet fleet, Predicate<String> condition) throws Exception {
        PrometheusMetrics metrics = new PrometheusMetrics(fleet, status);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            fleet.refresh();
            fleet.sample();
            String text = scrape(metrics);
            if (condition.test(text)) return text;
            assertThat(System.nanoTime()).as("%s %s", log, text).isLessThan(end);
            Thread.sleep(100);
        }
    }

    private static String pid(Process process) {
        return "-" + process.pid() + "\"";
    }

    @Test
    void shouldMeasureJvmsWithForgedReportsWithoutTheirAgents() throws Exception {
        // A counter that begins again is added to what was before, so the sum overflows.
        Process overflowing = start(
                ForgedReportProgram.report(ForgedReportProgram.group("a", 1, HUGE)),
                ForgedReportProgram.report(ForgedReportProgram.group("a", 1, 0)));
        Process exaggerating = start(ForgedReportProgram.report(ForgedReportProgram.group("b", 1, HOURS)));
        String start = "process " + exaggerating.pid() + " (org.taskclock.web.metrics.ForgedReportProgram): ";
        try (LoadJvm honest = LoadJvm.start(mark, "busy");
                JvmFleet fleet = fleet()) {
            String text = await(
                    fleet,
                    t -> t.contains("-" + honest.pid() + "\"")
                            && t.contains(pid(overflowing))
                            && t.contains(pid(exaggerating))
                            && log.stream().anyMatch(line -> line.startsWith(start)));
            assertThat(log)
                    .filteredOn(line -> line.startsWith(start))
                    .singleElement(as(STRING))
                    .contains("virtual threads and yields are not counted", "claims 17592.2 s of CPU time");
            assertThat(text.lines().filter(line -> line.contains("cpu_time") && line.contains("kind=\"virtual\"")))
                    .allMatch(line -> line.endsWith(" 0.0"));
            assertThat(fleet.status().jvmErrors()).isPositive();
        }
    }

    /** The history, the overview, and recordings are made of these samples. */
    @Test
    void shouldNotSampleMoreThanTheProcessHasUsed() throws Exception {
        Process forging = start(
                ForgedReportProgram.report(ForgedReportProgram.group("a", 1, 1_000)),
                ForgedReportProgram.report(ForgedReportProgram.group("a", 1, HOURS)));
        try (JvmFleet fleet = fleet()) {
            long virtual = 0;
            int samples = 0;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (samples < 10 || log.isEmpty()) {
                assertThat(System.nanoTime()).as("%s", log).isLessThan(end);
                fleet.refresh();
                for (JvmSample sample : fleet.sample()) {
                    if (!sample.pools().isEmpty()) samples++;
                    for (ThreadUsage pool : sample.pools())
                        if (pool.kind() == ThreadKind.VIRTUAL) virtual += pool.cpuNanos();
                }
                Thread.sleep(300);
                if (virtual > HOURS / 2) break;
            }
            assertThat(virtual).isLessThan(TimeUnit.SECONDS.toNanos(60));
            assertThat(log).allMatch(line -> line.startsWith("process " + forging.pid() + " "));
        }
    }

    @Test
    void shouldLimitTheLengthOfNames() throws Exception {
        String name = "x".repeat(50_000);
        Process child = start(ForgedReportProgram.report(
                ForgedReportProgram.group(name + "a", 1, 1_000), ForgedReportProgram.group(name + "b", 1, 1_000)));
        try (JvmFleet fleet = fleet()) {
            String text = await(fleet, t -> t.contains(pid(child)) && t.contains("kind=\"virtual\""));
            assertThat(text.lines()).allMatch(line -> line.length() < 1_000);
        }
    }
}
