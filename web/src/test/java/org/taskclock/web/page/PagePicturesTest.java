// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ColorScheme;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Takes the pictures of the page in the documentation, of a server that {@code docs/images/serve.sh} has started. The
 * system property {@code pictures.url} is its address, and {@code pictures.directory} is where to write them.
 */
@Tag("slow")
class PagePicturesTest {
    private static final int MAX_BYTES = 200_000;

    private static void take(Page page, String name) throws Exception {
        // A hovered element would look different.
        page.mouse().move(0, 0);
        page.waitForTimeout(1_500);
        Path file = Path.of(System.getProperty("pictures.directory"), "serve-" + name + ".png");
        page.screenshot(new Page.ScreenshotOptions().setPath(file));
        assertThat(Files.size(file)).as(file.toString()).isLessThan(MAX_BYTES);
    }

    /** Opens the JVM of the first finding, where it began. */
    private static void openFinding(Page page, String url) {
        page.navigate(url);
        page.locator(".finding-line:has-text('yield')").first().click();
        page.locator(".finding-row time").first().waitFor();
        page.locator(".body .row.hit").waitFor();
    }

    private static void drag(Page page, double from, double to) {
        BoundingBox box = page.locator(".u-over").boundingBox();
        page.mouse().move(box.x + box.width * from, box.y + 60);
        page.mouse().down();
        page.mouse().move(box.x + box.width * to, box.y + 60);
        page.mouse().up();
    }

    @Test
    void shouldTakePictures() throws Exception {
        String url = System.getProperty("pictures.url");
        assumeTrue(url != null, "pictures.url is not set: run docs/images/serve.sh");
        try (Chromium chromium = Chromium.start()) {
            Page overview = chromium.page(1200, 620, ColorScheme.LIGHT);
            overview.navigate(url);
            overview.locator(".finding-line").first().waitFor();
            take(overview, "overview");

            Page jvm = chromium.page(1200, 1010, ColorScheme.LIGHT);
            openFinding(jvm, url);
            jvm.waitForFunction("() => events.interval?.length > 8");
            take(jvm, "jvm");

            Page accounts = chromium.page(1200, 1010, ColorScheme.LIGHT);
            accounts.navigate(url);
            accounts.locator(".card-link:has-text('shop')").click();
            accounts.locator("button[aria-keyshortcuts=a][aria-disabled=false]").click();
            accounts.locator("select[aria-label='Type of accounts']").selectOption("tenant");
            accounts.waitForFunction("() => events.interval?.length > 8");
            take(accounts, "accounts");

            Page dark = chromium.page(1200, 760, ColorScheme.DARK);
            openFinding(dark, url);
            dark.waitForFunction("() => events.interval?.length > 8");
            take(dark, "dark");

            Page phone = chromium.page(390, 800, ColorScheme.LIGHT);
            openFinding(phone, url);
            phone.waitForFunction("() => events.interval?.length > 3");
            take(phone, "phone");

            Page compare = chromium.page(1200, 980, ColorScheme.LIGHT);
            openFinding(compare, url);
            long begin = Long.parseLong(compare.url().replaceFirst(".*begin=(\\d+).*", "$1"));
            compare.evaluate(
                    "range => location.hash = location.hash.replace(/\\?.*/, '') + range",
                    "?from=" + (begin - 90_000) + "&to=" + (begin + 90_000) + "&compare=on");
            compare.waitForFunction("() => document.querySelector('.range-text').textContent.includes('step 1 s')");
            drag(compare, 0.05, 0.45);
            compare.waitForFunction("() => /Now drag/.test(document.querySelector('main').textContent)");
            drag(compare, 0.55, 0.95);
            compare.locator(".compare tbody tr").first().waitFor();
            take(compare, "compare");

            Page flame = chromium.page(1200, 800, ColorScheme.LIGHT);
            openFinding(flame, url);
            flame.keyboard().press("m");
            flame.locator("dialog button.primary").click();
            ProfilePageTest.flameGraph(flame);
            take(flame, "flame");
            assertThat(chromium.problems()).isEmpty();
        }
    }
}
