// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.monitor.fleet.JvmFleet;

/** The accounts that an agent reports, in both formats. */
class AccountMetricsTest {
    /** Three sections of 4.6 to 5.1 us, and two of 1.97 to 2.1 ms. */
    private static final String ACCOUNTS = """
            "accounts":[
             {"type":"tenant","name":"acme","cpuNanos":5000000,"userNanos":4000000,"waitNanos":-1,"allocatedBytes":-1,
              "sections":7,"distribution":[4015000,81,3,151,2]},
             {"type":"tenant","name":"globex","cpuNanos":1000000,"userNanos":0,"waitNanos":2000000,"allocatedBytes":8,
              "sections":1}],""";

    private final String mark = "-Dtaskclock.accounts.test=" + System.nanoTime();
    private final ExporterStatus status = new ExporterStatus("test");

    private String text(JvmFleet fleet) throws Exception {
        PrometheusMetrics metrics = new PrometheusMetrics(fleet, status);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            fleet.refresh();
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            ExpositionFormats.init().getPrometheusTextFormatWriter().write(out, metrics.collect());
            String text = out.toString(StandardCharsets.UTF_8);
            if (text.contains("taskclock_account_")) return text;
            assertThat(System.nanoTime()).as(text).isLessThan(end);
            Thread.sleep(100);
        }
    }

    /** Returns the lines of accounts without the labels of the JVM. */
    private static List<String> accounts(String text) {
        return text.lines()
                .filter(line -> line.startsWith("taskclock_account"))
                .map(line -> line.replaceAll("(jvm|service)=\"[^\"]*\",", "")
                        .replace("taskclock_account_", "")
                        .replace("section_cpu_time_seconds_", ""))
                .toList();
    }

    @Test
    void shouldExportAccountsAndTheirSections() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        mark,
                        ForgedReportProgram.OPTION,
                        "-cp",
                        System.getProperty("java.class.path"),
                        ForgedReportProgram.class.getName(),
                        "{" + ACCOUNTS + ForgedReportProgram.report().substring(1))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (JvmFleet fleet =
                new JvmFleet(new FleetOptions(List.of(), mark, 100, Duration.ofMinutes(1), true), line -> {})) {
            assertThat(child.getInputStream().read()).isEqualTo('r');
            String text = text(fleet);
            assertThat(text).contains("# TYPE taskclock_account_section_cpu_time_seconds histogram");
            String acme = "name=\"acme\",type=\"tenant\"";
            String globex = "name=\"globex\",type=\"tenant\"";
            List<String> expected = new ArrayList<>(List.of(
                    "cpu_time_seconds_total{cpu_mode=\"user\"," + acme + "} 0.004",
                    "cpu_time_seconds_total{cpu_mode=\"system\"," + acme + "} 0.001",
                    "cpu_time_seconds_total{cpu_mode=\"user\"," + globex + "} 0.0",
                    "cpu_time_seconds_total{cpu_mode=\"system\"," + globex + "} 0.001",
                    "wait_time_seconds_total{" + globex + "} 0.002",
                    "allocated_total{" + globex + "} 8.0",
                    "sections_total{" + acme + "} 7.0",
                    "sections_total{" + globex + "} 1.0",
                    "count{" + acme + "} 5",
                    "sum{" + acme + "} 0.004015"));
            for (String bound : List.of("1.0E-5", "1.0E-4", "3.0E-4", "0.001"))
                expected.add("bucket{" + acme + ",le=\"" + bound + "\"} 3");
            for (String bound : List.of("0.003", "0.01", "0.03", "0.1", "0.3", "1.0", "10.0", "100.0"))
                expected.add("bucket{" + acme + ",le=\"" + bound + "\"} 5");
            expected.add("bucket{" + acme + ",le=\"+Inf\"} 5");
            assertThat(accounts(text)).containsExactlyInAnyOrderElementsOf(expected);
            long own = text.lines()
                    .filter(line -> line.startsWith("taskclock_exporter"))
                    .count();
            long series = text.lines().filter(line -> !line.startsWith("#")).count() - own;
            assertThat(status.series).isEqualTo((int) series);
            checkOtlp(new OtlpMetrics("test", null, new EpochClock()).of(fleet.read(), Resource.empty()));
            ExpositionFormats formats = ExpositionFormats.init();
            checkText(fleet, formats.getPrometheusTextFormatWriter());
            checkText(fleet, formats.getOpenMetricsTextFormatWriter());
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    /** Compares the text with that of the library, but for values that change all the time. */
    private void checkText(JvmFleet fleet, ExpositionFormatWriter writer) throws IOException {
        PrometheusMetrics metrics = new PrometheusMetrics(fleet, status);
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        writer.write(expected, metrics.collect());
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        metrics.write(out, writer);
        assertThat(stable(out))
                .containsExactlyInAnyOrderElementsOf(stable(expected))
                .anyMatch(line -> line.startsWith("taskclock_account_section_cpu_time_seconds_bucket{"))
                .anyMatch(line -> line.startsWith("taskclock_thread_cpu_time_seconds_total{"));
    }

    private static List<String> stable(ByteArrayOutputStream text) {
        return text.toString(StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.matches("(#|taskclock_account).*") ? line : line.replaceFirst(" [^ ]+$", ""))
                .toList();
    }

    @Test
    void shouldEscapeLabelsAsTheLibraryDoes() throws IOException {
        Labels labels = Labels.of("a", "q\"b\\n\nu\ud83d\ude00", "b", "");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ExpositionFormats.init()
                .getPrometheusTextFormatWriter()
                .write(
                        out,
                        MetricSnapshots.of(GaugeSnapshot.builder()
                                .name("x")
                                .dataPoint(new GaugeSnapshot.GaugeDataPointSnapshot(1, labels, null))
                                .build()));
        assertThat(out.toString(StandardCharsets.UTF_8))
                .endsWith("\nx" + new String(SeriesText.labels(labels), StandardCharsets.UTF_8) + "} 1.0\n");
    }

    private static void checkOtlp(List<MetricData> metrics) {
        MetricData sections = metrics.stream()
                .filter(metric -> metric.getName().equals("taskclock.account.section.cpu.time"))
                .findFirst()
                .orElseThrow();
        assertThat(sections.getHistogramData().getAggregationTemporality())
                .isEqualTo(AggregationTemporality.CUMULATIVE);
        assertThat(sections.getHistogramData().getPoints()).hasSize(1);
        HistogramPointData point =
                sections.getHistogramData().getPoints().iterator().next();
        assertThat(point.getAttributes().asMap().values()).containsExactlyInAnyOrder("tenant", "acme");
        assertThat(point.getSum()).isEqualTo(0.004015);
        assertThat(point.getBoundaries()).hasSize(12).startsWith(1e-5, 1e-4).endsWith(100.0);
        assertThat(point.getCounts()).startsWith(3L, 0L, 0L, 0L, 2L, 0L).hasSize(13);
        assertThat(point.hasMax()).isFalse();
        assertThat(metrics).extracting(MetricData::getName).contains("taskclock.account.cpu.time");
    }
}
