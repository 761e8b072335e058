// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;
import org.taskclock.web.ReverseProxy;

/** The page below the prefix of a proxy: its files, requests, and events. */
@Tag("slow17")
class ProxyPageTest {
    @TempDir
    private Path data;

    @Test
    void shouldWorkBelowAPrefix() throws Exception {
        Path token = Files.writeString(data.resolve("token"), "correct-horse-battery-staple\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
        Chromium chromium = Chromium.start();
        try (LoadJvm jvm = LoadJvm.start("lightly");
                ReverseProxy proxy = new ReverseProxy(null, true);
                PageServer server = new PageServer(data.resolve("data"), token, proxy.origin() + "/watch/")) {
            assertThat(jvm.pid()).isPositive();
            proxy.setTarget(server.url().replaceFirst("/$", ""));
            Page page = chromium.page();
            page.navigate(proxy.origin() + "/watch/");
            page.locator("dialog.login input").fill("correct-horse-battery-staple");
            page.keyboard().press("Enter");
            page.locator(".machine strong").waitFor();
            page.waitForFunction("() => events.jvms?.length > 2");
            page.locator(".card-link").first().click();
            page.waitForFunction("() => events.interval?.length > 2");
            page.locator(".body .row").first().waitFor();
            assertThat(chromium.problems())
                    .allSatisfy(problem -> assertThat(problem).contains("401"));
        } finally {
            chromium.closePages();
            chromium.close();
        }
    }
}
