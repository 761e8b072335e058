// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.gson.JsonObject;
import com.nimbusds.jwt.JWTClaimsSet;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.CookieManager;
import java.net.HttpCookie;
import java.net.InetAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import no.nav.security.mock.oauth2.MockOAuth2Server;
import no.nav.security.mock.oauth2.token.DefaultOAuth2TokenCallback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.web.ForgingProvider.Signature;
import org.taskclock.web.http.OidcOptions;
import org.taskclock.web.http.WebException;

/** Login at an identity provider, and attacks on it. */
@Tag("slow17")
final class LoginTest {
    private static final String MARK = "{\"text\":\"deployed\"}";

    @TempDir
    Path directory;

    private final CookieManager cookies = new CookieManager();
    private final TestServer.Settings settings = new TestServer.Settings();
    private final TestClock clock = new TestClock();
    private ForgingProvider provider;

    /** A clock that a test sets forward. */
    private static final class TestClock extends Clock {
        private volatile Duration offset = Duration.ZERO;

        @Override
        public Instant instant() {
            return Instant.now().plus(offset);
        }

        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }
    }

    @BeforeEach
    void configure() throws Exception {
        provider = new ForgingProvider(0);
        settings.match = "no such program";
        settings.allowsActions = true;
        settings.clock = clock;
        settings.opener = (data, options) -> new GeneratedHistory();
        settings.oidc = options(provider.issuer(), null, "operator");
        settings.client = HttpClient.newBuilder().cookieHandler(cookies).build();
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private static OidcOptions options(String issuer, String readRole, String actRole) {
        return new OidcOptions(issuer, ForgingProvider.CLIENT, null, "roles", readRole, actRole, null);
    }

    private TestServer start() throws WebException {
        return TestServer.start(directory, settings);
    }

    private HttpResponse<String> get(String url, String... headers) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url));
        if (headers.length > 0) request.headers(headers);
        return settings.client.send(request.build(), BodyHandlers.ofString());
    }

    private static String location(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(302);
        return response.headers().firstValue("Location").orElseThrow();
    }

    /** Returns the address to which the provider sends the browser back. */
    private String callback(TestServer server) throws Exception {
        return location(get(location(server.get("/api/login/start"))));
    }

    private void logIn(TestServer server) throws Exception {
        assertThat(location(get(callback(server)))).isEqualTo(server.url("/#/"));
    }

    private static JsonObject info(TestServer server) throws Exception {
        return server.json("/api/info").getAsJsonObject();
    }

    private String sessionCookie() {
        return cookies.getCookieStore().getCookies().stream()
                .filter(cookie -> cookie.getName().equals("taskclock-session"))
                .map(HttpCookie::getValue)
                .findFirst()
                .orElse(null);
    }

    /** With a provider of others, which checks the code and PKCE. */
    @Test
    void shouldLogInAtAProvider() throws Exception {
        MockOAuth2Server other = new MockOAuth2Server();
        other.start(InetAddress.getLoopbackAddress(), 0);
        settings.oidc = new OidcOptions(
                other.issuerUrl("realm").toString(),
                ForgingProvider.CLIENT,
                Files.writeString(directory.resolve("secret"), "s3cret\n"),
                "realm_access.roles",
                "viewer",
                "operator",
                null);
        try (TestServer server = start()) {
            assertThat(server.get("/").statusCode()).isEqualTo(200);
            assertThat(server.get("/api/info").statusCode()).isEqualTo(401);
            assertThat(server.json("/api/login").toString())
                    .isEqualTo("{\"token\":false,\"provider\":\""
                            + URI.create(settings.oidc.issuer()).getHost() + "\"}");
            other.enqueueCallback(token("viewer"));
            logIn(server);
            assertThat(info(server).get("user").getAsString()).isEqualTo("oidc:Ann 17");
            assertThat(info(server).get("actions").getAsBoolean()).isFalse();
            assertThat(server.post("/api/marks", MARK).statusCode()).isEqualTo(403);

            other.enqueueCallback(token("operator"));
            logIn(server);
            assertThat(info(server).get("actions").getAsBoolean()).isTrue();
            server.await(() -> server.post("/api/marks", MARK).statusCode() == 201 ? true : null);

            other.enqueueCallback(token("guest"));
            HttpResponse<String> refused = get(callback(server));
            assertThat(refused.statusCode()).isEqualTo(403);
            assertThat(refused.body()).contains("Ann 17 does not have the role viewer");
            assertThat(Files.readAllLines(directory.resolve("audit.log")))
                    .anyMatch(line -> line.contains("\"action\":\"login\"") && line.contains("oidc:Ann 17"))
                    .anyMatch(line -> line.contains("\"action\":\"marks\"") && line.contains("oidc:Ann 17"));
            server.await(() -> Files.readString(directory.resolve("audit-refused.log"))
                            .matches("(?s).*\"marks\",\"status\":403.*\"login\",\"status\":403.*")
                    ? true
                    : null);
        } finally {
            other.shutdown();
        }
    }

    private static DefaultOAuth2TokenCallback token(String role) {
        Map<String, Object> claims =
                Map.of("preferred_username", "Ann", "realm_access", Map.of("roles", List.of(role, "other")));
        return new DefaultOAuth2TokenCallback("realm", "17", "JWT", List.of(ForgingProvider.CLIENT), claims, 600);
    }

    @Test
    void shouldProveThatTheCodeIsItsOwn() throws Exception {
        try (TestServer server = start()) {
            logIn(server);
            assertThat(provider.authorization)
                    .containsEntry("code_challenge_method", "S256")
                    .containsEntry("redirect_uri", server.url("/api/login/callback"))
                    .containsEntry("response_type", "code");
            byte[] digest = java.security.MessageDigest.getInstance("SHA-256")
                    .digest(provider.exchange.get("code_verifier").getBytes(StandardCharsets.US_ASCII));
            assertThat(java.util.Base64.getUrlEncoder().withoutPadding().encodeToString(digest))
                    .isEqualTo(provider.authorization.get("code_challenge"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nonce", "no nonce", "issuer", "audience", "party", "expired", "none", "hmac", "key"})
    void shouldRejectAFalseToken(String attack) throws Exception {
        Consumer<JWTClaimsSet.Builder> forgery =
                switch (attack) {
                    case "nonce" -> claims -> claims.claim("nonce", "another");
                    case "no nonce" -> claims -> claims.claim("nonce", null);
                    case "issuer" -> claims -> claims.issuer("https://evil.example");
                    case "audience" -> claims -> claims.audience("another client");
                    case "party" ->
                        claims -> claims.audience(List.of(ForgingProvider.CLIENT, "x"))
                                .claim("azp", "x");
                    case "expired" ->
                        claims -> claims.expirationTime(Date.from(Instant.now().minusSeconds(120)));
                    default -> claims -> {};
                };
        try (TestServer server = start()) {
            provider.forgery = forgery;
            provider.signature = switch (attack) {
                case "none" -> Signature.NONE;
                case "hmac" -> Signature.HMAC;
                case "key" -> Signature.UNKNOWN_KEY;
                default -> Signature.RIGHT;
            };
            HttpResponse<String> answer = get(callback(server));
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(401);
            assertThat(answer.body()).contains("ID token", "to try again");
            assertThat(sessionCookie()).isNull();
            assertThat(server.get("/api/info").statusCode()).isEqualTo(401);

            provider.forgery = claims -> {};
            provider.signature = Signature.RIGHT;
            logIn(server);
            assertThat(info(server).get("user").getAsString()).isEqualTo("oidc:ann");
        }
    }

    @Test
    void shouldAcceptEachAnswerOnceInTheBrowserThatBegan() throws Exception {
        try (TestServer server = start()) {
            String victims = callback(server);
            assertThat(get(victims.replaceAll("state=[^&]*", "state=guessed")).statusCode())
                    .isEqualTo(401);
            CookieManager others = new CookieManager();
            HttpClient other = HttpClient.newBuilder().cookieHandler(others).build();
            HttpResponse<String> elsewhere =
                    other.send(HttpRequest.newBuilder(URI.create(victims)).build(), BodyHandlers.ofString());
            assertThat(elsewhere.statusCode()).as("in another browser").isEqualTo(401);
            assertThat(get(victims).statusCode()).as("after that").isEqualTo(401);

            String again = callback(server);
            assertThat(get(again).statusCode()).isEqualTo(302);
            assertThat(get(again).statusCode()).as("replayed").isEqualTo(401);

            String late = callback(server);
            clock.offset = Duration.ofMinutes(11);
            assertThat(get(late).statusCode()).as("too late").isEqualTo(401);
            clock.offset = Duration.ZERO;

            provider.parameters = "&iss=https%3A%2F%2Fevil.example";
            assertThat(get(callback(server)).body()).contains("another provider");
            provider.parameters = "&error=access_denied";
            assertThat(get(callback(server)).body()).contains("access_denied");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "https://evil.example/, #/",
        "//evil.example/, #/",
        "/\\evil.example, #/",
        "#//evil.example/, #//evil.example/",
        "'#/\r\nSet-Cookie: a=b', #/",
        "#/jvm/1-a?from=1&to=2, #/jvm/1-a?from=1&to=2"
    })
    void shouldReturnOnlyToItsOwnPage(String view, String fragment) throws Exception {
        try (TestServer server = start()) {
            String start = "/api/login/start?view=" + URLEncoder.encode(view, StandardCharsets.UTF_8);
            String callback = location(get(location(server.get(start))));
            assertThat(location(get(callback))).isEqualTo(server.url("/" + fragment));
        }
    }

    @Test
    void shouldNeverUseASessionThatItDidNotStart() throws Exception {
        try (TestServer server = start()) {
            String planted = "0123456789012345678901234567890123456789012";
            HttpResponse<String> login = get(callback(server), "Cookie", "taskclock-session=" + planted);
            String first = sessionCookie();
            assertThat(login.headers().allValues("Set-Cookie"))
                    .anyMatch(cookie -> cookie.startsWith("taskclock-session=" + first)
                            && cookie.contains("HttpOnly")
                            && cookie.contains("SameSite=Lax"));
            assertThat(first).hasSize(43).isNotEqualTo(planted);
            assertThat(plain(server, planted)).isEqualTo(401);
            logIn(server);
            assertThat(sessionCookie()).isNotEqualTo(first);
            assertThat(plain(server, first)).as("the previous session").isEqualTo(401);
            assertThat(plain(server, sessionCookie())).isEqualTo(200);
        }
    }

    /** Returns the status of a request with this session and no other cookie. */
    private static int plain(TestServer server, String session) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(server.url("/api/info")))
                .header("Cookie", "taskclock-session=" + session)
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).statusCode();
    }

    @Test
    @Timeout(60)
    void shouldEndSessionsAndTheirStreams() throws Exception {
        try (TestServer server = start()) {
            logIn(server);
            HttpRequest live =
                    HttpRequest.newBuilder(URI.create(server.url("/api/live"))).build();
            HttpResponse<java.io.InputStream> events = settings.client.send(live, BodyHandlers.ofInputStream());
            assertThat(server.post("/api/logout", "{}").statusCode()).isEqualTo(200);
            try (BufferedReader in = new BufferedReader(new InputStreamReader(events.body(), StandardCharsets.UTF_8))) {
                assertThatThrownBy(() -> {
                            while (in.readLine() != null) Thread.onSpinWait();
                        })
                        .isInstanceOf(java.io.IOException.class);
            }
            assertThat(server.get("/api/info").statusCode()).isEqualTo(401);
            logIn(server);
            assertThat(server.get("/api/info").statusCode()).isEqualTo(200);
            clock.offset = Duration.ofHours(8).plusSeconds(1);
            assertThat(server.get("/api/info").statusCode()).as("expired").isEqualTo(401);
        }
    }

    @Test
    void shouldFollowTheKeysOfTheProvider() throws Exception {
        try (TestServer server = start()) {
            logIn(server);
            provider.rotate();
            logIn(server);
        }
    }

    @Test
    void shouldDoWithoutTheProviderMeanwhile() throws Exception {
        int port = provider.port;
        provider.close();
        try (TestServer server = start()) {
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> down = server.get("/api/login/start");
                assertThat(down.statusCode()).isEqualTo(503);
                assertThat(down.body()).contains("the identity provider " + provider.issuer() + " cannot be used");
            }
            assertThat(server.log)
                    .filteredOn(line -> line.startsWith("login: "))
                    .hasSize(1);
            assertThat(server.get("/-/healthy").statusCode()).isEqualTo(200);

            provider = new ForgingProvider(port);
            server.await(() -> server.get("/api/login/start").statusCode() == 302 ? true : null);
            logIn(server);
            String late = callback(server);
            provider.close();
            assertThat(get(late).statusCode()).isEqualTo(503);
            assertThat(server.get("/api/info").statusCode())
                    .as("the session goes on")
                    .isEqualTo(200);
        }
    }

    @Test
    void shouldAcceptAccessTokensOfScripts() throws Exception {
        try (TestServer server = start()) {
            assertThat(bearer(server, provider.token(provider.claims()))).isEqualTo(200);
            provider.sentNonce = "n";
            assertThat(bearer(server, provider.token(provider.idClaims())))
                    .as("an ID token")
                    .isEqualTo(401);
            assertThat(bearer(server, provider.token(provider.claims().audience("x"))))
                    .isEqualTo(401);
            assertThat(bearer(server, provider.token(provider.claims().expirationTime(Date.from(Instant.EPOCH)))))
                    .isEqualTo(401);
            assertThat(bearer(server, provider.token(provider.claims().expirationTime(null))))
                    .isEqualTo(401);
            assertThat(bearer(server, "a.b.c")).isEqualTo(401);
            String token = provider.token(provider.claims());
            assertThat(server.post("/api/marks", MARK, "Authorization", "Bearer " + token)
                            .statusCode())
                    .isEqualTo(403);
            String acting = provider.token(provider.claims().claim("roles", "reader operator"));
            server.await(() -> server.post("/api/marks", MARK, "Authorization", "Bearer " + acting)
                                    .statusCode()
                            == 201
                    ? true
                    : null);
            provider.signature = Signature.NONE;
            assertThat(bearer(server, provider.token(provider.claims()))).isEqualTo(401);
        }
    }

    private static int bearer(TestServer server, String token) throws Exception {
        return server.get("/api/info", "Authorization", "Bearer " + token).statusCode();
    }

    @Test
    void shouldUseTheExternalAddress() throws Exception {
        settings.externalUrl = "https://watch.example/watch/";
        try (TestServer server = start()) {
            HttpResponse<String> start = server.get("/watch/api/login/start");
            assertThat(ForgingProvider.parameters(URI.create(location(start)).getRawQuery()))
                    .containsEntry("redirect_uri", "https://watch.example/watch/api/login/callback");
            String cookie = start.headers().firstValue("Set-Cookie").orElseThrow();
            assertThat(cookie.split("; *")).contains("Secure", "HttpOnly", "SameSite=Lax", "Path=/watch/");
            String callback = location(get(location(start))).replace("https://watch.example", server.url(""));
            HttpResponse<String> end = get(callback, "Cookie", cookie.split(";", 2)[0]);
            assertThat(location(end)).isEqualTo("https://watch.example/watch/#/");
            assertThat(end.headers().allValues("Set-Cookie"))
                    .anyMatch(each -> each.startsWith("taskclock-session=") && each.contains("Secure"));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "login.example", "http://login.example/", "ftp://login.example/", "https://u@login.example/"
            })
    void shouldRejectAnIssuerThatCannotBeTrusted(String issuer) {
        settings.oidc = options(issuer, null, null);
        assertThatThrownBy(this::start)
                .isInstanceOf(WebException.class)
                .hasMessageContaining("--oidc-issuer " + issuer + ": must be a URL");
    }
}
