// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.ProcessClock;
import org.taskclock.testing.LoadJvm;

/** {@code taskclock exporter} on running JVMs. */
@Isolated("it compares CPU times")
class ExporterTest {
    private static final String CPU = "jvm_thread_cpu_time_seconds_total{";
    private static final String PROCESS = "process_cpu_time_seconds_total{";

    /** What the exporter promises. */
    private static final double TOLERANCE = 0.01;

    @TempDir
    private Path directory;

    private static String pid(LoadJvm jvm) {
        return "pid=\"" + jvm.pid() + "\"";
    }

    /** Selects the JVMs of one test. */
    private static String property(Object test) {
        return "-Dtaskclock.exporter.test=" + System.identityHashCode(test);
    }

    @Test
    void shouldExportThePoolsOfEachJvm() throws Exception {
        try (ExporterProcess exporter = ExporterProcess.start("--match", property(this), "--interval", "200ms");
                LoadJvm first = LoadJvm.start(property(this), "-Dservice=orders", "busy=2", "idle=20");
                LoadJvm second = LoadJvm.start(property(this), "kernel")) {
            Map<String, Double> values = exporter.await(
                    v -> ExporterProcess.sum(v, CPU, pid(first), "a busy thread with a long name, number #") > 1
                            && ExporterProcess.sum(v, CPU, pid(second), "kernel-calls") > 0.5);
            assertThat(ExporterProcess.sum(values, "jvm_thread_count{", pid(first), "pool-#-thread-#"))
                    .isEqualTo(20);
            assertThat(ExporterProcess.sum(values, "taskclock_exporter_jvms ")).isEqualTo(2);
            for (LoadJvm jvm : List.of(first, second)) {
                ProcessClock clock = ProcessClock.of(jvm.pid());
                double before = clock.cpuNanos() / 1e9;
                // The values of a reading that another scrape took less than a second ago would be as old.
                Thread.sleep(1_100);
                values = exporter.scrape();
                double process = ExporterProcess.sum(values, PROCESS, pid(jvm));
                assertThat(process).isBetween(before, clock.cpuNanos() / 1e9);
                assertThat(ExporterProcess.sum(values, CPU, pid(jvm))).isCloseTo(process, within(TOLERANCE * process));
                assertThat(ExporterProcess.sum(values, CPU, pid(jvm), "cpu_mode=\"user\""))
                        .isBetween(0.0, process);
            }
        }
    }

    @Test
    void shouldNeverDecreaseWhenThreadsAndJvmsEnd() throws Exception {
        try (ExporterProcess exporter = ExporterProcess.start(
                        "--match", property(this), "--interval", "100ms", "--refresh", "200ms", "--keep-ended", "3s");
                LoadJvm jvm = LoadJvm.start(property(this), "busy")) {
            Map<String, Double> last = exporter.await(v -> ExporterProcess.sum(v, CPU, pid(jvm)) > 0);
            for (int i = 0; i < 4; i++) {
                jvm.send("churn 15");
                last = assertNotDecreased(last, exporter.scrape(), pid(jvm));
            }
            jvm.end();
            last = exporter.await(v -> ExporterProcess.sum(v, "taskclock_exporter_jvms ") == 0);
            double process = ExporterProcess.sum(last, PROCESS, pid(jvm));
            assertThat(ExporterProcess.sum(last, CPU, pid(jvm))).isCloseTo(process, within(TOLERANCE * process));
            assertThat(ExporterProcess.sum(last, "jvm_thread_count{", pid(jvm))).isZero();
            assertNotDecreased(last, exporter.scrape(), pid(jvm));
            exporter.await(v -> v.keySet().stream().noneMatch(series -> series.contains(pid(jvm))));
        }
    }

    private static Map<String, Double> assertNotDecreased(
            Map<String, Double> before, Map<String, Double> now, String pid) {
        before.forEach((series, value) -> {
            if (series.contains(pid) && series.contains("_total{"))
                assertThat(now.get(series)).as(series).isNotNull().isGreaterThanOrEqualTo(value);
        });
        return now;
    }

    @Test
    void shouldLabelServices() throws Exception {
        try (LoadJvm jvm = LoadJvm.start(property(this), "-Dapp=orders", "idle");
                ExporterProcess named = ExporterProcess.start(
                        "--match", property(this), "--service", "env:NOT_SET", "--service", "regex:-Dapp=(\\w+)");
                ExporterProcess other = ExporterProcess.start(
                        "--match", property(this), "--no-attach", "--max-pools", "14", "--service", "jar")) {
            Map<String, Double> values = named.await(v -> ExporterProcess.sum(v, PROCESS, pid(jvm)) > 0);
            assertThat(values.keySet()).anyMatch(series -> series.contains("service=\"orders\""));
            values = other.await(v -> ExporterProcess.sum(v, PROCESS, pid(jvm)) > 0);
            assertThat(values.keySet())
                    .anyMatch(series -> series.contains("service=\"org.taskclock.testing.LoadProgram\""))
                    .anyMatch(series -> series.contains("jvm_thread_pool_name=\"other\""));
        }
    }

    @Test
    void shouldServeValidFormatsAndPages() throws Exception {
        try (LoadJvm jvm = LoadJvm.start(property(this), "idle");
                ExporterProcess exporter = ExporterProcess.start("--match", property(this))) {
            exporter.await(v -> ExporterProcess.sum(v, PROCESS, pid(jvm)) > 0);
            HttpResponse<String> open =
                    exporter.get("/metrics", "Accept", "application/openmetrics-text; version=1.0.0");
            assertThat(open.headers().firstValue("Content-Type"))
                    .hasValueSatisfying(type -> assertThat(type).startsWith("application/openmetrics-text"));
            assertThat(open.body()).endsWith("# EOF\n").contains("# UNIT jvm_thread_cpu_time_seconds seconds");
            assertThat(open.body())
                    .contains("taskclock_exporter_build_info{")
                    .contains("version=\"" + System.getProperty("project.version") + "\"");
            HttpResponse<String> zipped = exporter.get("/metrics", "Accept-Encoding", "gzip");
            assertThat(zipped.headers().firstValue("Content-Encoding")).hasValue("gzip");

            assertThat(exporter.get("/-/healthy").statusCode()).isEqualTo(200);
            assertThat(exporter.get("/-/ready").statusCode()).isEqualTo(200);
            assertThat(exporter.get("/").body()).contains("href=\"metrics\"");
            assertThat(exporter.get("/metricsx").statusCode()).isEqualTo(404);
            assertThat(exporter.terminate()).isEqualTo(Main.OK);
            assertThat(exporter.err().lines()).hasSize(1);

            Path promtool = Path.of("/usr/bin/promtool");
            assumeTrue(Files.isExecutable(promtool), "NOT RUN: promtool is not installed");
            assertThat(check(promtool, open.body()))
                    .isEqualTo(
                            "jvm_thread_count non-histogram and non-summary metrics should not have \"_count\" suffix\n");
        }
    }

    /** Returns what promtool finds. The name of one metric is that of OpenTelemetry. */
    private static String check(Path promtool, String metrics) throws IOException {
        Process process = new ProcessBuilder(promtool.toString(), "check", "metrics")
                .redirectErrorStream(true)
                .start();
        try (OutputStream in = process.getOutputStream()) {
            // It parses only the older format, which has no line for units and for the end.
            in.write(metrics.replaceAll("(?m)^# (UNIT .*|EOF)\n", "").getBytes(StandardCharsets.UTF_8));
        }
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Test
    void shouldReportAPortInUse() throws Exception {
        try (ServerSocket used = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + used.getLocalPort();
            assertThat(CliResult.run("exporter", "--web.listen-address", address))
                    .isEqualTo(new CliResult(
                            Main.USAGE,
                            "",
                            "taskclock: exporter: cannot listen on " + address + ": Address already in use\n"));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --web.listen-address 9464           | must be HOST:PORT
                    --web.config.file /nonexistent.yml  | /nonexistent.yml: no such file
                    --service nothing                   | --service nothing: must be main
                    --max-pools 3                       | --max-pools 3: must be at least
                    --interval 1ms                      | --interval: must be at least
                    --otlp-protocol thrift              | --otlp-protocol thrift: must be
                    --otlp-endpoint nowhere             | --otlp-endpoint nowhere: must be a URL
                    --push-queue 0                      | --push-queue 0: must be at least 1
                    surplus                             | surplus
                    """)
    void shouldReportInvalidOptionsInOneLine(String options, String message) throws Exception {
        CliResult result = CliResult.run(("exporter " + options).split(" "));
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.USAGE);
        assertThat(result.err()).startsWith("taskclock: ").contains(message);
        assertThat(result.err().lines()).hasSize(1);
    }
}
