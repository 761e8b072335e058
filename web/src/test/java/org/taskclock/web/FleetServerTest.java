// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.web.fleet.FakePrometheus;
import org.taskclock.web.fleet.PrometheusOptions;
import org.taskclock.web.http.WebException;

class FleetServerTest {
    private static final String CPU = "(service:taskclock_process_cpu_time_seconds:rate5m";
    private static final String TOTAL = "sum(fleet:taskclock_process_cpu_time_seconds:rate5m";
    private static final String HOURS = "(service:taskclock_process_cpu_time_seconds:rate1h[86400s:3600s]";
    private static final String OF_SERVICE = "(jvm:taskclock_process_cpu_time_seconds:rate5m{service=\"orders\"}";
    private static final String HOSTILE = "a\"} or <img src=x onerror=alert(1)>\n\\";

    @TempDir
    Path directory;

    private final List<String> log = Collections.synchronizedList(new ArrayList<>());
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private FakePrometheus prometheus;

    @BeforeEach
    void start() throws IOException {
        prometheus = new FakePrometheus();
    }

    @AfterEach
    void stop() {
        prometheus.close();
    }

    private FleetServer server(Path config) throws WebException {
        return server(prometheus.url() + "/", config);
    }

    private FleetServer server(String url, Path config) throws WebException {
        return new FleetServer(
                TestServer.options(directory, new TestServer.Settings()),
                new PrometheusOptions(url, config, "https://{host}:10077/", 0.04),
                log::add);
    }

    private HttpResponse<String> get(FleetServer server, String path) throws IOException, InterruptedException {
        return CLIENT.send(
                HttpRequest.newBuilder(URI.create(server.url() + path.substring(1)))
                        .build(),
                BodyHandlers.ofString());
    }

    private JsonObject json(FleetServer server, String path) throws IOException, InterruptedException {
        HttpResponse<String> response = get(server, path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonParser.parseString(response.body()).getAsJsonObject();
    }

    private static double number(JsonArray rows, int row, String name) {
        return rows.get(row).getAsJsonObject().get(name).getAsDouble();
    }

    @Test
    void shouldShowWhoUsesTheCpuNowAndAWeekEarlier() throws Exception {
        prometheus.add("topk(1000, sum by (service) " + CPU + "))", Map.of("service", "orders"), 40);
        prometheus.add("topk(1000, sum by (service) " + CPU + "))", Map.of("service", HOSTILE), 2);
        prometheus.add("topk(1000, sum by (service) " + CPU + " offset 1w", Map.of("service", "orders"), 20);
        prometheus.add("topk(1000, sum by (service) (sum_over_time" + HOURS, Map.of("service", "orders"), 240);
        prometheus.add("outliers:count", Map.of("service", "orders"), 3);
        prometheus.add("count by (service) (jvm_finding:", Map.of("service", HOSTILE), 7);
        prometheus.add(TOTAL + ")", Map.of(), 42);
        try (FleetServer server = server(null)) {
            JsonObject usage = json(server, "/api/fleet/usage?from=1699920000000&to=1700006400000");
            assertThat(usage.getAsJsonObject("total").get("cpu").getAsDouble()).isEqualTo(4_200);
            JsonArray rows = usage.getAsJsonArray("rows");
            assertThat(number(rows, 0, "cpu")).isEqualTo(4_000);
            assertThat(number(rows, 0, "weekEarlier")).isEqualTo(2_000);
            assertThat(number(rows, 0, "hours")).isEqualTo(240);
            assertThat(number(rows, 0, "outliers")).isEqualTo(3);
            assertThat(rows.get(1).getAsJsonObject().get("name").getAsString()).isEqualTo(HOSTILE);
            assertThat(rows.get(1).getAsJsonObject().get("weekEarlier").isJsonNull())
                    .isTrue();
            assertThat(number(rows, 1, "findings")).isEqualTo(7);
            assertThat(get(server, "/api/fleet/usage").body()).doesNotContain("<img");
        }
    }

    @Test
    void shouldAnswerAsDescribed() throws Exception {
        prometheus.add(
                "topk", Map.of("service", "orders", "jvm", "j1", "instance", "i", "taskclock_finding_kind", "gc"), 1);
        prometheus.add("sum", Map.of("service", "orders", "service_version", "1"), 1);
        prometheus.add("min", Map.of("service", "orders", "service_version", "1"), 1);
        prometheus.add("min", Map.of("service", "orders", "service_version", "2"), 2);
        JsonNode description = new ObjectMapper().readTree(ApiDescription.fleetJson());
        ParseOptions resolving = new ParseOptions();
        resolving.setResolve(true);
        assertThat(new OpenAPIV3Parser()
                        .readContents(description.toString(), null, resolving)
                        .getMessages())
                .isEmpty();
        try (FleetServer server = server(null)) {
            List<String> documented = new ArrayList<>();
            description.get("paths").properties().forEach(path -> path.getValue()
                    .fieldNames()
                    .forEachRemaining(method -> documented.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
            assertThat(server.routes()).containsExactlyInAnyOrderElementsOf(documented);
            assertThat(get(server, "/api/").body()).contains("/api/fleet/usage");
            for (String query : new String[] {"?service=orders", "?service=orders&by=account", ""}) {
                for (String path : new String[] {
                    "/api/fleet/usage", "/api/fleet/series", "/api/fleet/findings", "/api/fleet/versions", "/api/info"
                })
                    assertThat(schema(description, path)
                                    .validate(new ObjectMapper()
                                            .readTree(get(server, path + query).body())))
                            .as(path + query)
                            .isEmpty();
            }
        }
    }

    private static JsonSchema schema(JsonNode description, String path) {
        ObjectNode root = new ObjectMapper().createObjectNode();
        root.set("components", description.get("components"));
        root.set(
                "$ref",
                description.at("/paths").path(path).at("/get/responses/200/content/application~1json/schema/$ref"));
        return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(root);
    }

    @Test
    void shouldMarkJvmsThatUseTwiceTheMedianOfTheirService() throws Exception {
        double[] cpu = {1, 1.1, 2.5};
        for (int i = 0; i < cpu.length; i++)
            prometheus.add(
                    "topk(1000, sum by (jvm, instance) " + OF_SERVICE + "))",
                    Map.of("jvm", "j" + i, "instance", "node" + i + ":10077"),
                    cpu[i]);
        prometheus.add("median_rate5m", Map.of(), 1.1);
        prometheus.add(
                "taskclock_jvm_info",
                Map.of("jvm", "j2", "instance", "node2:10077", "service_version", "1.3", "pid", "42"),
                1);
        try (FleetServer server = server(null)) {
            JsonArray rows =
                    json(server, "/api/fleet/usage?service=orders&by=jvm").getAsJsonArray("rows");
            JsonObject outlier = rows.get(0).getAsJsonObject();
            assertThat(outlier.get("outlier").getAsBoolean()).isTrue();
            assertThat(outlier.get("url").getAsString()).isEqualTo("https://node2:10077/");
            assertThat(outlier.getAsJsonObject("labels").get("pid").getAsString())
                    .isEqualTo("42");
            assertThat(rows.get(1).getAsJsonObject().get("outlier").getAsBoolean())
                    .isFalse();
        }
    }

    @Test
    void shouldDrawTheLargestRowsAndTheOthers() throws Exception {
        for (int i = 0; i < 12; i++) {
            Map<String, String> labels = Map.of("service", "s" + i);
            prometheus.add("topk(1000, sum by (service) (sum_over_time" + CPU, labels, 100 - i);
            if (i < 9) prometheus.add("sum by (service) " + CPU + "{service=~", labels, 1);
        }
        prometheus.add(TOTAL + ")", Map.of(), 12);
        prometheus.add(TOTAL + " offset 1w)", Map.of(), 6);
        try (FleetServer server = server(null)) {
            JsonObject series = json(server, "/api/fleet/series?from=1700000000000&to=1700003600000");
            assertThat(series.getAsJsonArray("lines")).hasSize(9);
            int points = series.getAsJsonArray("times").size();
            assertThat(points).isBetween(200, 301);
            assertThat(series.getAsJsonArray("others").get(points - 1).getAsDouble())
                    .isEqualTo(300);
            assertThat(series.getAsJsonArray("weekEarlier").get(0).getAsDouble())
                    .isEqualTo(600);
        }
    }

    @Test
    void shouldShowWhatADeploymentChanged() throws Exception {
        double from = 1_700_000_000;
        double deployed = from + 12 * 3_600;
        String cpu =
                "sum by (service_version) (service_version:taskclock_process_cpu_time_seconds:rate5m{service=\"orders\"})";
        String jvms = "sum by (service_version) (service_version:taskclock_jvms:count{service=\"orders\"})";
        Map<String, String> old = Map.of("service_version", "1.2");
        Map<String, String> next = Map.of("service_version", "1.3");
        prometheus.add(cpu, old, time -> time < deployed ? 4 : Double.NaN);
        prometheus.add(cpu, next, time -> time < deployed ? Double.NaN : 6);
        prometheus.add(jvms, old, time -> time < deployed ? 2 : Double.NaN);
        prometheus.add(jvms, next, time -> time < deployed ? Double.NaN : 2);
        try (FleetServer server = server(null)) {
            JsonArray versions = json(
                            server,
                            "/api/fleet/versions?service=orders&from=1700000000000&to=" + (1_700_000_000L + 86_400)
                                    + "000")
                    .getAsJsonArray("versions");
            assertThat(versions).hasSize(2);
            assertThat(number(versions, 0, "first")).isBetween(deployed * 1e3, deployed * 1e3 + 300e3);
            assertThat(number(versions, 0, "before")).isEqualTo(400);
            assertThat(number(versions, 0, "after")).isEqualTo(600);
            assertThat(number(versions, 0, "cpuPerJvm")).isEqualTo(300);
            assertThat(versions.get(1).getAsJsonObject().get("isNew").getAsBoolean())
                    .isFalse();
        }
    }

    @Test
    void shouldShowWhenFindingsBegan() throws Exception {
        Map<String, String> running =
                Map.of("taskclock_finding_kind", "yield-storm", "jvm", "j1", "instance", "node1:10077");
        Map<String, String> ended = Map.of("taskclock_finding_kind", "gc", "jvm", "j2", "instance", "node2:10077");
        prometheus.add("last_over_time(jvm_finding:", running, 1_700_000_000.25);
        prometheus.add("last_over_time(jvm_finding:", ended, 1_700_000_500);
        prometheus.add("topk(200, jvm_finding:", running, 1_700_000_000.25);
        try (FleetServer server = server(null)) {
            JsonArray findings = json(server, "/api/fleet/findings").getAsJsonArray("findings");
            assertThat(findings).hasSize(2);
            assertThat(number(findings, 0, "since")).isEqualTo(1_700_000_000_250.0);
            assertThat(findings.get(0).getAsJsonObject().get("active").getAsBoolean())
                    .isTrue();
            assertThat(findings.get(1).getAsJsonObject().get("active").getAsBoolean())
                    .isFalse();
        }
    }

    @Test
    void shouldKeepHostileNamesInsideTheirStrings() throws Exception {
        try (FleetServer server = server(null)) {
            String service = URLEncoder.encode(HOSTILE, StandardCharsets.UTF_8);
            for (String by : new String[] {"jvm", "version", "host", "pool", "account"})
                json(server, "/api/fleet/usage?service=" + service + "&by=" + by);
            json(server, "/api/fleet/findings?service=" + service);
            json(server, "/api/fleet/versions?service=" + service);
        }
        assertThat(prometheus.queries.stream().filter(query -> query.contains("onerror")))
                .hasSizeGreaterThan(20)
                .allSatisfy(query ->
                        assertThat(query).contains("{service=\"a\\\"} or <img src=x onerror=alert(1)>\\x0a\\\\\"}"));
    }

    @Test
    void shouldSendQueriesOfManyViewersOnce() throws Exception {
        try (FleetServer server = server(null)) {
            String path = "/api/fleet/usage?to=1700000000000&from=1699990000000";
            json(server, path);
            int sent = prometheus.queries.size();
            for (int i = 0; i < 5; i++) json(server, path);
            assertThat(prometheus.queries).hasSize(sent);
        }
    }

    /** Each in one line, on the page and in health. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "401 | no | rejects the credentials (401): check --fleet-config",
                "403 | no | rejects the credentials (403): check --fleet-config",
                "404 | no | has no api/v1/query (404): --fleet must be the address in front of it",
                "302 | - | redirects to https://login.example.com/: give that address to --fleet",
                "502 | <html>Bad gateway</html> | answers with status 502: see its log",
                "200 | <html>Login</html> | does not answer as Prometheus does",
                "200 | {\"status\":\"success\",\"data\":{\"result\":[{\"value\":7}]}} | does not answer as Prometheus does",
                "400 | {\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"parse error: at char 3\"}"
                        + " | refuses the query: parse error: at char 3",
                "422 | {\"status\":\"error\",\"errorType\":\"execution\",\"error\":\"too many samples\"}"
                        + " | refuses the query: too many samples",
            })
    void shouldExplainFailures(int status, String body, String message) throws Exception {
        prometheus.reply = new FakePrometheus.Reply(status, body, Map.of("Location", "https://login.example.com/"));
        try (FleetServer server = server(null)) {
            assertProblem(server, 502, prometheus.url() + "/: " + message);
        }
    }

    private void assertProblem(FleetServer server, int status, String message) throws Exception {
        HttpResponse<String> response = get(server, "/api/fleet/usage");
        assertThat(response.statusCode()).isEqualTo(status);
        String error = JsonParser.parseString(response.body())
                .getAsJsonObject()
                .get("error")
                .getAsString();
        assertThat(error).startsWith(message).doesNotContain("\n");
        HttpResponse<String> ready = get(server, "/-/ready");
        assertThat(ready.statusCode()).isEqualTo(503);
        assertThat(ready.body()).startsWith("TaskClock is not ready: " + message);
        assertThat(get(server, "/-/healthy").statusCode()).isEqualTo(200);
        assertThat(json(server, "/api/info")
                        .getAsJsonObject("fleet")
                        .get("problem")
                        .getAsString())
                .startsWith(message);
        for (long end = System.nanoTime() + 30_000_000_000L; log.isEmpty() && System.nanoTime() < end; )
            Thread.sleep(10);
        assertThat(log).hasSize(1).allSatisfy(line -> assertThat(line).startsWith(message));
    }

    @Test
    void shouldSayThatNothingAnswers() throws Exception {
        String url = prometheus.url();
        prometheus.close();
        try (FleetServer server = server(url, null)) {
            assertProblem(server, 502, url + ": cannot be reached: ");
        }
    }

    @Test
    void shouldNotWaitForASlowServer() throws Exception {
        prometheus.delayMillis = 60_000;
        try (FleetServer server = server(null)) {
            long start = System.nanoTime();
            assertThat(get(server, "/-/healthy").statusCode()).isEqualTo(200);
            assertThat(json(server, "/api/info")
                            .getAsJsonObject("fleet")
                            .get("problem")
                            .isJsonNull())
                    .isTrue();
            assertThat(System.nanoTime() - start).isLessThan(9_000_000_000L);
            assertProblem(server, 504, prometheus.url() + "/: no answer within 10 s: choose a shorter range");
        }
    }

    @Test
    void shouldSayThatTheRulesAreMissing() throws Exception {
        try (FleetServer server = server(null)) {
            assertThat(get(server, "/-/ready").body())
                    .contains("load taskclock.rules.yml and taskclock-fleet.rules.yml");
        }
        prometheus.add(TOTAL + ")", Map.of(), 1);
        try (FleetServer server = server(null)) {
            assertThat(get(server, "/-/ready").body()).isEqualTo("TaskClock is ready.\n");
        }
    }

    @Test
    void shouldSendCredentialsThatAreReadEachTime() throws Exception {
        Path token = Files.writeString(directory.resolve("token"), "first\n");
        Path config = Files.writeString(directory.resolve("client.yml"), """
                authorization: {credentials_file: token}
                http_headers: {X-Scope-OrgID: {values: [team-a]}}
                """);
        try (FleetServer server = server(config)) {
            get(server, "/-/ready");
            Files.writeString(token, "second\n");
            get(server, "/api/fleet/findings");
        }
        assertThat(prometheus.headers.get(0).get("Authorization")).containsExactly("Bearer first");
        assertThat(prometheus.headers.get(0).get("X-scope-orgid")).containsExactly("team-a");
        assertThat(prometheus.headers.get(prometheus.headers.size() - 1).get("Authorization"))
                .containsExactly("Bearer second");
    }

    @Test
    void shouldSendAPassword() throws Exception {
        Path config = Files.writeString(
                directory.resolve("client.yml"), "basic_auth: {username: reader, password: secret}\n");
        try (FleetServer server = server(config)) {
            get(server, "/-/ready");
        }
        assertThat(prometheus.headers.get(0).get("Authorization")).containsExactly("Basic cmVhZGVyOnNlY3JldA==");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "authorization: {credentials_file: missing} | authorization.credentials_file: ",
                "authorization: {} | authorization: one of credentials and credentials_file is required",
                "basic_auth: {password: x} | basic_auth.username: is required",
                "proxy_url: x | proxy_url: not supported: supported are ",
                "tls_config: {ca_file: missing} | ca_file: ",
                "tls_config: {cert_file: x} | tls_config: cert_file and key_file are required together",
                "http_headers: {X: {values: [a, b]}} | http_headers.X: must have one value",
            })
    void shouldExplainAConfigurationThatCannotBeUsed(String text, String message) throws Exception {
        Path config = Files.writeString(directory.resolve("client.yml"), text);
        assertThatThrownBy(() -> server(config).close())
                .isInstanceOf(WebException.class)
                .hasMessageStartingWith("--fleet-config " + config)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"prometheus:9090", "http://", "ftp://x", "http://x/?query", "http://u:p@x/"})
    void shouldExplainAnAddressThatCannotBeUsed(String url) {
        assertThatThrownBy(() -> server(url, null).close())
                .isInstanceOf(WebException.class)
                .hasMessageStartingWith("--fleet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"by=thread", "by=jvm", "from=1", "from=1700000000000&to=1600000000000"})
    void shouldRejectRequestsThatMakeNoSense(String query) throws Exception {
        try (FleetServer server = server(null)) {
            assertThat(get(server, "/api/fleet/usage?" + query).statusCode()).isEqualTo(400);
        }
    }
}
