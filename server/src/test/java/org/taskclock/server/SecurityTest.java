// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    private static String get(String path, String host, String... headers) {
        StringBuilder request = new StringBuilder("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n");
        for (String header : headers) request.append(header).append("\r\n");
        return request.append("Connection: close\r\n\r\n").toString();
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
            assertThat(server.get("/api/jvms", "Origin", "http://evil.example").statusCode())
                    .isEqualTo(403);
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
            for (String allowed : List.of("localhost", "127.0.0.1:9464", "[::1]:9464", "LOCALHOST", "watch.example"))
                assertThat(exchange(server, get("/api/info", allowed)))
                        .as(allowed)
                        .contains("200");
            for (String foreign : List.of("evil.example", "localhost.evil.example", "127.0.0.1.evil.example"))
                assertThat(exchange(server, get("/api/info", foreign)))
                        .as(foreign)
                        .contains("403");
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

    @Test
    void shouldServeNothingOutsideOfThePage() throws Exception {
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
                    "/org/taskclock/server/openapi.json"))
                assertThat(exchange(server, get(path, "localhost"))).as(path).matches("HTTP/1.1 (400|403|404) .*");
            assertThat(server.get("/web/main.js").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldShowNothingWithoutTheToken() throws Exception {
        TestServer.Settings settings = settings();
        settings.tokenFile = tokenFile("rw-------");
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(server.log).isEmpty();
            for (String path : List.of(
                    "/api/info",
                    "/api/jvms",
                    "/api/live",
                    "/api/openapi.json",
                    "/api/",
                    "/metrics",
                    "/-/ready",
                    "/none")) {
                assertThat(server.get(path).statusCode()).as(path).isEqualTo(401);
                assertThat(server.get(path, "Authorization", "Bearer " + TOKEN.replace('0', '1'))
                                .statusCode())
                        .isEqualTo(401);
            }
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
                    .isInstanceOf(ServerException.class)
                    .hasMessageContaining("--token-file");
        }
        TestServer.Settings settings = settings();
        Files.writeString(directory.resolve("short"), "1234");
        settings.tokenFile = directory.resolve("short");
        assertThatThrownBy(() -> TestServer.start(directory, settings)).hasMessageContaining("16 characters");
        settings.tokenFile = directory.resolve("none");
        assertThatThrownBy(() -> TestServer.start(directory, settings)).hasMessageContaining("no such file");
        for (String address : List.of("9464", "localhost:x", "localhost:70000", "no.such.host.invalid:1")) {
            settings.listen = address;
            assertThatThrownBy(() -> WebServer.parse(address)).isInstanceOf(ServerException.class);
        }
    }

    @Test
    void shouldLimitBodies() throws Exception {
        try (TestServer server = TestServer.start(directory, settings())) {
            assertThat(server.post("/api/marks", " ".repeat(100_000)).statusCode())
                    .isEqualTo(413);
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
    void shouldCloseConnectionsThatSendTheirHeaderSlowly() throws Exception {
        try (TestServer server = TestServer.start(directory, settings());
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(100);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            boolean isClosed = false;
            socket.getOutputStream()
                    .write("GET /api/info HTTP/1.1\r\nHost: localhost\r\nX-Slow: ".getBytes(StandardCharsets.US_ASCII));
            while (!isClosed && System.nanoTime() < end) {
                try {
                    socket.getOutputStream().write('x');
                    isClosed = socket.getInputStream().read() < 0;
                } catch (SocketTimeoutException e) {
                    isClosed = false;
                } catch (IOException e) {
                    isClosed = true;
                }
            }
            assertThat(isClosed).isTrue();
            assertThat(server.get("/api/info").statusCode()).isEqualTo(200);
        }
    }
}
