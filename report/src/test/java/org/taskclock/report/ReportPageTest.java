// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests pages in a browser. */
class ReportPageTest {
    @TempDir
    private static Path folder;

    private static Chromium browser;
    private static Result result;
    private static List<Result> recording;

    @BeforeAll
    static void open() throws Exception {
        assumeTrue(
                Chromium.installed().isPresent(),
                "no chromium in PATH: pages are not tested (Debian: apt install chromium)");
        // Written to a file and read back, as the commands do.
        Path file = folder.resolve("result.json");
        Samples.result("quick", 1, "AMD EPYC").write(file);
        result = Result.read(file);
        recording =
                RecordingResults.of(Samples.intervals(400), Map.of("kernel", "6.18.5"), List.of("A block is damaged."));
        write("one", List.of(result));
        write("two", List.of(result, Samples.result("quick", 1.3, "Intel Xeon")));
        write("recording", recording);
        browser = new Chromium(Chromium.installed().orElseThrow());
    }

    @AfterAll
    static void close() throws Exception {
        if (browser != null) browser.close();
    }

    private static void write(String name, List<Result> results) throws Exception {
        Files.write(folder.resolve(name + ".html"), ReportPage.of(results).getBytes(StandardCharsets.UTF_8));
    }

    private static Path page(String name) {
        return folder.resolve(name + ".html");
    }

    @ParameterizedTest
    @CsvSource({
        "one, light, 1200, 4",
        "one, dark, 420, 4",
        "two, dark, 1200, 10",
        "recording, light, 420, 4",
        "recording, dark, 1200, 4"
    })
    void shouldDrawAllCharts(String name, String scheme, int width, int charts) throws Exception {
        browser.open(page(name), scheme, width);
        // The number of colors on each canvas.
        JsonArray colors = browser.evaluate("[...document.querySelectorAll('.chart')].map(chart => {"
                        + " const c = chart.querySelector('canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                        + " const seen = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);"
                        + " return seen.size })")
                .getAsJsonArray();
        assertThat(colors).hasSize(charts);
        for (JsonElement count : colors) assertThat(count.getAsInt()).isGreaterThan(5);
        assertThat(browser.problems()).isEmpty();
        assertThat(browser.events("Network.requestWillBeSent")).hasSize(1).allMatch(event -> event.toString()
                .contains("file://"));
        assertThat(browser.evaluate("String(window.injected)").getAsString()).isEqualTo("undefined");
        int brightness = browser.evaluate("Number(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])")
                .getAsInt();
        if (scheme.equals("dark")) assertThat(brightness).isLessThan(64);
        else assertThat(brightness).isGreaterThan(192);
        assertThat(browser.evaluate("document.documentElement.scrollWidth").getAsInt())
                .as("width of the content")
                .isLessThanOrEqualTo(width);
    }

    /** Returns the series of a chart, as ECharts has them. */
    private static JsonArray series(String kind, int index) throws Exception {
        return browser.evaluate("echarts.getInstanceByDom(document.querySelectorAll('[data-kind=" + kind + "]')["
                        + index + "]).getOption().series.map(s => ({name: s.name, stack: s.stack, data: s.data}))")
                .getAsJsonArray();
    }

    @Test
    void shouldDrawBarsOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        List<Result.Bar> bars = result.bars().get(0).items();
        JsonArray drawn = series("bars", 0).get(0).getAsJsonObject().getAsJsonArray("data");
        assertThat(drawn).hasSameSizeAs(bars);
        for (int i = 0; i < bars.size(); i++) {
            JsonObject bar = drawn.get(i).getAsJsonObject();
            assertThat(bar.get("value").getAsDouble()).isEqualTo(bars.get(i).value());
            assertThat(bar.getAsJsonObject("itemStyle").has("borderType"))
                    .isEqualTo(bars.get(i).published());
        }
    }

    @Test
    void shouldDrawPercentilesOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        List<Result.Series> series = result.percentiles().get(0).series();
        JsonArray drawn = series("percentiles", 0);
        assertThat(drawn).hasSameSizeAs(series);
        for (int s = 0; s < series.size(); s++) {
            JsonArray points = drawn.get(s).getAsJsonObject().getAsJsonArray("data");
            List<double[]> expected = series.get(s).points();
            assertThat(points).hasSameSizeAs(expected);
            for (int i = 0; i < expected.size(); i++) {
                JsonArray point = points.get(i).getAsJsonArray();
                double percentile = expected.get(i)[0];
                // 100 is placed one step after 99.9999, the highest percentile below it.
                double place = percentile == 100 ? 1e7 : 100 / (100 - percentile);
                assertThat(point.get(0).getAsDouble()).isCloseTo(place, within(place * 1e-9));
                // A logarithmic scale cannot show 0.
                if (expected.get(i)[1] <= 0)
                    assertThat(point.get(1).isJsonNull()).isTrue();
                else assertThat(point.get(1).getAsDouble()).isEqualTo(expected.get(i)[1]);
            }
        }
    }

    @Test
    void shouldDrawTimelinesOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        assertTimelines(result);
        browser.open(page("recording"), "light", 1200);
        assertTimelines(recording.get(0));
    }

    private static void assertTimelines(Result expected) throws Exception {
        for (int t = 0; t < expected.timelines().size(); t++) {
            JsonArray drawn = series("timelines", t);
            List<Result.Series> series = expected.timelines().get(t).series();
            assertThat(drawn).hasSameSizeAs(series);
            for (int s = 0; s < series.size(); s++) {
                JsonObject one = drawn.get(s).getAsJsonObject();
                assertThat(one.get("stack") != null && !one.get("stack").isJsonNull())
                        .isEqualTo(expected.timelines().get(t).stacked());
                List<String> points = new ArrayList<>();
                for (JsonElement point : one.getAsJsonArray("data")) {
                    JsonElement value = point.getAsJsonArray().get(1);
                    if (!value.isJsonNull()) {
                        points.add(point.getAsJsonArray().get(0).getAsDouble() / 1000 + " " + value.getAsDouble());
                    }
                }
                assertThat(points)
                        .isEqualTo(series.get(s).points().stream()
                                .map(p -> p[0] + " " + p[1])
                                .toList());
            }
        }
    }

    @Test
    void shouldShowTablesOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        Result.Table table = result.tables().get(0);
        JsonArray rows = browser.evaluate("[...document.querySelector('.part.table tbody').rows].map(row =>"
                        + " [...row.cells].map(cell => cell.dataset.value || cell.textContent.replaceAll(',', '')))")
                .getAsJsonArray();
        assertThat(rows).hasSameSizeAs(table.rows());
        for (int r = 0; r < rows.size(); r++) {
            for (int c = 0; c < table.columns().size(); c++) {
                String text = rows.get(r).getAsJsonArray().get(c).getAsString();
                Object cell = table.rows().get(r).get(c);
                if (cell instanceof Number number)
                    assertThat(Double.parseDouble(text)).isEqualTo(number.doubleValue());
                else if (cell == null) assertThat(text).isEmpty();
                // Characters that a page cannot contain are replaced.
                else
                    assertThat(text)
                            .isEqualTo(cell.toString()
                                    .replaceAll("[\\x00\\x{2028}\\x{2029}\\x{202E}]", "\uFFFD")
                                    .replace(",", ""));
            }
        }
        assertThat(browser.evaluate("document.querySelector('.part.table tbody').rows[2].cells[2].textContent")
                        .getAsString())
                .isEqualTo("4,321");
        assertThat(browser.evaluate("document.querySelector('.part.bars tbody').rows[0].cells[4].textContent")
                        .getAsString())
                .isEqualTo("496\u00a0x");
    }

    @Test
    void shouldSortTablesAndSwitchColorScheme() throws Exception {
        browser.open(page("one"), "light", 1200);
        String first = "document.querySelector('.part.table tbody').rows[0].cells[0].textContent";
        browser.evaluate("document.querySelectorAll('.part.table th button')[2].click()");
        assertThat(browser.evaluate(first).getAsString()).isEqualTo("p1.00, before");
        browser.evaluate("document.querySelectorAll('.part.table th button')[2].click()");
        assertThat(browser.evaluate(first).getAsString()).isEqualTo("p0.50, after");

        String color = "getComputedStyle(document.body).backgroundColor";
        String light = browser.evaluate(color).getAsString();
        String click = "document.getElementById('scheme').click()";
        browser.evaluate(click + ";" + click); // from system through light to dark
        assertThat(browser.evaluate(color).getAsString()).isNotEqualTo(light);
        // Bars take their ratios from the table, but in the original order.
        browser.evaluate("document.querySelectorAll('.part.bars th button')[1].click();" + click);
        JsonElement label = browser.evaluate(
                "(() => { const s = echarts.getInstanceByDom(document.querySelector('.chart')).getOption().series[1];"
                        + " return s.label.formatter({dataIndex: 0}) })()");
        assertThat(label.getAsString()).isEqualTo("9,222 ns  ·  496\u00a0x");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldDrawFlameGraphs() throws Exception {
        browser.open(page("one"), "dark", 1200);
        browser.evaluate("document.querySelector('iframe').scrollIntoView()");
        browser.await("document.querySelector('iframe').style.height !== ''");
        // The sum of all samples. The line that is not a stack does not count.
        assertThat(browser.evaluateInFrame("levels[0][0].width").getAsInt())
                .isEqualTo(120 + 310 + 44 + 207 + 9 + 8 + 25);
        assertThat(browser.evaluateInFrame("canvas.width").getAsInt()).isGreaterThan(500);
        assertThat(browser.evaluateInFrame(
                                "levels.flat().map(f => f.title).filter(t => t.includes('</script><script>')).length")
                        .getAsInt())
                .isOne();
        assertThat(browser.evaluateInFrame("search('proc_tgid'), matchval").getAsString())
                .isEqualTo("48.96%");
        assertThat(browser.evaluateInFrame("String(window.injected)").getAsString())
                .isEqualTo("undefined");
        assertThat(browser.evaluateInFrame("document.documentElement.className").getAsString())
                .isEqualTo("dark");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldZoomAllTimelinesOfResult() throws Exception {
        browser.open(page("recording"), "light", 1200);
        browser.evaluate(
                "echarts.getInstanceByDom(document.querySelector('.chart')).dispatchAction({type: 'dataZoom', start: 20, end: 40})");
        assertThat(browser.evaluate(
                                "[...document.querySelectorAll('.chart')].map(c => echarts.getInstanceByDom(c).getOption().dataZoom[0].end)")
                        .toString())
                .isEqualTo("[40,40,40,40]");
        assertThat(browser.problems()).isEmpty();
    }

    /** If text became a script despite the escaping, the policy would still block it. */
    @Test
    void shouldRunOnlyItsOwnScripts() throws Exception {
        browser.open(page("one"), "light", 1200);
        browser.evaluate(
                "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.injected = 1'}))");
        browser.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)");
        assertThat(browser.evaluate("String(window.injected)").getAsString()).isEqualTo("undefined");
        assertThat(browser.problems()).anyMatch(text -> text.contains("Content Security Policy"));
    }

    @Test
    void shouldShowNumbersWithoutJavaScript() throws Exception {
        String page = Files.readString(page("one"));
        String text = page.substring(page.indexOf("<body>"), page.indexOf("<script type=\"application/json\""))
                .replaceAll("(?s)<iframe .*?\"></iframe>", " ")
                .replaceAll("<[^>]*>", " ");
        assertThat(text)
                .contains(
                        "9,222",
                        "10,272",
                        "99.9999",
                        "thread 1 system",
                        "4,321",
                        "do_task_stat",
                        "AMD EPYC",
                        "/opt/a jdk");
    }
}
