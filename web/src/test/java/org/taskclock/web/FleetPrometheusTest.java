// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.File;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.web.fleet.PrometheusOptions;

/** The queries of a fleet, answered by the installed Prometheus. */
@Tag("slow17")
class FleetPrometheusTest {
    private static final long HOUR = 3_600;
    private static final long WEEK = 7 * 24 * HOUR;
    private static final int STEP = 60;
    private static final String CPU = "taskclock_process_cpu_time_seconds:rate5m";
    private static final String HOSTILE = "a\"} or <b>\n\\.*";

    private final long end = System.currentTimeMillis() / 1_000 / STEP * STEP - 2 * STEP;
    private final StringBuilder samples = new StringBuilder();
    private final HttpClient client = HttpClient.newHttpClient();
    private String url;

    @TempDir
    private Path directory;

    private static void assumeInstalled(String program) {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator, -1))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program))),
                program + " is not installed: install the package prometheus");
    }

    /** Adds a series that has a value from a number of seconds before the end on, and the half of it a week earlier. */
    private void add(String metric, Map<String, String> labels, long seconds, double value) {
        List<String> pairs = new ArrayList<>(List.of("job=\"taskclock\""));
        labels.forEach((name, text) -> pairs.add(
                name + "=\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\""));
        String series = metric + "{" + String.join(",", pairs) + "} ";
        for (long back : new long[] {WEEK, 0})
            for (long time = end - back - seconds; time <= end - back; time += STEP)
                samples.append(series)
                        .append(back == 0 ? value : value / 2)
                        .append(' ')
                        .append(time)
                        .append('\n');
    }

    private void addFleet() {
        for (String service : new String[] {"orders", HOSTILE}) {
            double cores = service.equals("orders") ? 8 : 2;
            Map<String, String> labels = Map.of("service", service);
            add("service:" + CPU, labels, HOUR, cores);
            add("service:taskclock_process_cpu_time_seconds:median_rate5m", labels, HOUR, 1);
            add("service:taskclock_jvms:count", labels, HOUR, 3);
            add("service:taskclock_jvm_outliers:count", labels, HOUR, 1);
            add("service_version:" + CPU, Map.of("service", service, "service_version", "1.2"), HOUR, cores / 2);
            add("service_version:taskclock_jvms:count", Map.of("service", service, "service_version", "1.2"), HOUR, 2);
            add("service_version:" + CPU, Map.of("service", service, "service_version", HOSTILE), 1_200, cores / 2);
            add(
                    "service_version:taskclock_jvms:count",
                    Map.of("service", service, "service_version", HOSTILE),
                    1_200,
                    1);
            Map<String, String> pool =
                    Map.of("service", service, "taskclock_pool_name", HOSTILE, "taskclock_pool_kind", "java");
            add("service_pool:taskclock_thread_cpu_time_seconds:rate5m", pool, HOUR, cores);
            Map<String, String> account =
                    Map.of("service", service, "taskclock_account_name", HOSTILE, "taskclock_account_type", "tenant");
            add("service_account:taskclock_account_cpu_time_seconds:rate5m", account, HOUR, cores);
            for (int i = 0; i < 3; i++) {
                Map<String, String> jvm =
                        Map.of("service", service, "jvm", service + "-" + i, "instance", "node" + i + ":10077");
                add("jvm:" + CPU, jvm, HOUR, i == 0 ? cores - 2 : 1);
                add("taskclock_jvm_info", jvm, HOUR, 1);
            }
            add(
                    "jvm_finding:taskclock_finding_start_time_seconds:active",
                    Map.of("service", service, "jvm", service + "-0", "taskclock_finding_kind", "gc"),
                    600,
                    1_700_000_000.25);
        }
        add("fleet:" + CPU, Map.of(), HOUR, 10);
        add("fleet:taskclock_thread_cpu_time_seconds:rate5m", Map.of(), HOUR, 10);
        Map<String, String> type = Map.of("taskclock_account_type", "tenant");
        add("account_type:taskclock_account_cpu_time_seconds:rate5m", type, HOUR, 10);
        for (int i = 0; i < 3; i++) {
            add("instance:" + CPU, Map.of("instance", "node" + i + ":10077"), HOUR, i == 0 ? 4 : 3);
            add("instance:taskclock_jvms:count", Map.of("instance", "node" + i + ":10077"), HOUR, 2);
        }
        add(
                "pool:taskclock_thread_cpu_time_seconds:rate5m",
                Map.of("taskclock_pool_name", HOSTILE, "taskclock_pool_kind", "java"),
                HOUR,
                10);
        add(
                "account:taskclock_account_cpu_time_seconds:rate5m",
                Map.of("taskclock_account_name", HOSTILE, "taskclock_account_type", "tenant"),
                HOUR,
                10);
    }

    private JsonObject get(String path) throws Exception {
        String times = "from=" + (end - HOUR) * 1_000 + "&to=" + end * 1_000;
        HttpResponse<String> response = client.send(
                HttpRequest.newBuilder(URI.create(url + path + times)).build(), BodyHandlers.ofString());
        assertThat(response.statusCode()).as(path + response.body()).isEqualTo(200);
        return JsonParser.parseString(response.body()).getAsJsonObject();
    }

    private static double last(JsonArray values) {
        return values.get(values.size() - 1).getAsDouble();
    }

    private void check(String service, double cores) throws Exception {
        String of = service.isEmpty() ? "" : "service=" + URLEncoder.encode(service, StandardCharsets.UTF_8) + "&";
        for (String by : new String[] {"service", "jvm", "version", "host", "pool", "account"}) {
            if (by.equals("jvm") && service.isEmpty()) continue;
            String query = "?by=" + by + "&" + of;
            JsonObject usage = get("api/fleet/usage" + query);
            double sum = 0;
            double hours = 0;
            for (JsonElement row : usage.getAsJsonArray("rows")) {
                sum += row.getAsJsonObject().get("cpu").getAsDouble();
                hours += row.getAsJsonObject().get("hours").getAsDouble();
                assertThat(row.getAsJsonObject().get("weekEarlier").getAsDouble())
                        .as(query)
                        .isEqualTo(row.getAsJsonObject().get("cpu").getAsDouble() / 2);
            }
            assertThat(sum).as(query).isEqualTo(cores * 100);
            if (!by.equals("version")) assertThat(hours).as(query).isBetween(cores * 0.9, cores * 1.1);
            JsonObject series = get("api/fleet/series" + query);
            double drawn = last(series.getAsJsonArray("others"));
            for (JsonElement line : series.getAsJsonArray("lines"))
                drawn += last(line.getAsJsonObject().getAsJsonArray("cpu"));
            assertThat(drawn).as(query).isEqualTo(sum);
            assertThat(last(series.getAsJsonArray("weekEarlier"))).as(query).isEqualTo(sum / 2);
            assertThat(usage.getAsJsonObject("total").get("cpu").getAsDouble()).isEqualTo(cores * 100);
        }
    }

    @Test
    void shouldBeUnderstoodByPrometheus() throws Exception {
        assumeInstalled("prometheus");
        assumeInstalled("promtool");
        addFleet();
        Path text = Files.writeString(directory.resolve("samples"), samples.append("# EOF\n"));
        Path data = directory.resolve("data");
        run("promtool", "tsdb", "create-blocks-from", "openmetrics", text.toString(), data.toString());
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path config = Files.writeString(directory.resolve("prometheus.yml"), "{}\n");
        Process prometheus = new ProcessBuilder(
                        "prometheus",
                        "--config.file=" + config,
                        "--storage.tsdb.path=" + data,
                        "--storage.tsdb.retention.time=1y",
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("log").toFile())
                .start();
        try (FleetServer server = new FleetServer(
                TestServer.options(directory, new TestServer.Settings()),
                new PrometheusOptions("http://127.0.0.1:" + port, null, "http://{instance}/", null),
                line -> {})) {
            url = server.url();
            awaitReady();
            check("", 10);
            check("orders", 8);
            check(HOSTILE, 2);
            checkDetails("orders");
            checkDetails(HOSTILE);
        } finally {
            prometheus.destroy();
            prometheus.waitFor();
        }
    }

    private void checkDetails(String service) throws Exception {
        String of = "?service=" + URLEncoder.encode(service, StandardCharsets.UTF_8) + "&";
        JsonArray versions = get("api/fleet/versions" + of).getAsJsonArray("versions");
        JsonObject deployed = versions.get(0).getAsJsonObject();
        assertThat(deployed.get("version").getAsString()).isEqualTo(HOSTILE);
        assertThat(deployed.get("after").getAsDouble())
                .isEqualTo(2 * deployed.get("before").getAsDouble());
        assertThat(deployed.get("first").getAsLong() / 1_000).isBetween(end - 1_200, end - 1_200 + STEP);
        JsonArray all = get("api/fleet/versions?").getAsJsonArray("versions");
        assertThat(all).hasSize(2).allSatisfy(each -> assertThat(
                        each.getAsJsonObject().get("version").getAsString())
                .isEqualTo(HOSTILE));
        JsonArray findings = get("api/fleet/findings" + of).getAsJsonArray("findings");
        assertThat(findings).hasSize(1);
        assertThat(findings.get(0).getAsJsonObject().get("since").getAsLong()).isEqualTo(1_700_000_000_250L);
        assertThat(findings.get(0).getAsJsonObject().get("active").getAsBoolean())
                .isTrue();
        if (service.equals("orders"))
            assertThat(get("api/fleet/usage" + of)
                            .getAsJsonArray("rows")
                            .get(0)
                            .getAsJsonObject()
                            .get("outlier")
                            .getAsBoolean())
                    .isTrue();
    }

    private void awaitReady() throws Exception {
        long limit = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        HttpRequest ready = HttpRequest.newBuilder(URI.create(url + "-/ready")).build();
        String answer = "";
        while (System.nanoTime() < limit) {
            answer = client.send(ready, BodyHandlers.ofString()).body();
            if (answer.equals("TaskClock is ready.\n")) return;
            Thread.sleep(200);
        }
        throw new AssertionError(answer + Files.readString(directory.resolve("log")));
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
    }
}
