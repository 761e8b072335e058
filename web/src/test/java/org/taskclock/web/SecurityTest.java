// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.web.http.ListenAddress;
import org.taskclock.web.http.Token;
import org.taskclock.web.http.WebException;

/** Every request that must be rejected, and what each response must say to browsers. */
final class SecurityTest {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";

    /** Matches no JVM, because nothing has to be measured. */
    private static final String NOTHING = "no such program";

    @TempDir
    Path directory;

    private TestServer.Settings settings() {
        TestServer.Settings settings = new TestServer.Settings();
        settings.match = NOTHING;
        settings.allowsActions = true;
        return settings;
    }

    private Path tokenFile(String permissions) throws IOException {
        Path file = Files.writeString(directory.resolve("token"), TOKEN + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
        return file;
    }

    /** Sends text and returns the status line; empty if the connection is closed without a response. */
    private static String exchange(TestServer server, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            InputStream in = socket.getInputStream();
            StringBuilder line = new StringBuilder();
            for (int c; (c = in.read()) >= 0 && c != '\r'; ) line.append((char) c);
            return line.toString();
        }
    }

    /** Sends text and returns the whole response. The request must ask to close the connection. */
    private static String exchangeAll(TestServer server, String request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(60_000);
            socket.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
        }
    }

    private static String get(String path, String host, String... headers) {
        StringBuilder request = new StringBuilder("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n");
        for (String header : headers) request.append(header).append("\r\n");
        return request.append("Connection: close\r\n\r\n").toString();
    }

    /** Jetty closes the connection of a request whose body was not read; clients must know that. */
    @Test
    void shouldTellThatTheConnectionOfARefusedRequestIsClosed() throws Exception {
        try (TestServer server = TestServer.start(directory, settings())) {
            HttpResponse<String> refused = server.post("/api/marks", "{}", "Origin", "null");
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.headers().firstValue("Connection")).contains("close");
            HttpResponse<String> withoutBody = server.get("/api/jvms", "Origin", "null");
            assertThat(withoutBody.statusCode()).isEqualTo(403);
            assertThat(withoutBody.headers().firstValue("Connection")).isEmpty();
        }
    }

    @Test
    void shouldRejectRequestsOfOtherSites() throws Exception {
        try (TestServer server = TestServer.start(directory, settings())) {
            String body = "{\"text\":\"deployed\"}";
            server.await(() -> server.post("/api/marks", body).statusCode() == 201 ? true : null);
            assertThat(server.post("/api/marks", body, "Origin", "http://evil.example")
                            .statusCode())
                    .isEqualTo(403);
            assertThat(server.post("/api/marks", body, "Origin", "null").statusCode())
                    .isEqualTo(403);
            assertThat(server.post("/api/marks", body, "Origin", "http://127.0.0.1:1")
                            .statusCode())
                    .isEqualTo(403);
            assertThat(server.post("/api/marks", body, "Origin", server.url("")).statusCode())
                    .isEqualTo(201);
            String port = ":" + server.port();
            for (String foreign : List.of(
                    "http://evil.example",
                    "null",
                    "",
                    "https://127.0.0.1" + port,
                    "http://localhost" + port,
                    "http://127.0.0.1",
                    "http://127.0.0.1" + port + ".evil.example",
                    "http://127.0.0.1" + port + "@evil.example",
                    "http://evil@127.0.0.1" + port,
                    "127.0.0.1" + port,
                    "file://",
                    "http://[")) {
                assertThat(server.get("/api/jvms", "Origin", foreign).statusCode())
                        .as(foreign)
                        .isEqualTo(403);
                assertThat(server.get("/-/healthy", "Origin", foreign).statusCode())
                        .as(foreign)
                        .isEqualTo(403);
            }
            String post = "POST /api/marks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n";
            assertThat(exchange(server, post + "Content-Type: application/json\r\n\r\n{}"))
                    .contains("403");
            assertThat(exchange(server, post + "X-TaskClock: 1\r\nContent-Type: text/plain\r\n\r\n{}"))
                    .contains("415");
            assertThat(exchange(server, post.replace("POST", "DELETE") + "\r\n{}"))
                    .contains("405");
        }
    }

    @Test
    void shouldRejectNamesThatMayPointToThisHost() throws Exception {
        TestServer.Settings settings = settings();
        settings.allowedHosts = List.of("watch.example");
        try (TestServer server = TestServer.start(directory, settings)) {
            for (String allowed : List.of("localhost", "127.0.0.1:10077", "[::1]:10077", "LOCALHOST", "watch.example"))
                assertThat(exchange(server, get("/api/info", allowed)))
                        .as(allowed)
                        .contains("200");
            for (String foreign : List.of(
                    "evil.example",
                    "localhost.evil.example",
                    "evil-localhost",
                    "localhost.",
                    "127.0.0.1.evil.example",
                    "127.1",
                    "0x7f000001",
                    "2130706433",
                    "watch.example.evil.example",
                    "www.watch.example",
                    "watch-example"))
                assertThat(exchange(server, get("/api/info", foreign)))
                        .as(foreign)
                        .contains("403");
            for (String malformed : List.of("", "localhost@evil.example", "evil.example/localhost", "[::1", "a b"))
                assertThat(exchange(server, get("/api/info", malformed)))
                        .as(malformed)
                        .matches("HTTP/1.1 (400|403) .*");
            assertThat(exchange(server, "GET /api/info HTTP/1.1\r\nConnection: close\r\n\r\n"))
                    .contains("400");
            assertThat(exchange(server, get("/api/info", "localhost", "Host: evil.example")))
                    .contains("400");
            // The name in an absolute URI counts, not that of the header.
            assertThat(exchange(server, get("http://evil.example/api/info", "localhost")))
                    .doesNotContain("200");
        }
    }

    @Test
    void shouldSendSecurityHeaders() throws Exception {
        try (TestServer server = TestServer.start(directory, settings())) {
            for (String path : List.of("/api/info", "/", "/metrics", "/none", "/-/healthy")) {
                HttpResponse<String> response = server.get(path);
                assertThat(response.headers().firstValue("Content-Security-Policy"))
                        .as(path)
                        .hasValueSatisfying(policy -> assertThat(policy)
                                .contains("default-src 'none'", "frame-ancestors 'none'", "script-src 'self'")
                                .doesNotContain("unsafe"));
                assertThat(response.headers().firstValue("X-Content-Type-Options"))
                        .hasValue("nosniff");
                assertThat(response.headers().firstValue("Referrer-Policy")).hasValue("no-referrer");
                assertThat(response.headers().firstValue("Server")).isEmpty();
                assertThat(response.headers().firstValue("Access-Control-Allow-Origin"))
                        .isEmpty();
            }
            assertThat(server.get("/api/info").headers().firstValue("Cache-Control"))
                    .hasValue("no-store");
        }
    }

    /** The scripts of a flame graph contain names of methods. */
    @Test
    void shouldAllowAFlameGraphNothingButItsScripts() throws Exception {
        String hostile = "</script><script>alert(1)</script>;'+alert(2)+';\\u2028;<!--<script>;a\\\\';b 7\n";
        try (TestServer server = TestServer.start(directory, settings())) {
            HttpResponse<String> opened = OpenedRecordingsTest.upload(server, hostile.getBytes(StandardCharsets.UTF_8));
            assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
            HttpResponse<String> graph = server.get("/api/profiles/p1/flame");
            assertThat(graph.statusCode()).isEqualTo(200);
            assertThat(graph.headers().firstValue("X-Frame-Options")).hasValue("SAMEORIGIN");
            String policy =
                    graph.headers().firstValue("Content-Security-Policy").orElseThrow();
            assertThat(policy)
                    .contains("default-src 'none'", "frame-ancestors 'self'", "sandbox allow-scripts;")
                    .doesNotContain("script-src 'self'", "'unsafe-eval'", "script-src 'unsafe-inline'", "connect-src");
            Matcher script =
                    Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL).matcher(graph.body());
            int scripts = 0;
            while (script.find()) {
                scripts++;
                byte[] hash = MessageDigest.getInstance("SHA-256")
                        .digest(script.group(1).getBytes(StandardCharsets.UTF_8));
                assertThat(policy).contains("'sha256-" + Base64.getEncoder().encodeToString(hash) + "'");
            }
            assertThat(scripts).isEqualTo(3);
            assertThat(server.get("/api/info").headers().firstValue("Content-Security-Policy"))
                    .hasValueSatisfying(other -> assertThat(other).contains("frame-src 'self'"));
        }
    }

    @Test
    void shouldServeNothingOutsideOfThePage() throws Exception {
        Files.writeString(directory.resolve("secret.gz"), "a secret");
        Files.createDirectories(directory.resolve("recordings"));
        try (TestServer server = TestServer.start(directory, settings())) {
            for (String path : List.of(
                    "/web/../TaskClockServer.class",
                    "/web/%2e%2e/TaskClockServer.class",
                    "/web/..%2fopenapi.json",
                    "/web/..;/openapi.json",
                    "/web/%2e%2e%2f%2e%2e%2f/etc/passwd",
                    "/web//etc/passwd",
                    "/web/",
                    "/web/none.js",
                    "/index.html",
                    "/api/recordings/../../history.duckdb",
                    "/api/recordings/..%2fhistory.duckdb",
                    "/api/recordings/none.gz",
                    "/api/profiles/../secret.gz/flame",
                    "/api/profiles/..%2fsecret.gz/collapsed",
                    "/api/profiles/secret.gz/threads",
                    "/api/recordings/../secret.gz",
                    "/api/recordings/..%2fsecret.gz",
                    "/api/recordings/%2e%2e/secret.gz",
                    "/api/recordings/%2e%2e%2fsecret.gz",
                    "/api/recordings/%252e%252e%252fsecret.gz",
                    "/api/recordings/..%5csecret.gz",
                    "/api/recordings/..;/secret.gz",
                    "/api/recordings/./../secret.gz",
                    "/api/recordings/..%00secret.gz",
                    "/api/recordings//secret.gz",
                    "/web/" + directory + "/secret.gz",
                    "/web/%2e%2e" + directory + "/secret.gz",
                    "/web/.%2e/.%2e/openapi.json",
                    "/web/..%5c..%5copenapi.json",
                    "/web/%c0%ae%c0%ae/openapi.json",
                    "/web/%00",
                    "/WEB/main.js",
                    "//web/../openapi.json",
                    "web/main.js",
                    "/org/taskclock/web/openapi.json"))
                assertThat(exchangeAll(server, get(path, "localhost")))
                        .as(path)
                        .matches("(?s)HTTP/1.1 (400|403|404) .*")
                        .doesNotContain("a secret", "openapi\": ");
            assertThat(exchange(server, get("/web/none/../main.js", "localhost")))
                    .contains("200");
            assertThat(server.get("/web/main.js").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldShowNothingWithoutTheToken() throws Exception {
        TestServer.Settings settings = settings();
        settings.tokenFile = tokenFile("rw-------");
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(server.log).isEmpty();
            String wrong = "Bearer " + TOKEN.replace('0', '1');
            for (String route : server.routes()) {
                String method = route.substring(0, route.indexOf(' '));
                String path = route.substring(route.indexOf(' ') + 1).replaceAll("\\{[a-z]+\\}", "1");
                if (path.equals("/-/healthy") || path.equals("/api/login")) continue;
                for (String header : List.of("", wrong))
                    assertThat(status(server, method, path, header)).as(route).isEqualTo(401);
                // The request is rejected for another reason with the token only.
                if (!path.endsWith("live"))
                    assertThat(status(server, method, path, "Bearer " + TOKEN))
                            .as(route)
                            .isNotEqualTo(401);
            }
            assertThat(server.get("/none").statusCode()).isEqualTo(401);
            assertThat(server.post("/api/marks", "{\"text\":\"x\"}").statusCode())
                    .isEqualTo(401);
            for (String path : List.of("/-/healthy", "/", "/web/main.js"))
                assertThat(server.get(path).statusCode()).as(path).isEqualTo(200);
            assertThat(server.get("/metrics", "Authorization", "Bearer " + TOKEN)
                            .statusCode())
                    .isEqualTo(200);

            assertThat(server.post("/api/login", "{\"token\":\"wrong\"}").statusCode())
                    .isEqualTo(401);
            HttpResponse<String> login = server.post("/api/login", "{\"token\":\"" + TOKEN + "\"}");
            assertThat(login.statusCode()).isEqualTo(200);
            String cookie = login.headers().firstValue("Set-Cookie").orElseThrow();
            assertThat(cookie).contains("HttpOnly", "SameSite=Strict", "Path=/").doesNotContain(TOKEN);
            assertThat(server.get("/api/info", "Cookie", cookie.split(";", 2)[0])
                            .statusCode())
                    .isEqualTo(200);
            assertThat(server.get("/api/info", "Cookie", "taskclock=" + TOKEN).statusCode())
                    .isEqualTo(401);
        }
    }

    private static int status(TestServer server, String method, String path, String authorization) throws Exception {
        String[] headers = authorization.isEmpty() ? new String[0] : new String[] {"Authorization", authorization};
        return (method.equals("GET") ? server.get(path, headers) : server.post(path, "{}", headers)).statusCode();
    }

    @Test
    void shouldAcceptNothingButTheToken() throws Exception {
        TestServer.Settings settings = settings();
        settings.tokenFile = tokenFile("rw-------");
        try (TestServer server = TestServer.start(directory, settings)) {
            String cookie = server.post("/api/login", "{\"token\":\"" + TOKEN + "\"}")
                    .headers()
                    .firstValue("Set-Cookie")
                    .orElseThrow()
                    .split(";", 2)[0]
                    .substring("taskclock=".length());
            assertThat(server.get("/api/info", "Authorization", "bearer  " + TOKEN)
                            .statusCode())
                    .isEqualTo(200);
            for (String valid : List.of(TOKEN, cookie)) {
                List<String> candidates = List.of(
                        "",
                        valid.substring(0, 1),
                        valid.substring(0, 16),
                        valid.substring(0, valid.length() - 1),
                        valid.substring(1),
                        valid + "0",
                        valid + valid,
                        valid.substring(0, valid.length() - 1) + "\u00e9",
                        valid.toUpperCase(java.util.Locale.ROOT));
                for (String candidate : candidates) {
                    assertThat(server.get("/api/info", "Authorization", "Bearer " + candidate)
                                    .statusCode())
                            .as(candidate)
                            .isEqualTo(401);
                    assertThat(server.get("/api/info", "Cookie", "taskclock=" + candidate)
                                    .statusCode())
                            .as(candidate)
                            .isEqualTo(401);
                    assertThat(server.post("/api/login", "{\"token\":\"" + candidate + "\"}")
                                    .statusCode())
                            .as(candidate)
                            .isEqualTo(401);
                }
            }
            // Each is valid in its own place only.
            for (String[] header : new String[][] {
                {"Authorization", "Bearer " + cookie},
                {"Authorization", TOKEN},
                {"Authorization", "Basic " + TOKEN},
                {"Cookie", "taskclock=" + TOKEN},
                {"Cookie", "other=" + cookie}
            })
                assertThat(server.get("/api/info", header).statusCode())
                        .as(header[1])
                        .isEqualTo(401);
            for (String body : List.of("{}", "{\"token\":null}", "{\"token\":[\"" + TOKEN + "\"]}"))
                assertThat(server.post("/api/login", body).statusCode())
                        .as(body)
                        .isEqualTo(401);
        }
    }

    @Test
    void shouldCompareTokensInConstantTime() throws IOException {
        // The time cannot be measured reliably. MessageDigest.isEqual is specified to be constant.
        try (InputStream in = Token.class.getResourceAsStream("Token.class")) {
            String constants = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            assertThat(constants)
                    .contains("java/security/MessageDigest", "isEqual")
                    .doesNotContain("java/util/Arrays", "compareTo", "\u0006equals");
        }
    }

    @Test
    void shouldWarnIfOthersCanReadTheToken() throws Exception {
        TestServer.Settings settings = settings();
        settings.tokenFile = tokenFile("rw-r--r--");
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(server.log).anyMatch(line -> line.contains("chmod 600"));
        }
    }

    @Test
    void shouldNotListenOnTheNetworkWithoutProtection() throws Exception {
        for (String address : List.of("0.0.0.0:0", ":0", "[::]:0")) {
            TestServer.Settings settings = settings();
            settings.listen = address;
            assertThatThrownBy(() -> TestServer.start(directory, settings))
                    .isInstanceOf(WebException.class)
                    .hasMessageContaining("--token-file");
        }
        TestServer.Settings settings = settings();
        Files.writeString(directory.resolve("short"), "1234");
        settings.tokenFile = directory.resolve("short");
        assertThatThrownBy(() -> TestServer.start(directory, settings)).hasMessageContaining("16 characters");
        settings.tokenFile = directory.resolve("none");
        assertThatThrownBy(() -> TestServer.start(directory, settings)).hasMessageContaining("no such file");
        for (String address : List.of("10077", "localhost:x", "localhost:70000", "no.such.host.invalid:1")) {
            settings.listen = address;
            assertThatThrownBy(() -> ListenAddress.parse("--listen", address)).isInstanceOf(WebException.class);
        }
    }

    @Test
    void shouldLimitBodies() throws Exception {
        try (TestServer server = TestServer.start(directory, settings())) {
            int limit = 64 << 10;
            assertThat(server.post("/api/marks", " ".repeat(limit)).statusCode())
                    .isNotEqualTo(413);
            assertThat(server.post("/api/marks", " ".repeat(limit + 1)).statusCode())
                    .isEqualTo(413);
            String chunked = String.join(
                    "\r\n",
                    "POST /api/marks HTTP/1.1",
                    "Host: localhost",
                    "X-TaskClock: 1",
                    "Content-Type: application/json",
                    "Transfer-Encoding: chunked",
                    "Connection: close",
                    "",
                    "");
            for (int size : new int[] {limit, limit + 1})
                assertThat(exchange(
                                server,
                                chunked + Integer.toHexString(size) + "\r\n" + " ".repeat(size) + "\r\n0\r\n\r\n"))
                        .contains(size > limit ? "413" : "400");
            String upload = String.join(
                    "\r\n",
                    "POST /api/opened HTTP/1.1",
                    "Host: localhost",
                    "X-TaskClock: 1",
                    "Content-Type: application/octet-stream",
                    "Content-Length: 300000000",
                    "",
                    "");
            assertThat(exchange(server, upload)).contains("413");
            assertThat(server.post("/api/marks", "[]").statusCode()).isEqualTo(400);
            assertThat(server.post("/api/marks", "{\"text\":{}}").statusCode()).isEqualTo(400);
        }
    }

    @Test
    void shouldRejectMalformedParameters() throws Exception {
        try (TestServer server = TestServer.start(directory, settings())) {
            for (String query : List.of(
                    "/api/jvms/a/pools?from=0&to=9223372036854775807",
                    "/api/jvms/a/pools?from=-1&to=5",
                    "/api/jvms/a/threads?from=0&to=9223371536854",
                    "/api/marks?from=9223372036854775807",
                    "/api/jvms?from=99999999999999999999")) {
                assertThat(server.get(query).statusCode()).as(query).isEqualTo(400);
            }
            String malformed = "GET /api/jvms/a/pools?by%/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            assertThat(exchange(server, malformed)).startsWith("HTTP/1.1 400");
            String mark = "{\"text\": \"a\", \"time\": 9223372036854775807}";
            assertThat(server.post("/api/marks", mark).statusCode()).isEqualTo(400);
            assertThat(server.log).noneMatch(line -> line.contains("internal error"));
        }
    }
}
