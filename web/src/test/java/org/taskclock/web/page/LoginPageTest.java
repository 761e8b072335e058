// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import no.nav.security.mock.oauth2.MockOAuth2Server;
import no.nav.security.mock.oauth2.OAuth2Config;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.web.http.OidcOptions;

/** The page of a server whose users log in at an identity provider, on which they type their names. */
@Tag("slow17")
class LoginPageTest {
    private static final String DIALOG = "dialog.login button.primary:has-text('Log in at ')";

    @TempDir
    private Path data;

    private Chromium chromium;
    private MockOAuth2Server provider;

    @BeforeEach
    void start() throws Exception {
        chromium = Chromium.start();
        provider = new MockOAuth2Server(new OAuth2Config(true));
        provider.start(InetAddress.getLoopbackAddress(), 0);
    }

    @AfterEach
    void stop() {
        if (chromium != null) chromium.close();
        if (provider != null) provider.shutdown();
    }

    private PageServer serve() throws Exception {
        String issuer = provider.issuerUrl("realm").toString();
        OidcOptions options = new OidcOptions(issuer, "taskclock", null, "roles", "viewer", "operator", null);
        return PageServer.withLogin(data, options);
    }

    private static void logIn(Page page, String role) {
        page.locator(DIALOG).click();
        page.locator("input[name=username]").fill("ann");
        page.locator("textarea[name=claims]").fill("{\"preferred_username\": \"Ann\", \"roles\": [\"" + role + "\"]}");
        page.locator("input[type=submit]").click();
    }

    @Test
    void shouldLogInAndOutAgain() throws Exception {
        try (PageServer server = serve()) {
            Page page = chromium.page();
            page.navigate(server.url() + "#/?order=cpu");
            logIn(page, "guest");
            page.locator("body:has-text('login failed: ')").waitFor();
            assertThat(page.locator("body").textContent())
                    .contains("Ann ann does not have the role viewer", "Open " + server.url());
            page.navigate(server.url() + "#/?order=cpu");
            logIn(page, "viewer");
            page.locator(".machine strong").waitFor();
            assertThat(page.url()).as("the view from before").isEqualTo(server.url() + "#/?order=cpu");
            assertThat(page.locator("dialog").count()).isZero();
            assertThat(page.locator("#logout").getAttribute("title")).contains("Ann");
            page.reload();
            page.locator(".machine strong").waitFor();
            page.evaluate("() => { window.isOld = true; }");
            page.locator("#logout").click();
            page.waitForFunction("() => !window.isOld");
            page.locator(DIALOG).waitFor();
            assertThat(page.request().get(server.url() + "api/jvms").status()).isEqualTo(401);
            assertThat(page.locator("#logout").isVisible()).isFalse();
            logIn(page, "operator");
            page.locator("#logout").waitFor();
        }
        // The provider's page asks for a font, which no browser of a test gets.
        assertThat(chromium.problems())
                .allSatisfy(problem -> assertThat(problem).containsAnyOf("401", "403", "fonts.googleapis.com"));
    }

    @Test
    void shouldBeAccessible() throws Exception {
        NodeModules.install();
        try (PageServer server = serve()) {
            for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
                for (int width : new int[] {1280, 400}) {
                    Page page = chromium.page(width, 800, scheme);
                    page.navigate(server.url());
                    page.locator(DIALOG).waitFor();
                    NodeModules.checkAccess(page, scheme + " " + width);
                }
            }
        }
    }
}
