// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.taskclock.testing.TestCertificate;
import org.taskclock.testing.TestJvm;
import org.taskclock.web.http.RequestBudget;
import org.taskclock.web.http.WebException;

/** TLS, with and without certificates of clients. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
final class TlsTest {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";

    @TempDir
    Path directory;

    private TestCertificate certificate;
    private final TestServer.Settings settings = new TestServer.Settings();

    @BeforeEach
    void createCertificate() throws Exception {
        certificate = TestCertificate.create(directory, "server");
        settings.match = "no such program";
    }

    private void configure(String clientAuth, String... lines) throws IOException {
        settings.webConfig =
                Files.writeString(directory.resolve("web.yml"), """
                tls_server_config:
                  cert_file: server.crt
                  key_file: server.key
                  client_auth_type: %s
                %s
                """.formatted(clientAuth, String.join("\n", lines)));
    }

    @Test
    void shouldRequireAClientCertificate() throws Exception {
        configure("RequireAndVerifyClientCert", "  client_ca_file: server.crt");
        // With client certificates, the server may listen on all interfaces without a token.
        settings.listen = "0.0.0.0:0";
        settings.client = certificate.client(certificate);
        settings.allowsActions = true;
        TestCertificate foreign = TestCertificate.create(directory, "foreign");
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(server.url("/")).startsWith("https://");
            URI uri = URI.create("https://127.0.0.1:" + server.port() + "/api/info");
            HttpRequest request = HttpRequest.newBuilder(uri).build();
            assertThat(settings.client.send(request, BodyHandlers.discarding()).statusCode())
                    .isEqualTo(200);
            for (TestCertificate own : new TestCertificate[] {null, foreign}) {
                HttpClient refused = certificate.client(own);
                assertThatThrownBy(() -> refused.send(request, BodyHandlers.discarding()))
                        .isInstanceOf(IOException.class);
            }
            HttpRequest mark = HttpRequest.newBuilder(uri.resolve("/api/marks"))
                    .header("Content-Type", "application/json")
                    .header("X-TaskClock", "1")
                    .POST(HttpRequest.BodyPublishers.ofString("{\"text\":\"deployed\"}"))
                    .build();
            settings.client.send(mark, BodyHandlers.discarding());
            Path log = directory.resolve("audit.log");
            server.await(() -> (Files.exists(log) && Files.size(log) > 0) ? true : null);
            String who = JsonParser.parseString(Files.readString(log))
                    .getAsJsonObject()
                    .get("certificate")
                    .getAsString();
            assertThat(who).isEqualTo("CN=localhost");
        }
    }

    @Test
    void shouldNotListenOnTheNetworkIfClientCertificatesAreOptional() throws Exception {
        settings.listen = "0.0.0.0:0";
        for (String auth : new String[] {"NoClientCert", "VerifyClientCertIfGiven"}) {
            configure(auth, auth.startsWith("No") ? "" : "  client_ca_file: server.crt");
            assertThatThrownBy(() -> TestServer.start(directory, settings))
                    .isInstanceOf(WebException.class)
                    .hasMessageContaining("require client certificates");
        }
    }

    @Test
    void shouldSendTheCookieOverTlsOnly() throws Exception {
        configure("NoClientCert");
        settings.client = certificate.client(null);
        settings.tokenFile = Files.writeString(directory.resolve("token"), TOKEN);
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(server.get("/api/info").statusCode()).isEqualTo(401);
            var login = server.post("/api/login", "{\"token\":\"" + TOKEN + "\"}");
            assertThat(login.statusCode()).isEqualTo(200);
            assertThat(login.headers().firstValue("Set-Cookie").orElseThrow().split("; *"))
                    .contains("Secure", "HttpOnly", "SameSite=Strict", "Path=/");
            // The page of this server, and the same address without TLS, which is another site.
            String origin = server.url("");
            assertThat(server.get("/-/healthy", "Origin", origin).statusCode()).isEqualTo(200);
            assertThat(server.get("/-/healthy", "Origin", origin.replace("https", "http"))
                            .statusCode())
                    .isEqualTo(403);
        }
    }

    private boolean accepts(TestServer server, TestCertificate trusted, TestCertificate own) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + "/-/healthy"))
                .build();
        try {
            return trusted.client(own).send(request, BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void shouldFollowChangedCertificates() throws Exception {
        configure("NoClientCert");
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(accepts(server, certificate, null)).isTrue();
            String oldKey = Files.readString(directory.resolve("server.key"));
            TestCertificate renewed = TestCertificate.create(directory, "server");
            assertThat(accepts(server, renewed, null)).isTrue();
            assertThat(accepts(server, certificate, null)).isFalse();
            // A key of another certificate, and one that is broken, do not take effect.
            for (String key : List.of(oldKey, "broken")) {
                server.log.clear();
                Files.writeString(directory.resolve("server.key"), key);
                assertThat(accepts(server, renewed, null)).isTrue();
                assertThat(accepts(server, renewed, null)).isTrue();
                assertThat(server.log).hasSize(1);
                assertThat(server.log.get(0)).contains("key_file", "the previous settings remain in effect");
            }
        }
    }

    @Test
    void shouldRequireClientCertificatesAsSoonAsTheFileDoes() throws Exception {
        configure("NoClientCert");
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(accepts(server, certificate, null)).isTrue();
            configure("RequireAndVerifyClientCert", "  client_ca_file: server.crt");
            assertThat(accepts(server, certificate, null)).isFalse();
            assertThat(accepts(server, certificate, certificate)).isTrue();
        }
    }

    @Test
    void shouldNotStopToRequireClientCertificatesOnTheNetwork() throws Exception {
        configure("RequireAndVerifyClientCert", "  client_ca_file: server.crt");
        settings.listen = "0.0.0.0:0";
        try (TestServer server = TestServer.start(directory, settings)) {
            assertThat(accepts(server, certificate, certificate)).isTrue();
            configure("NoClientCert");
            assertThat(accepts(server, certificate, null)).isFalse();
            assertThat(accepts(server, certificate, certificate)).isTrue();
            assertThat(server.log).hasSize(1);
            assertThat(server.log.get(0)).contains("is reachable from the network", "previous settings remain");
        }
    }

    /** The JDK rejects old versions by itself, so it must be told to accept them. */
    @Test
    void shouldRejectOldVersionsOfTls() throws Exception {
        configure("NoClientCert");
        Path security = Files.writeString(directory.resolve("security"), "jdk.tls.disabledAlgorithms=\n");
        List<String> options = List.of("-Djava.security.properties=" + security);
        assertThat(TestJvm.run(options, OldVersions.class, directory.toString(), settings.webConfig.toString()))
                .contains(
                        "SSLv3 refused", "TLSv1 refused", "TLSv1.1 refused", "TLSv1.2 connected", "TLSv1.3 connected");
    }

    /**
     * Tries each version of TLS. Arguments: a directory for the history and the certificate, and the web configuration.
     */
    static final class OldVersions {
        public static void main(String[] args) throws Exception {
            Path directory = Path.of(args[0]);
            SSLContext client = TestCertificate.create(directory, "server").clientContext(null);
            TestServer.Settings settings = new TestServer.Settings();
            settings.match = "no such program";
            settings.webConfig = Path.of(args[1]);
            try (TestServer server = TestServer.start(directory, settings)) {
                for (String version : new String[] {"SSLv3", "TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"})
                    System.out.println(
                            version + (connects(client, server.port(), version) ? " connected" : " refused"));
            }
        }

        private static boolean connects(SSLContext client, int port, String version) throws IOException {
            try (SSLSocket socket = (SSLSocket) client.getSocketFactory().createSocket("127.0.0.1", port)) {
                socket.setEnabledProtocols(new String[] {version});
                socket.setEnabledCipherSuites(socket.getSupportedCipherSuites());
                socket.startHandshake();
                return socket.getSession().getProtocol().equals(version);
            } catch (SSLException e) {
                return false;
            }
        }
    }

    @Test
    void shouldKeepStreamsOpen() throws Exception {
        configure("NoClientCert");
        settings.client = certificate.client(null);
        settings.limits = new ServerLimits(RequestBudget.ofHeap(), 1 << 20, 1 << 20, 2_000);
        try (TestServer server = TestServer.start(directory, settings)) {
            HttpRequest request =
                    HttpRequest.newBuilder(URI.create(server.url("/api/live"))).build();
            // Longer than the time in which a request must arrive.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(4);
            try (BufferedReader in = new BufferedReader(new InputStreamReader(
                    settings.client.send(request, BodyHandlers.ofInputStream()).body(), StandardCharsets.UTF_8))) {
                String line = in.readLine();
                while (line != null && System.nanoTime() < end) line = in.readLine();
                assertThat(line).isNotNull();
            }
        }
    }
}
