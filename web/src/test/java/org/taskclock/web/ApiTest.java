// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.ParseOptions;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.HistoryOptions;
import org.taskclock.testing.LoadJvm;

/** The description of the API, and whether the server does what it says. */
final class ApiTest {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    @TempDir
    Path directory;

    private final Set<String> requested = new TreeSet<>();
    private JsonNode description;
    private TestServer server;

    /** Requests a path, checks the response against its schema, and returns it. */
    private String check(String method, String template, int status, String path, String body) throws Exception {
        requested.add(method + " " + template);
        HttpResponse<String> response = method.equals("GET") ? server.get(path) : server.post(path, body);
        assertThat(response.statusCode()).as("%s: %s", path, response.body()).isEqualTo(status);
        JsonNode documented = description
                .at("/paths")
                .path(template)
                .path(method.toLowerCase(java.util.Locale.ROOT))
                .path("responses")
                .path(Integer.toString(status));
        assertThat(documented.isMissingNode())
                .as("%s %s %s", method, template, status)
                .isFalse();
        String type =
                response.headers().firstValue("Content-Type").orElseThrow().split(";", 2)[0];
        JsonNode schema = documented.path("content").path(type).path("schema");
        if (type.equals("application/json") && !schema.isMissingNode())
            assertThat(schema(schema).validate(MAPPER.readTree(response.body())))
                    .as("%s: %s", path, response.body())
                    .isEmpty();
        return response.body();
    }

    /** Returns a schema of the description, which may refer to others. */
    private JsonSchema schema(JsonNode schema) {
        var root = MAPPER.createObjectNode();
        root.set("components", description.get("components"));
        schema.properties().forEach(field -> root.set(field.getKey(), field.getValue()));
        return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(root);
    }

    @Test
    void shouldBeValidOpenApi() {
        ParseOptions options = new ParseOptions();
        options.setResolve(true);
        SwaggerParseResult result = new OpenAPIV3Parser()
                .readContents(new String(ApiDescription.json(), StandardCharsets.UTF_8), null, options);
        assertThat(result.getMessages()).isEmpty();
        assertThat(result.getOpenAPI().getPaths()).hasSizeGreaterThan(20);
    }

    @Test
    void shouldAnswerAsDescribed() throws Exception {
        description = MAPPER.readTree(ApiDescription.json());
        TestServer.Settings settings = new TestServer.Settings();
        settings.allowsActions = true;
        try (LoadJvm load = LoadJvm.start("busy", "yield");
                TestServer started = TestServer.start(directory, settings)) {
            server = started;
            String id = server.awaitJvm(load.pid()).get("id").getAsString();
            String jvm = "/api/jvms/" + id;
            server.await(() -> server.json("/api/info")
                            .getAsJsonObject()
                            .getAsJsonObject("history")
                            .get("problem")
                            .isJsonNull()
                    ? true
                    : null);
            check("GET", "/api/info", 200, "/api/info", null);
            check("GET", "/api/openapi.json", 200, "/api/openapi.json", null);
            check("GET", "/api/", 200, "/api/", null);
            check("GET", "/-/healthy", 200, "/-/healthy", null);
            check("GET", "/-/ready", 200, "/-/ready", null);
            server.await(() ->
                    check("GET", "/metrics", 200, "/metrics", null).contains("taskclock_thread_cpu_time_seconds_total")
                            ? true
                            : null);
            check("POST", "/api/login", 400, "/api/login", "{\"token\":\"x\"}");
            check("GET", "/api/login", 200, "/api/login", null);
            check("GET", "/api/login/start", 404, "/api/login/start", null);
            check("GET", "/api/login/callback", 404, "/api/login/callback", null);
            check("POST", "/api/logout", 404, "/api/logout", "{}");
            check("GET", "/api/jvms", 200, "/api/jvms", null);
            check("GET", "/api/jvms", 400, "/api/jvms?from=x", null);
            check("POST", "/api/marks", 201, "/api/marks", "{\"text\":\"deployed\",\"kind\":\"deployment\"}");
            server.await(() -> server.json("/api/marks").toString().contains("deployed") ? true : null);
            check("GET", "/api/marks", 200, "/api/marks", null);

            checkActions(load, jvm);
            server.await(() -> server.json(jvm + "/pools").toString().contains("busy") ? true : null);
            check("GET", "/api/jvms/{id}/pools", 200, jvm + "/pools?points=100", null);
            check("GET", "/api/jvms/{id}/threads", 200, jvm + "/threads?limit=3", null);
            check("GET", "/api/jvms/{id}/pools", 400, jvm + "/pools?points=0", null);
            long now = System.currentTimeMillis();
            String ranges = "?from1=" + (now - 60_000) + "&to1=" + now + "&from2=" + (now - 60_000) + "&to2=" + now;
            check("GET", "/api/jvms/{id}/compare", 200, jvm + "/compare" + ranges, null);
            check("GET", "/api/jvms/{id}/compare", 400, jvm + "/compare", null);
            check("GET", "/api/jvms/{id}/methods", 404, jvm + "/methods", null);
            check("GET", "/api/jvms/{id}/methods", 400, jvm + "/methods?limit=0", null);
            check("GET", "/api/jvms/{id}/flame", 404, jvm + "/flame?pool=x", null);
            requested.add("GET /api/jvms/{id}/export");
            assertThat(server.get(jvm + "/export?format=csv&by=thread").body()).contains("a busy thread");
            assertThat(server.get(jvm + "/export?format=parquet").body()).startsWith("PAR1");
            check("GET", "/api/jvms/{id}/export", 400, jvm + "/export?format=xls", null);

            checkStream("jvms", "Jvms", "/api/live");
            requested.add("GET /api/live");
            checkStream("jvms", "Jvms", "/api/events?of=jvms");
            check("GET", "/api/events", 400, "/api/events", null);
            requested.add("GET /api/events");
            checkStream("interval", "Interval", jvm + "/live?java=true");
            requested.add("GET /api/jvms/{id}/live");
            checkRecordings(jvm);
            checkProfiles(jvm);
            Set<String> documented = new TreeSet<>();
            description.get("paths").properties().forEach(path -> path.getValue()
                    .fieldNames()
                    .forEachRemaining(
                            method -> documented.add(method.toUpperCase(java.util.Locale.ROOT) + " " + path.getKey())));
            assertThat(requested).isEqualTo(documented);
            assertThat(started.routes()).containsExactlyInAnyOrderElementsOf(documented);
        }
    }

    private void checkStream(String event, String schema, String path) throws Exception {
        try (EventReader events = new EventReader(server.url(path))) {
            EventReader.Event first = events.next();
            assertThat(first.name()).isEqualTo(event);
            JsonNode reference = MAPPER.createObjectNode().put("$ref", "#/components/schemas/" + schema);
            assertThat(schema(reference).validate(MAPPER.readTree(first.data().toString())))
                    .isEmpty();
        }
    }

    private void checkActions(LoadJvm load, String jvm) throws Exception {
        String yields = check("POST", "/api/jvms/{id}/yields", 200, jvm + "/yields", "{\"seconds\":3}");
        assertThat(yields).contains("LoadProgram.yieldForever");
        JsonObject[] thread = new JsonObject[1];
        try (EventReader live = new EventReader(server.url(jvm + "/live"))) {
            for (var row : live.next().data().getAsJsonArray("threads"))
                if (row.getAsJsonObject().get("name").getAsString().equals("yielder"))
                    thread[0] = row.getAsJsonObject();
        }
        String stack = jvm + "/threads/" + thread[0].get("tid") + "/stack";
        assertThat(check("POST", "/api/jvms/{id}/threads/{tid}/stack", 200, stack, "{}"))
                .contains("LoadProgram.yieldForever");
        assertThat(check("POST", "/api/jvms/{id}/attach", 200, jvm + "/attach", "{}"))
                .contains("true");
        assertThat(server.jvm(load.pid()).get("agent").getAsBoolean()).isTrue();
        assertThat(check("POST", "/api/jvms/{id}/detach", 200, jvm + "/detach", "{}"))
                .contains("false");
        assertThat(server.jvm(load.pid()).get("agent").getAsBoolean()).isFalse();
        check("POST", "/api/jvms/{id}/detach", 404, jvm + "/detach", "{}");
        check("POST", "/api/jvms/{id}/yields", 404, "/api/jvms/none/yields", "{}");
    }

    private void checkRecordings(String jvm) throws Exception {
        String name = JsonParser.parseString(
                        check("POST", "/api/jvms/{id}/recordings", 202, jvm + "/recordings", "{\"seconds\":2}"))
                .getAsJsonObject()
                .get("name")
                .getAsString();
        server.await(() -> server.json("/api/recordings").toString().contains("\"running\":false") ? true : null);
        check("GET", "/api/recordings", 200, "/api/recordings", null);
        requested.add("GET /api/recordings/{name}");
        HttpClient client = HttpClient.newHttpClient();
        byte[] file = client.send(
                        HttpRequest.newBuilder(URI.create(server.url("/api/recordings/" + name)))
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray())
                .body();
        HttpRequest.Builder upload = HttpRequest.newBuilder(URI.create(server.url("/api/opened?name=mine")))
                .header("X-TaskClock", "1")
                .header("Content-Type", "application/octet-stream");
        requested.add("POST /api/opened");
        HttpResponse<String> refused = client.send(
                upload.copy()
                        .POST(HttpRequest.BodyPublishers.ofString("nothing"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(refused.statusCode()).isEqualTo(400);
        HttpResponse<String> opened = client.send(
                upload.POST(HttpRequest.BodyPublishers.ofByteArray(file)).build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
        String id = JsonParser.parseString(opened.body())
                .getAsJsonObject()
                .get("id")
                .getAsString();
        check("GET", "/api/opened", 200, "/api/opened", null);
        String path = "/api/jvms/" + id;
        assertThat(check("GET", "/api/jvms/{id}/pools", 200, path + "/pools", null))
                .contains("yielder");
        assertThat(check("GET", "/api/jvms/{id}/threads", 200, path + "/threads", null))
                .contains("yielder");
        JsonObject recording = JsonParser.parseString(opened.body()).getAsJsonObject();
        long last = endOfInterval(path, "");
        assertThat(last).isEqualTo(recording.get("to").getAsLong());
        assertThat(endOfInterval(path, "?at=" + last)).isEqualTo(last);
        long first = endOfInterval(path, "?at=" + recording.get("from").getAsLong());
        assertThat(first).isLessThan(last).isGreaterThan(recording.get("from").getAsLong());
        assertThat(endOfInterval(path, "?at=" + (first + 1))).isEqualTo(last);
        check("GET", "/api/jvms/{id}/intervals", 400, path + "/intervals?at=x", null);
        check("GET", "/api/jvms/{id}/intervals", 404, "/api/jvms/r99/intervals", null);
        assertThat(server.get(path + "/export?by=thread").body()).contains("yielder");
        checkBundle(jvm);
        try (RandomAccessFile large =
                new RandomAccessFile(directory.resolve("recordings/large.gz").toFile(), "rw")) {
            large.setLength(HistoryOptions.DEFAULT.maxBytes() / 2);
        }
        assertThat(check("POST", "/api/jvms/{id}/recordings", 507, jvm + "/recordings", "{}"))
                .contains("half of --max-size");
    }

    private void checkProfiles(String jvm) throws Exception {
        String pool = check("POST", "/api/jvms/{id}/profiles", 201, jvm + "/profiles", "{\"seconds\":2}");
        assertThat(pool).contains("LoadProgram", "\"all threads\"");
        String body = "{\"seconds\":2,\"pool\":\"a busy thread\"}";
        String busy = check("POST", "/api/jvms/{id}/profiles", 201, jvm + "/profiles", body);
        JsonObject profile = JsonParser.parseString(busy).getAsJsonObject();
        assertThat(profile.get("cpu").getAsDouble()).isPositive();
        assertThat(profile.get("samples").getAsLong()).isPositive();
        check("POST", "/api/jvms/{id}/profiles", 400, jvm + "/profiles", "{\"seconds\":11}");
        check("POST", "/api/jvms/{id}/profiles", 404, "/api/jvms/none/profiles", "{}");
        assertThat(check("GET", "/api/profiles", 200, "/api/profiles", null)).contains("\"p1\"", "\"p2\"");
        String id = "/api/profiles/" + profile.get("id").getAsString();
        assertThat(check("GET", "/api/profiles/{id}", 200, id, null)).isEqualTo(busy);
        check("GET", "/api/profiles/{id}", 404, "/api/profiles/p99", null);
        assertThat(check("GET", "/api/profiles/{id}/collapsed", 200, id + "/collapsed", null))
                .contains("LoadProgram.");
        assertThat(check("GET", "/api/profiles/{id}/flame", 200, id + "/flame", null))
                .contains("LoadProgram");
        check("GET", "/api/profiles/{id}/flame", 200, id + "/flame?base=p1", null);
        assertThat(check("GET", "/api/profiles/{id}/compare", 200, id + "/compare?base=p1", null))
                .contains("LoadProgram.");
        check("GET", "/api/profiles/{id}/compare", 400, id + "/compare", null);
        check("GET", "/api/profiles/{id}/threads", 404, id + "/threads", null);
        List<CompletableFuture<Integer>> concurrent = Stream.of(1, 2)
                .map(i -> CompletableFuture.supplyAsync(() -> statusOf(jvm + "/profiles")))
                .toList();
        assertThat(concurrent)
                .as("one at a time of a JVM")
                .extracting(CompletableFuture::join)
                .containsExactlyInAnyOrder(201, 503);
        assertThat(Files.readString(directory.resolve("audit.log")))
                .contains("\"action\":\"profiles\",\"status\":201", "\"action\":\"bundles\"");
    }

    private int statusOf(String path) {
        try {
            return server.post(path, "{\"seconds\":5}").statusCode();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void checkBundle(String jvm) throws Exception {
        String name = JsonParser.parseString(
                        check("POST", "/api/jvms/{id}/bundles", 202, jvm + "/bundles", "{\"redact\":true}"))
                .getAsJsonObject()
                .get("name")
                .getAsString();
        assertThat(server.await(() -> {
                    HttpResponse<String> file = server.get("/api/recordings/" + name);
                    return file.statusCode() == 200 ? file.body() : null;
                }))
                .isEqualTo("redacted");
    }

    private long endOfInterval(String path, String query) throws Exception {
        String interval = check("GET", "/api/jvms/{id}/intervals", 200, path + "/intervals" + query, null);
        assertThat(interval).contains("yielder");
        return JsonParser.parseString(interval).getAsJsonObject().get("end").getAsLong();
    }

    @Test
    void shouldRefuseActionsUnlessAllowed() throws Exception {
        description = MAPPER.readTree(ApiDescription.json());
        try (LoadJvm load = LoadJvm.start("busy");
                TestServer started = TestServer.start(directory, new TestServer.Settings())) {
            server = started;
            String jvm = "/api/jvms/" + server.awaitJvm(load.pid()).get("id").getAsString();
            for (String action : new String[] {"yields", "attach", "detach", "recordings", "bundles", "profiles"})
                assertThat(check("POST", "/api/jvms/{id}/" + action, 403, jvm + "/" + action, "{}"))
                        .contains("--allow-actions");
            check("POST", "/api/jvms/{id}/threads/{tid}/stack", 403, jvm + "/threads/1/stack", "{}");
        }
    }
}
