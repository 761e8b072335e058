// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.WaitForSelectorState;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;

/** The page while the server restarts, and with a token. */
@Tag("slow17")
class ServerPageTest {
    @TempDir
    private static Path data;

    private static Chromium chromium;

    @BeforeAll
    static void start() {
        chromium = Chromium.start();
    }

    @AfterAll
    static void stop() {
        if (chromium != null) chromium.close();
    }

    private static void awaitNone(Page page, String selector) {
        page.locator(selector).waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.DETACHED));
    }

    @Test
    void shouldReconnectAfterTheServerHasRestarted() throws Exception {
        try (LoadJvm jvm = LoadJvm.start("lightly");
                PageServer server = new PageServer(data.resolve("restart"), null)) {
            Page page = chromium.page();
            page.navigate(server.url() + "#/jvm/" + server.idOf(jvm.pid()));
            page.waitForFunction("() => events.interval?.length > 2");
            server.stop();
            page.locator("#problems [data-name=connection]:has-text('Disconnected since')")
                    .waitFor();
            server.start();
            awaitNone(page, "#problems [data-name=connection]");
            page.evaluate("() => events.interval.length = 0");
            page.waitForFunction("() => events.interval.length > 2");
            assertThat(page.locator(".body .row").count()).isPositive();
        } finally {
            chromium.closePages();
        }
        // The failed requests are on the console, and nothing else is.
        assertThat(chromium.problems())
                .allSatisfy(problem -> assertThat(problem).contains("Failed to load resource"));
    }

    @Test
    void shouldAskForTheToken() throws Exception {
        Path token = Files.writeString(data.resolve("token"), "correct-horse-battery-staple\n");
        Files.setPosixFilePermissions(token, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
        try (PageServer server = new PageServer(data.resolve("token-data"), token)) {
            Page page = chromium.page();
            page.navigate(server.url());
            page.locator("dialog.login input").fill("wrong");
            page.keyboard().press("Enter");
            page.locator("dialog.login [role=alert]:has-text('wrong')").waitFor();
            page.locator("dialog.login input").fill("correct-horse-battery-staple");
            page.keyboard().press("Enter");
            awaitNone(page, "dialog");
            page.locator(".machine strong").waitFor();
            assertThat(chromium.problems())
                    .allSatisfy(problem -> assertThat(problem).contains("401"));
        } finally {
            chromium.closePages();
        }
    }
}
