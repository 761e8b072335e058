// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonObject;
import com.microsoft.playwright.Download;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.BoundingBox;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.LoadProgram;

/** The history of a JVM on the page, and what the page does to a JVM. */
@Tag("slow17")
class HistoryPageTest {
    private static final double TOLERANCE = 2; // percent of a core
    private static final int HISTORY_SECONDS = 20;
    private static final String HOSTILE = LoadProgram.HOSTILE_NAME;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension("busy", "kernel", "yield", "hostile", "idle=3");

    @BeforeAll
    static void awaitHistory() throws Exception {
        long deadline = System.nanoTime() + 120_000_000_000L;
        while (steps() < HISTORY_SECONDS) {
            assertThat(System.nanoTime()).as("history of %s", BROWSER.id()).isLessThan(deadline);
            Thread.sleep(500);
        }
    }

    /** Returns the number of seconds for which the history has the CPU use of the process. */
    private static long steps() throws Exception {
        long now = System.currentTimeMillis();
        JsonObject series = BROWSER.server()
                .get("api/jvms/" + BROWSER.id() + "/pools?points=600&from=" + (now - 300_000) + "&to=" + now);
        long known = 0;
        for (var value : series.getAsJsonObject("process").getAsJsonArray("user")) if (!value.isJsonNull()) known++;
        return known;
    }

    private static String lastSeconds(int seconds) {
        long now = System.currentTimeMillis();
        return "?pools=0&from=" + (now - (seconds + 6) * 1_000L) + "&to=" + (now - 6_000);
    }

    /** Drags over a part of the chart. */
    private static void drag(Page page, double from, double to) {
        BoundingBox box = page.locator(".u-over").boundingBox();
        page.mouse().move(box.x + box.width * from, box.y + 50);
        page.mouse().down();
        page.mouse().move(box.x + box.width * (from + to) / 2, box.y + 50);
        page.mouse().move(box.x + box.width * to, box.y + 50);
        page.mouse().up();
    }

    @Test
    void shouldShowTheSameAsTheHistory() throws Exception {
        Page page = BROWSER.open(lastSeconds(12));
        page.waitForFunction("() => document.querySelector('.threads h2').textContent.includes('average')");
        String[] range =
                page.url().replaceFirst(".*from=(\\d+)&to=(\\d+).*", "$1 $2").split(" ", -1);
        JsonObject series = BROWSER.server()
                .get("api/jvms/" + BROWSER.id() + "/threads?points=600&from=" + range[0] + "&to=" + range[1]);
        double sum = 0;
        int count = 0;
        for (var thread : series.getAsJsonArray("threads")) {
            if (!thread.getAsJsonObject().get("name").getAsString().equals("yielder")) continue;
            for (var value : thread.getAsJsonObject().getAsJsonArray("cpu")) {
                count++;
                sum += value.isJsonNull() ? 0 : value.getAsDouble();
            }
        }
        assertThat(count).isPositive();
        String shown = (String) page.evaluate("""
                () => [...document.querySelectorAll('.body .row')].find(row => row.textContent.includes('yielder'))
                  .querySelector('[data-column=cpu]').textContent
                """);
        assertThat(Double.parseDouble(shown)).isCloseTo(sum / count, within(TOLERANCE));
    }

    @Test
    void shouldZoomAndReturn() {
        Page page = BROWSER.open("?range=15m");
        page.locator(".segments [aria-pressed=true]:has-text('15 min')").waitFor();
        drag(page, 0.5, 0.75);
        page.waitForURL(url -> url.contains("from="));
        long from = Long.parseLong(page.url().replaceFirst(".*from=(\\d+).*", "$1"));
        long to = Long.parseLong(page.url().replaceFirst(".*to=(\\d+).*", "$1"));
        assertThat(to - from).isBetween(200_000L, 250_000L);
        page.goBack();
        page.locator(".segments [aria-pressed=true]:has-text('15 min')").waitFor();
        page.goForward();
        page.waitForURL(url -> url.contains("from=" + from));
        page.keyboard().press("o");
        page.waitForURL(url -> url.contains("from=") && !url.contains("from=" + from));
        page.keyboard().press("1");
        page.locator(".segments [aria-pressed=true]:has-text('Live')").waitFor();
    }

    @Test
    void shouldMoveTheChartUntilTheDataArrives() {
        Page page = BROWSER.open("?range=15m");
        page.locator(".segments [aria-pressed=true]:has-text('15 min')").waitFor();
        List<Route> held = new ArrayList<>();
        page.route(url -> url.contains("/pools?"), held::add);
        Object images = page.evaluate("""
                async () => {
                  const images = new Set(), to = Date.now(), from = to - 120_000;
                  location.hash = location.hash.replace(/\\?.*/, '') + `?from=${from}&to=${to}`;
                  for (let end = performance.now() + 1_000; performance.now() < end; ) {
                    images.add(document.querySelector('.u-wrap canvas').toDataURL());
                    await new Promise(requestAnimationFrame);
                  }
                  return images.size;
                }
                """);
        // The old range, the new one, and at least one between them.
        assertThat((Integer) images).isGreaterThan(2);
        page.unrouteAll();
        held.forEach(Route::resume);
        page.waitForFunction("() => document.querySelector('.threads h2').textContent.includes('average')");
    }

    @Test
    void shouldCompareTwoRanges() {
        Page page = BROWSER.open(lastSeconds(14));
        page.keyboard().press("=");
        page.waitForURL(url -> url.contains("compare="));
        drag(page, 0.05, 0.45);
        page.waitForFunction(
                "() => document.querySelector('[aria-label=Comparison]').textContent.includes('drag over range B')");
        drag(page, 0.5, 0.95);
        page.locator(".compare tbody tr").first().waitFor();
        assertThat(page.locator(".compare tbody tr").first().textContent()).contains("process");
        page.locator("button:has-text('Show all')").click();
        page.locator(".compare tbody tr:has-text('yielder')").first().waitFor();
    }

    @Test
    void shouldAddAndShowMarks() {
        Page page = BROWSER.open("");
        page.keyboard().press("k");
        page.locator("dialog input").fill("<b>deployed</b> 4.2");
        page.keyboard().press("Enter");
        page.keyboard().press("2");
        page.locator(".mark[title*='deployed']").waitFor();
        assertThat(page.locator(".mark b").count()).isZero();
    }

    private static Path download(Page page, String by, String format) {
        String link = ".menu p:has-text('By " + by + "') a:has-text('" + format + "')";
        return page.waitForDownload(() -> page.locator(link).click()).path();
    }

    /** Returns the CPU time of each pool or thread, in nanoseconds, as DuckDB reads it from a file. */
    private static Map<String, Long> read(String function, Path file, String name) throws Exception {
        Map<String, Long> nanos = new TreeMap<>();
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = connection.createStatement();
                ResultSet rows = sql.executeQuery(
                        "SELECT " + name + ", sum(cpu_ns) FROM " + function + "('" + file + "') GROUP BY 1")) {
            while (rows.next()) nanos.put(rows.getString(1), rows.getLong(2));
        }
        return nanos;
    }

    @Test
    void shouldExportWhatIsSeen() throws Exception {
        Page page = BROWSER.open(lastSeconds(10));
        page.locator(".export summary").click();
        for (String by : List.of("pool", "thread")) {
            String name = by.equals("pool") ? "pool" : "name";
            Map<String, Long> csv = read("read_csv", download(page, by, "CSV"), name);
            assertThat(csv).as(by).containsKey("yielder");
            // The name of a pool has no numbers.
            assertThat(csv.keySet()).as(by).anyMatch(one -> one.replace("#", "1")
                    .startsWith(HOSTILE.substring(0, 30)));
            // The yielder keeps a core busy, or a small part of one on a busy machine.
            assertThat(csv.get("yielder")).isBetween(5_000_000L, 12_000_000_000L);
            assertThat(read("read_json", download(page, by, "JSON"), name)).isEqualTo(csv);
            assertThat(read("read_parquet", download(page, by, "Parquet"), name))
                    .isEqualTo(csv);
        }
    }

    @Test
    void shouldSaveAnImageOfWhatIsSeen() throws Exception {
        Page page = BROWSER.open(lastSeconds(10));
        page.locator(".export summary").click();
        Download download =
                page.waitForDownload(() -> page.locator(".menu button").click());
        BufferedImage image = ImageIO.read(download.path().toFile());
        BoundingBox chart = page.locator(".chart").boundingBox();
        assertThat(image.getWidth()).isGreaterThan((int) chart.width);
        assertThat(image.getHeight()).isGreaterThan((int) chart.height);
        // The colors of the pools are in the chart.
        Set<Integer> colors = new HashSet<>();
        for (int x = 0; x < image.getWidth(); x++)
            for (int y = 0; y < image.getHeight(); y++) colors.add(image.getRGB(x, y));
        assertThat(colors).hasSizeGreaterThan(20);
    }

    @Test
    void shouldShowHostileNamesOfARealJvmAsText() {
        Page page = BROWSER.open("?pools=0&filter=img");
        page.waitForFunction("() => document.querySelectorAll('.body .row:not([hidden])').length === 1");
        assertThat(page.locator(".body .row .label").first().textContent()).isEqualTo(HOSTILE);
        page.locator(".table").focus();
        page.keyboard().press("Home");
        page.keyboard().press("Enter");
        page.waitForFunction("() => document.querySelector('dialog pre')?.textContent.includes('LoadProgram')");
        assertThat(page.locator("dialog h2").textContent()).isEqualTo(HOSTILE);
        page.keyboard().press("Escape");
        Page history = BROWSER.open(lastSeconds(14));
        history.keyboard().press("=");
        history.waitForURL(url -> url.contains("compare="));
        drag(history, 0.05, 0.45);
        history.locator("[aria-label=Comparison]:has-text('drag over range B')").waitFor();
        drag(history, 0.5, 0.95);
        history.locator("button:has-text('Show all')").click();
        history.locator(".compare tbody tr:has(td:text-is('thread')) th:has-text('img src')")
                .first()
                .waitFor();
        assertThat(history.locator(".compare tbody tr:has(td:text-is('thread')) th:has-text('img src')")
                        .first()
                        .textContent())
                .isEqualTo(HOSTILE);
        assertThat(history.locator("main img").count()).isZero();
    }

    @Test
    void shouldShowTheStackOfAThread() {
        Page page = BROWSER.open("?pools=0&filter=yielder");
        page.waitForFunction("() => document.querySelector('.body .row .label').textContent === 'yielder'");
        page.locator(".table").focus();
        page.keyboard().press("Home");
        page.keyboard().press("Enter");
        page.waitForFunction("() => document.querySelector('dialog pre')?.textContent.includes('LoadProgram')");
        assertThat(page.locator("dialog pre").textContent()).contains("yield");
    }

    @Test
    void shouldRecordAndOpenTheRecording() throws Exception {
        Page page = BROWSER.open("");
        page.keyboard().press("r");
        page.locator("dialog input").fill("3");
        page.keyboard().press("Enter");
        // Evidence of findings is listed, too.
        Locator link = page.locator("dialog a[download$='.gz']").first();
        link.waitFor();
        Download recording = page.waitForDownload(link::click);
        String content = Base64.getEncoder().encodeToString(Files.readAllBytes(recording.path()));
        page.keyboard().press("Escape");
        page.evaluate("""
                content => {
                  const bytes = Uint8Array.from(atob(content), letter => letter.charCodeAt(0)), transfer = new DataTransfer();
                  transfer.items.add(new File([bytes], 'dropped <b>.gz'));
                  window.dispatchEvent(new DragEvent('drop', {dataTransfer: transfer, cancelable: true}));
                }
                """, content);
        page.waitForURL(url -> url.contains("#/jvm/r1"));
        page.locator("h1:has-text('dropped <b>.gz')").waitFor();
        page.waitForFunction(
                "() => [...document.querySelectorAll('.body .row .label')].some(one => one.textContent === 'yielder')");
    }

    @Test
    void shouldCountYields() {
        Page page = BROWSER.open("");
        page.keyboard().press("y");
        page.locator("dialog .site summary:has-text('LoadProgram')").first().waitFor();
    }

    @Test
    @EnabledForJreRange(
            minVersion = JdkVersions.VIRTUAL_THREADS,
            disabledReason = "The agent is loaded for virtual threads")
    void shouldLoadAndRemoveTheAgent() {
        Page page = BROWSER.open("");
        // Another test may have left the agent in the JVM.
        boolean isLoaded = page.locator("button:has-text('Remove agent')").count() > 0;
        for (boolean isLoading : List.of(!isLoaded, isLoaded)) {
            // While a dialog is open, keys belong to it.
            page.waitForFunction("() => !document.querySelector('dialog[open]')");
            page.keyboard().press("A");
            page.locator("dialog button.primary").click();
            page.locator("button:has-text('" + (isLoading ? "Remove" : "Load") + " agent')")
                    .waitFor();
        }
    }
}
