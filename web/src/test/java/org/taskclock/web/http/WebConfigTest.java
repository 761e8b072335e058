// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WebConfigTest {
    private static final Path DIRECTORY = Path.of("/etc/taskclock");
    private static final String HASH = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi";

    @TempDir
    private Path directory;

    @Test
    void shouldReadTlsAndUsers() throws WebException {
        WebConfig config = WebConfig.parse("""
                tls_server_config:
                  cert_file: server.crt
                  key_file: /keys/server.key
                  client_auth_type: RequireAndVerifyClientCert
                  client_ca_file: ca.crt
                  min_version: TLS13
                basic_auth_users:
                  alice: %s
                """.formatted(HASH), DIRECTORY);
        assertThat(config.tls())
                .isEqualTo(new WebConfig.Tls(
                        DIRECTORY.resolve("server.crt"),
                        Path.of("/keys/server.key"),
                        DIRECTORY.resolve("ca.crt"),
                        WebConfig.REQUIRE_AND_VERIFY,
                        List.of("TLSv1.3")));
        assertThat(config.users()).containsOnlyKeys("alice").containsValue(HASH);
    }

    @Test
    void shouldRequireTls12ByDefault() throws WebException {
        WebConfig config =
                WebConfig.parse("tls_server_config: {cert_file: server.crt, key_file: server.key}", DIRECTORY);
        assertThat(config.tls().protocols()).containsExactlyInAnyOrder("TLSv1.2", "TLSv1.3");
    }

    @Test
    void shouldAcceptAnEmptyFile() throws WebException {
        assertThat(WebConfig.parse("", DIRECTORY)).isEqualTo(WebConfig.NONE);
        assertThat(WebConfig.parse("# nothing\n", DIRECTORY)).isEqualTo(WebConfig.NONE);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    tls_server_confg: {}                            | tls_server_confg: not supported
                    tls_server_config: {cert: x}                    | tls_server_config.cert: not supported
                    tls_server_config: {cert_file: x}               | cert_file and key_file are required
                    tls_server_config: {cert_file: [x]}             | cert_file: must be text
                    tls_server_config: x                            | tls_server_config: must be a map
                    basic_auth_users: {alice: secret}               | alice: must be a bcrypt hash
                    'basic_auth_users: {alice: &a [[*a]]}'          | alice: must be a bcrypt hash
                    'basic_auth_users: {alice: $2y$32$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi}' | bcrypt hash
                    'basic_auth_users: {[a]: x}'                    | basic_auth_users: keys must be text
                    'tls_server_config: {cert_file: "\\0", key_file: y}' | cert_file: is not a path
                    [1, 2]                                          | must be a map
                    'tls_server_config: {cert_file: x, key_file: y, min_version: TLS10}' | min_version: TLS10: must be one
                    'tls_server_config: {cert_file: x, key_file: y, min_version: TLS13, max_version: TLS12}' | is higher
                    'tls_server_config: {cert_file: x, key_file: y, client_ca_file: z}'  | client_ca_file: is unused
                    'tls_server_config: {cert_file: x, key_file: y, client_auth_type: RequireAnyClientCert}' | must be one
                    """)
    void shouldSayWhatIsWrong(String text, String message) {
        assertThatThrownBy(() -> WebConfig.parse(text, DIRECTORY))
                .isInstanceOf(WebException.class)
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    'a: [1'        | invalid YAML
                    '"a\\nb": 1'    | a?b: not supported
                    'a: 1 b: 2'    | invalid YAML in line 1
                    'a: "\\U'      | invalid YAML: it cannot be parsed
                    '!a%20 b'       | invalid YAML: it cannot be parsed
                    '!!java.io.File [x]' | invalid YAML
                    """)
    void shouldReportInvalidYamlInOneLine(String text, String message) throws IOException {
        Path file = Files.writeString(directory.resolve("web.yml"), text);
        assertThatThrownBy(() -> WebConfig.read(file))
                .isInstanceOf(WebException.class)
                .satisfies(e -> assertThat(e.getMessage().lines()).hasSize(1))
                .hasMessageStartingWith(file + ": ")
                .hasMessageContaining(message);
    }

    @Test
    void shouldReportAMissingFile() {
        Path file = directory.resolve("none.yml");
        assertThatThrownBy(() -> WebConfig.read(file)).hasMessage(file + ": no such file");
    }

    @Test
    void shouldReportFilesThatAreNoCertificates() throws IOException {
        Path wrong = Files.writeString(directory.resolve("wrong.pem"), "no certificate");
        assertThatThrownBy(() -> TlsContext.of(tls(directory.resolve("none.pem"), wrong)))
                .hasMessage("cert_file: " + directory.resolve("none.pem") + ": no such file");
        assertThatThrownBy(() -> TlsContext.of(tls(wrong, wrong)))
                .hasMessage("cert_file: " + wrong + ": has no certificate in PEM format");
    }

    private static WebConfig.Tls tls(Path certificate, Path key) {
        return new WebConfig.Tls(certificate, key, null, WebConfig.NO_CLIENT_CERT, List.of("TLSv1.3"));
    }
}
