// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.testing.TestCertificate;
import org.taskclock.web.http.ExternalUrl;
import org.taskclock.web.http.TlsContext;
import org.taskclock.web.http.WebConfig;
import org.taskclock.web.http.WebException;

/** The server behind a proxy with TLS and a path prefix. */
@Tag("slow17")
@Execution(ExecutionMode.CONCURRENT)
final class ProxyTest {
    private static final String TOKEN = "0123456789abcdef0123456789abcdef";
    private static final String MARK = "{\"text\":\"deployed\"}";

    @TempDir
    static Path certificates;

    private static TestCertificate certificate;

    @TempDir
    Path directory;

    private final TestServer.Settings settings = new TestServer.Settings();
    private final WebConfig.Tls tls = new WebConfig.Tls(
            certificates.resolve("proxy.crt"),
            certificates.resolve("proxy.key"),
            null,
            WebConfig.NO_CLIENT_CERT,
            List.of("TLSv1.3"));
    private HttpClient client;

    @BeforeAll
    static void createCertificate() throws Exception {
        certificate = TestCertificate.create(certificates, "proxy");
    }

    @BeforeEach
    void configure() throws Exception {
        client = certificate.client(null);
        settings.match = "no such program";
        settings.allowsActions = true;
        settings.opener = (data, options) -> new GeneratedHistory();
        settings.tokenFile = Files.writeString(directory.resolve("token"), TOKEN);
        Files.setPosixFilePermissions(settings.tokenFile, PosixFilePermissions.fromString("rw-------"));
    }

    private HttpResponse<String> get(String url, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        if (headers.length > 0) request.headers(headers);
        return client.send(request.build(), BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String url, String body, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url))
                .headers("Content-Type", "application/json", "X-TaskClock", "1")
                .headers(headers)
                .POST(HttpRequest.BodyPublishers.ofString(body));
        return client.send(request.build(), BodyHandlers.ofString());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldWorkBehindAProxy(boolean stripsPrefix) throws Exception {
        try (ReverseProxy proxy = new ReverseProxy(TlsContext.of(tls), stripsPrefix)) {
            settings.externalUrl = proxy.origin() + "/watch/";
            try (TestServer server = TestServer.start(directory, settings)) {
                proxy.setTarget(server.url(""));
                String url = proxy.origin() + "/watch";
                assertThat(get(url + "/").body()).contains("src=\"web/main.js\"");
                assertThat(get(url + "/web/main.js").statusCode()).isEqualTo(200);
                assertThat(get(url + "/api/info").statusCode()).isEqualTo(401);

                HttpResponse<String> login =
                        post(url + "/api/login", "{\"token\":\"" + TOKEN + "\"}", "Origin", proxy.origin());
                assertThat(login.statusCode()).as(login.body()).isEqualTo(200);
                String cookie = login.headers().firstValue("Set-Cookie").orElseThrow();
                assertThat(cookie.split("; *")).contains("Secure", "HttpOnly", "SameSite=Strict", "Path=/watch/");
                String sent = cookie.split(";", 2)[0];
                HttpResponse<String> mark = server.await(() -> {
                    HttpResponse<String> answer =
                            post(url + "/api/marks", MARK, "Origin", proxy.origin(), "Cookie", sent);
                    return answer.statusCode() == 503 ? null : answer; // until the history is open
                });
                assertThat(mark.statusCode()).as(mark.body()).isEqualTo(201);
                HttpRequest events = HttpRequest.newBuilder(URI.create(url + "/api/live"))
                        .header("Cookie", sent)
                        .build();
                try (BufferedReader in = new BufferedReader(new InputStreamReader(
                        client.send(events, BodyHandlers.ofInputStream()).body(), StandardCharsets.UTF_8))) {
                    assertThat(in.readLine()).isEqualTo(": connected");
                    assertThat(in.readLine()).isEmpty();
                    assertThat(in.readLine()).isEqualTo("event: jvms");
                }
            }
        }
    }

    @Test
    void shouldRejectOtherSitesWhateverTheHeadersOfTheProxySay() throws Exception {
        try (ReverseProxy proxy = new ReverseProxy(TlsContext.of(tls), true)) {
            settings.externalUrl = proxy.origin() + "/watch/";
            try (TestServer server = TestServer.start(directory, settings)) {
                proxy.setTarget(server.url(""));
                String url = proxy.origin() + "/watch/-/healthy";
                assertThat(get(url, "Origin", proxy.origin()).statusCode()).isEqualTo(200);
                for (String foreign : List.of(
                        "https://evil.example", "null", proxy.origin().replace("https", "http"), "https://127.0.0.1")) {
                    assertThat(get(url, "Origin", foreign).statusCode())
                            .as(foreign)
                            .isEqualTo(403);
                    assertThat(get(
                                            url,
                                            "Origin",
                                            foreign,
                                            "X-Forwarded-Host",
                                            "evil.example",
                                            "X-Forwarded-Proto",
                                            "https",
                                            "Forwarded",
                                            "host=evil.example;proto=https")
                                    .statusCode())
                            .as(foreign)
                            .isEqualTo(403);
                }
            }
        }
    }

    @Test
    void shouldRejectThePageOfAProxyWithoutTheExternalUrl() throws Exception {
        try (ReverseProxy proxy = new ReverseProxy(TlsContext.of(tls), true);
                TestServer server = TestServer.start(directory, settings)) {
            proxy.setTarget(server.url(""));
            assertThat(get(proxy.origin() + "/-/healthy", "Origin", proxy.origin())
                            .statusCode())
                    .isEqualTo(403);
        }
    }

    @Test
    void shouldRedirectToTheDirectoryOfThePage() throws Exception {
        settings.externalUrl = "https://watch.example/watch";
        try (TestServer server = TestServer.start(directory, settings)) {
            HttpResponse<String> redirect = server.get("/watch");
            assertThat(redirect.statusCode()).isEqualTo(302);
            assertThat(redirect.headers().firstValue("Location")).contains("/watch/");
            assertThat(server.get("/watcher").statusCode()).isIn(401, 404);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "watch.example",
                "ftp://watch.example/",
                "https://",
                "https://user@watch.example/",
                "https://watch.example/?a",
                "https://watch.example/#a",
                "https://watch.example/%2e%2e/",
                "https://watch.example//a"
            })
    void shouldRejectInvalidUrls(String url) {
        assertThatThrownBy(() -> ExternalUrl.parse(url))
                .isInstanceOf(WebException.class)
                .hasMessageContaining("must be a URL such as");
    }

    @Test
    void shouldCompareOriginsAsBrowsersSendThem() throws Exception {
        ExternalUrl url = ExternalUrl.parse("HTTPS://Watch.Example:443/a/b/");
        assertThat(url).isEqualTo(new ExternalUrl("https://watch.example", "watch.example", "/a/b"));
        assertThat(ExternalUrl.parse("http://watch.example:8080").origin()).isEqualTo("http://watch.example:8080");
    }
}
