// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.ProcessClock;
import org.taskclock.testing.LoadJvm;

/** {@code taskclock exporter} on running JVMs. */
@Tag("slow17")
class ExporterTest {
    private static final String CPU = "taskclock_thread_cpu_time_seconds_total{";
    private static final String JVMS = "taskclock_exporter_jvms";
    private static final String PROCESS = "taskclock_process_cpu_time_seconds_total{";

    /** What the exporter promises. */
    private static final double TOLERANCE = 0.01;
    /** A sum of values in seconds may be off by its last bit. */
    private static final double ROUNDING = 1e-9;

    private static String pid(LoadJvm jvm) {
        return "-" + jvm.pid() + "\"";
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
            assertThat(ExporterProcess.sum(values, "taskclock_threads{", pid(first), "pool-#-thread-#"))
                    .isEqualTo(20);
            assertThat(values).containsEntry(JVMS, 2.0);
            for (LoadJvm jvm : List.of(first, second)) {
                ProcessClock clock = ProcessClock.of(jvm.pid());
                double before = clock.cpuNanos() / 1e9;
                // The values of a reading that another scrape took less than a second ago would be as old.
                Thread.sleep(1_100);
                values = exporter.scrape();
                double process = ExporterProcess.sum(values, PROCESS, pid(jvm));
                assertThat(process).isBetween(before, clock.cpuNanos() / 1e9 + ROUNDING);
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
            last = exporter.await(v -> v.get(JVMS) == 0);
            double process = ExporterProcess.sum(last, PROCESS, pid(jvm));
            assertThat(ExporterProcess.sum(last, CPU, pid(jvm))).isCloseTo(process, within(TOLERANCE * process));
            assertThat(ExporterProcess.sum(last, "taskclock_threads{", pid(jvm)))
                    .isZero();
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
                    .anyMatch(series -> series.contains("taskclock_pool_name=\"other\""));
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
            assertThat(open.body()).endsWith("# EOF\n").contains("# UNIT taskclock_thread_cpu_time_seconds seconds");
            assertThat(open.body())
                    .contains("taskclock_exporter_build_info{")
                    .contains("version=\"" + System.getProperty("project.version") + "\"");
            HttpResponse<String> zipped = exporter.get("/metrics", "Accept-Encoding", "gzip");
            assertThat(zipped.headers().firstValue("Content-Encoding")).hasValue("gzip");

            assertThat(exporter.get("/-/healthy").statusCode()).isEqualTo(200);
            assertThat(exporter.get("/-/ready").statusCode()).isEqualTo(200);
            assertThat(exporter.get("/").body()).contains("href=\"metrics\"");
            assertThat(exporter.get("/metricsx").statusCode()).isEqualTo(404);
            String text = exporter.get("/metrics").body();
            assertThat(exporter.terminate()).isEqualTo(Main.OK);
            assertThat(exporter.err().lines()).hasSize(1);

            Path promtool = Path.of("/usr/bin/promtool");
            assumeTrue(Files.isExecutable(promtool), "NOT RUN: promtool is not installed");
            assertThat(check(promtool, text)).isEmpty();
        }
    }

    /** Returns what promtool finds. */
    private static String check(Path promtool, String metrics) throws IOException {
        Process process = new ProcessBuilder(promtool.toString(), "check", "metrics")
                .redirectErrorStream(true)
                .start();
        try (OutputStream in = process.getOutputStream()) {
            in.write(metrics.getBytes(StandardCharsets.UTF_8));
        }
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    /** Starts threads whose names have each character of the first pages of Unicode, and more, and prints a line. */
    static final class OddNames {
        private OddNames() {}

        public static void main(String[] args) {
            List<String> names = new ArrayList<>(List.of("a\ud800", "a\udfff", "a\ud83d\ude00", "\uffff", "", "other"));
            for (char c = 0; c < 0x180; c++) names.add("odd " + c + "\"} 1\n");
            for (String name : names) {
                Thread thread = new Thread(
                        () -> {
                            long end = System.nanoTime() + 2_000_000;
                            while (System.nanoTime() < end) Thread.onSpinWait();
                            LockSupport.park();
                        },
                        name);
                thread.setDaemon(true);
                thread.start();
            }
            System.out.println("ready");
            LockSupport.park();
        }
    }

    @Test
    void shouldExportNamesWithAnyCharacter() throws Exception {
        Process odd = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        property(this),
                        "-cp",
                        System.getProperty("java.class.path"),
                        OddNames.class.getName())
                .redirectErrorStream(true)
                .start();
        try (ExporterProcess exporter = ExporterProcess.start("--match", property(this), "--max-pools", "1000")) {
            assertThat(odd.getInputStream().read()).isEqualTo('r');
            // Each series has one line, or the scrape would fail.
            Map<String, Double> values = exporter.await(v -> v.keySet().stream()
                            .filter(series -> series.startsWith("taskclock_threads{"))
                            .count()
                    > 0x180);
            assertThat(values.keySet())
                    .anyMatch(series -> series.contains("pool_name=\"odd \u00e4\\\"} #\\n\""))
                    .anyMatch(series -> series.contains("pool_name=\"odd \\\\\\\"} #\\n\""))
                    .anyMatch(series -> series.contains("\ud83d\ude00"));
            Path promtool = Path.of("/usr/bin/promtool");
            assumeTrue(Files.isExecutable(promtool), "NOT RUN: promtool is not installed");
            assertThat(check(promtool, exporter.get("/metrics").body())).isEmpty();
        } finally {
            odd.destroyForcibly().waitFor();
        }
    }

    @Test
    void shouldReportOnceThatAJvmRefusesToAnswer() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "NOT RUN: only root can become another user");
        assumeTrue(Files.exists(Path.of("/usr/bin/setpriv")), "NOT RUN: setpriv is not installed");
        Path jar = Files.createTempFile("taskclock-cli", ".jar");
        try (LoadJvm jvm = LoadJvm.start(property(this), "busy")) {
            Files.copy(Path.of(System.getProperty("cli.jar")), jar, StandardCopyOption.REPLACE_EXISTING);
            assertThat(jar.toFile().setReadable(true, false)).isTrue();
            try (ExporterProcess exporter = ExporterProcess.start(
                    jar,
                    List.of("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"),
                    "--match",
                    property(this),
                    "--refresh",
                    "100ms")) {
                Map<String, Double> values =
                        exporter.await(v -> ExporterProcess.sum(v, "taskclock_exporter_refused_jvms{", "attach") == 1);
                Thread.sleep(1_000);
                assertThat(ExporterProcess.sum(values, CPU, pid(jvm), "a busy thread w\""))
                        .isPositive();
                assertThat(exporter.err().lines().filter(line -> line.contains("process " + jvm.pid())))
                        .hasSize(1)
                        .allMatch(line -> line.contains("truncated to 15 characters"));
            }
        } finally {
            Files.delete(jar);
        }
    }

    /** As OpenTelemetry's SDK would. The resource of each JVM is its own. */
    @Test
    void shouldPushAsTheEnvironmentSays() throws Exception {
        List<String> received = new CopyOnWriteArrayList<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/v1/metrics", exchange -> {
            try (exchange) {
                assertThat(exchange.getRequestHeaders()).doesNotContainKey("Content-Encoding");
                received.add(exchange.getRequestHeaders().getFirst("X-Token") + " "
                        + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
                exchange.sendResponseHeaders(200, -1);
            }
        });
        receiver.start();
        String url = "http://127.0.0.1:" + receiver.getAddress().getPort();
        try (LoadJvm jvm = LoadJvm.start(property(this), "-Dotel.service.name=orders", "busy");
                ExporterProcess exporter = ExporterProcess.start(
                        Path.of(System.getProperty("cli.jar")),
                        List.of(
                                "env",
                                "OTEL_EXPORTER_OTLP_ENDPOINT=" + url,
                                "OTEL_EXPORTER_OTLP_HEADERS=x-token=abc",
                                "OTEL_EXPORTER_OTLP_METRICS_COMPRESSION=none",
                                "OTEL_SERVICE_NAME=exporter",
                                "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=production"),
                        "--match",
                        property(this),
                        "--push",
                        "--push-interval",
                        "500ms")) {
            exporter.await(v -> received.stream().anyMatch(push -> push.contains("a busy thread")));
            assertThat(jvm.isAlive()).isTrue();
            assertThat(exporter.err().lines()).as(exporter.err()).hasSize(1);
        } finally {
            receiver.stop(0);
        }
        assertThat(received.get(received.size() - 1))
                .startsWith("abc ")
                .contains("orders", "production", "org.taskclock", "https://opentelemetry.io/schemas/")
                .doesNotContain("unknown_service");
    }

    @Test
    void shouldPushUntilItIsTerminated() throws Exception {
        List<Integer> sizes = new CopyOnWriteArrayList<>();
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/v1/metrics", exchange -> {
            try (exchange) {
                sizes.add(new GZIPInputStream(exchange.getRequestBody()).readAllBytes().length);
                exchange.sendResponseHeaders(sizes.size() == 1 ? 400 : 200, -1);
            }
        });
        receiver.start();
        try (LoadJvm jvm = LoadJvm.start(property(this), "busy");
                ExporterProcess exporter = ExporterProcess.start(
                        "--match",
                        property(this),
                        "--otlp-endpoint",
                        "http://127.0.0.1:" + receiver.getAddress().getPort(),
                        "--push-interval",
                        "500ms")) {
            exporter.await(v -> ExporterProcess.sum(v, "taskclock_exporter_pushes_total{", "ok") >= 3
                    && v.keySet().stream().anyMatch(series -> series.contains("jvm=\"")));
            int before = sizes.size();
            assertThat(exporter.terminate()).isEqualTo(Main.OK);
            // The first pushes may come before the names of the threads.
            assertThat(sizes.subList(before, sizes.size())).isNotEmpty().allMatch(size -> size > 1_000);
            assertThat(exporter.err())
                    .contains("HTTP status code 400", "accepts pushes again")
                    .doesNotContain("not sent");
            assertThat(jvm.isAlive()).isTrue();
        } finally {
            receiver.stop(0);
        }
    }

    @Test
    @Tag("slow")
    void shouldForgetJvmsThatEnd() throws Exception {
        try (ExporterProcess exporter = ExporterProcess.start(
                "--match", property(this), "--interval", "100ms", "--refresh", "100ms", "--keep-ended", "1s")) {
            for (int i = 0; i < 1_000; i++) {
                try (LoadJvm jvm = LoadJvm.start(property(this), "-XX:TieredStopAtLevel=1", "idle")) {
                    Thread.sleep(200);
                    jvm.end();
                }
                if (i % 50 == 0) exporter.scrape();
            }
            Map<String, Double> values =
                    exporter.await(v -> v.keySet().stream().noneMatch(series -> series.contains("jvm=\"")));
            assertThat(ExporterProcess.sum(values, "taskclock_exporter_jvms_found_total"))
                    .isGreaterThan(500); // each lives for half a second
            assertThat(ExporterProcess.sum(values, "taskclock_exporter_resident_memory_bytes"))
                    .isLessThan(400e6);
            try (Stream<Path> files = Files.list(Path.of("/proc/" + exporter.process.pid() + "/fd"))) {
                assertThat(files.count()).isLessThan(200);
            }
        }
    }

    @Test
    void shouldReportAPortInUse() throws Exception {
        try (ServerSocket used = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + used.getLocalPort();
            assertThat(CliResult.runHere("exporter", "--web.listen-address", address))
                    .isEqualTo(new CliResult(
                            Main.USAGE,
                            "",
                            "taskclock: exporter: cannot listen on " + address
                                    + ": Address already in use: choose another address or port\n"));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    --web.listen-address 10077           | must be HOST:PORT
                    --web.config.file /nonexistent.yml  | /nonexistent.yml: no such file
                    --service nothing                   | --service nothing: must be otel
                    --max-pools 3                       | --max-pools 3: must be at least
                    --interval 1ms                      | --interval: must be at least
                    --otlp-protocol thrift              | --otlp-protocol thrift: must be
                    --otlp-endpoint nowhere             | --otlp-endpoint nowhere: must be a URL
                    --otlp-endpoint http://127.0.0.1:1 --otlp-headers-file /nonexistent | /nonexistent: no such file
                    --push-queue 0                      | --push-queue 0: must be at least 1
                    surplus                             | surplus
                    """)
    void shouldReportInvalidOptionsInOneLine(String options, String message) throws Exception {
        CliResult result = CliResult.runHere(("exporter " + options).split(" "));
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.USAGE);
        assertThat(result.err()).startsWith("taskclock: ").contains(message);
        assertThat(result.err().lines()).hasSize(1);
    }
}
