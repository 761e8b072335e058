// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.TestCertificate;

/** TLS and passwords of {@code taskclock exporter}. */
@Tag("slow17")
class ExporterSecurityTest {
    /** Of "secret". */
    private static final String HASH = "$2y$05$tbx9aVy1VCvwQkb2xb8hQeI9zhYXg7I7TA1kA1eslK3HgIyT7TX8K";

    /** Of "other". */
    private static final String OTHER_HASH = "$2y$05$IU1Fcyjffvgsq44gUZWnq.nVOrPqYk2KDHDiiPJApO8a34mYLfldW";

    private static final List<String> PATHS = List.of("/", "/metrics", "/-/healthy", "/-/ready", "/none");

    @TempDir
    private Path directory;

    private Path config;
    private TestCertificate certificate;

    @BeforeEach
    void createCertificate() throws Exception {
        config = directory.resolve("web.yml");
        certificate = TestCertificate.create(directory, "server");
    }

    private HttpClient client(boolean withCertificate) throws Exception {
        return certificate.client(withCertificate ? certificate : null);
    }

    private static String basic(String credentials) {
        return "Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldServeNothingWithoutThePassword() throws Exception {
        Files.writeString(config, """
                tls_server_config:
                  cert_file: server.crt
                  key_file: server.key
                basic_auth_users:
                  prometheus: %s
                """.formatted(HASH));
        try (ExporterProcess exporter =
                ExporterProcess.start("--match", "no such JVM", "--web.config.file", config.toString())) {
            assertThat(exporter.url()).startsWith("https://");
            HttpClient client = client(false);
            for (String header : new String[] {null, basic("prometheus:wrong"), basic("root:secret"), "Basic !"})
                for (String path : PATHS)
                    assertThat(exporter.with(client, header).get(path).statusCode())
                            .as("%s %s", header, path)
                            .isEqualTo(401);
            exporter.with(client, basic("prometheus:secret"));
            assertThat(exporter.get("/-/healthy").statusCode()).isEqualTo(200);
            assertThat(exporter.get("/metrics").body()).contains("taskclock_exporter_jvms 0");
            assertThat(exporter.get("/none").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void shouldRequireAClientCertificate() throws Exception {
        Files.writeString(config, """
                tls_server_config:
                  cert_file: server.crt
                  key_file: server.key
                  client_auth_type: RequireAndVerifyClientCert
                  client_ca_file: server.crt
                """);
        try (ExporterProcess exporter =
                ExporterProcess.start("--match", "no such JVM", "--web.config.file", config.toString())) {
            HttpClient without = client(false);
            assertThatThrownBy(() -> exporter.with(without, null).get("/metrics"))
                    .isInstanceOf(IOException.class);
            assertThat(exporter.with(client(true), null).get("/metrics").statusCode())
                    .isEqualTo(200);
        }
    }

    private void writeConfig(String hash) throws IOException {
        Files.writeString(config, """
                tls_server_config:
                  cert_file: server.crt
                  key_file: server.key
                basic_auth_users:
                  prometheus: %s
                """.formatted(hash));
    }

    private static int status(ExporterProcess exporter, HttpClient client, String password) throws Exception {
        return exporter.with(client, basic("prometheus:" + password))
                .get("/-/healthy")
                .statusCode();
    }

    @Test
    void shouldFollowChangedFiles() throws Exception {
        writeConfig(HASH);
        try (ExporterProcess exporter =
                ExporterProcess.start("--match", "no such JVM", "--web.config.file", config.toString())) {
            HttpClient first = client(false);
            assertThat(status(exporter, first, "secret")).isEqualTo(200);
            writeConfig(OTHER_HASH);
            assertThat(status(exporter, first, "secret")).isEqualTo(401);
            assertThat(status(exporter, first, "other")).isEqualTo(200);

            // The new certificate, at first with the key of the old one.
            String oldKey = Files.readString(directory.resolve("server.key"));
            createCertificate();
            String newKey = Files.readString(directory.resolve("server.key"));
            Files.writeString(directory.resolve("server.key"), oldKey);
            HttpClient second = client(false);
            assertThatThrownBy(() -> status(exporter, second, "other")).isInstanceOf(SSLException.class);
            assertThat(status(exporter, first, "other")).isEqualTo(200);
            Files.writeString(directory.resolve("server.key"), newKey);
            assertThat(status(exporter, second, "other")).isEqualTo(200);

            Files.writeString(config, "basic_auth_users: {prometheus: other}");
            for (int i = 0; i < 3; i++)
                assertThat(status(exporter, second, "other")).isEqualTo(200);
            Files.writeString(config, "basic_auth_users: {}");
            assertThat(exporter.with(second, null).get("/-/healthy").statusCode())
                    .isEqualTo(401);
            assertThat(exporter.err().lines().skip(1))
                    .as("after the address")
                    .satisfiesExactly(
                            line -> assertThat(line).endsWith("web.yml: reloaded"),
                            line -> assertThat(line).contains("is not the key of the certificate: the previous"),
                            line -> assertThat(line).endsWith("web.yml: reloaded"),
                            line -> assertThat(line).contains("must be a bcrypt hash", "the previous settings remain"),
                            line -> assertThat(line).contains("cannot be added or removed without a restart"));
        }
    }

    @Test
    void shouldReportFilesThatCannotBeUsed() throws Exception {
        assertError("tls_server_config: {cert_file: none.crt, key_file: server.key}", "none.crt: no such file");
        assertError("tls_server_config: {cert_file: server.key, key_file: server.key}", "has no certificate");
        assertError("tls_server_config: {cert_file: server.crt, key_file: server.crt}", "has no private key");
        assertError("tls_server_config: [", "invalid YAML");
        assertError("basic_auth_users: {prometheus: secret}", "must be a bcrypt hash");
    }

    private void assertError(String text, String message) throws Exception {
        Files.writeString(config, text);
        CliResult result = CliResult.runHere(
                "exporter", "--web.listen-address", "127.0.0.1:0", "--web.config.file", config.toString());
        assertThat(result.exitCode()).as(result.err()).isEqualTo(Main.USAGE);
        assertThat(result.err()).startsWith("taskclock: exporter: ").contains(message);
        assertThat(result.err().lines()).hasSize(1);
    }
}
