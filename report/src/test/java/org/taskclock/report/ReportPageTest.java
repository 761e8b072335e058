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
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.monitor.sampling.Interval;

/** Tests pages in a browser. */
@Tag("slow17")
class ReportPageTest {
    /** 5 hours and 30 minutes ahead of UTC. */
    private static final ZoneId ZONE = ZoneId.of("Asia/Kolkata");

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
        recording = RecordingResults.of(
                Samples.intervals(400), Map.of("kernel", "6.18.5"), List.of("A block is damaged."), ZONE);
        write("one", List.of(result));
        write("two", List.of(result, Samples.result("quick", 1.3, "Intel Xeon")));
        write("recording", recording);
        for (int threads : new int[] {5, 200, 2000}) {
            write("threads" + threads, recording(Samples.manyThreads(300, threads)));
        }
        browser = new Chromium(Chromium.installed().orElseThrow());
    }

    @AfterAll
    static void close() throws Exception {
        if (browser != null) browser.close();
    }

    private static List<Result> recording(List<Interval> intervals) {
        return RecordingResults.of(intervals, Map.of(), List.of(), ZONE);
    }

    private static void write(String name, List<Result> results) throws Exception {
        String page = ReportPage.of(results, List.of("before", "after"), ZONE);
        Files.write(folder.resolve(name + ".html"), page.getBytes(StandardCharsets.UTF_8));
    }

    private static Path page(String name) {
        return folder.resolve(name + ".html");
    }

    @ParameterizedTest
    @CsvSource({
        "one, light, 1200, 4",
        "one, dark, 420, 4",
        "two, dark, 1200, 10",
        "recording, light, 420, 5",
        "recording, dark, 1200, 5",
        "threads2000, dark, 420, 3"
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
        assertTimelines(result, 0);
        browser.open(page("recording"), "light", 1200);
        // The axis has local time.
        Instant started = Instant.parse(recording.get(0).started());
        assertTimelines(recording.get(0), started.toEpochMilli() + (5 * 60 + 30) * 60_000.0);
    }

    private static void assertTimelines(Result expected, double zero) throws Exception {
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
                        double millis = point.getAsJsonArray().get(0).getAsDouble() - zero;
                        points.add(millis / 1000 + " " + value.getAsDouble());
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
                .isEqualTo("[40,40,40,40,40]");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldShowFindingsThenChartsThenMachines() throws Exception {
        for (String name : List.of("one", "two", "recording")) {
            browser.open(page(name), "light", 1200);
            // The order of the parts, without repetitions.
            assertThat(browser.evaluate(
                                    "[...document.querySelectorAll('.finding, .chart, .part.table, .machine')]"
                                            + ".map(e => e.className.split(' ').pop()).filter((k, i, all) => k !== all[i - 1]).join(' ')")
                            .getAsString())
                    .as(name)
                    .startsWith("finding chart ")
                    .endsWith(" machine")
                    .containsOnlyOnce("finding")
                    .containsOnlyOnce("machine");
            assertThat(browser.evaluate("[...document.querySelectorAll('.machine')].some(part => part.open)")
                            .getAsBoolean())
                    .as("machines of " + name + " are folded")
                    .isFalse();
            // Opening them shows the details.
            browser.evaluate("document.querySelectorAll('.machine').forEach(part => part.open = true)");
            assertThat(browser.evaluate("document.querySelector('#machines').innerText")
                            .getAsString())
                    .contains("6.18.5", "Method");
        }
    }

    @Test
    void shouldNameResultsInWords() throws Exception {
        browser.open(page("two"), "light", 1200);
        assertThat(browser.evaluate("[...document.querySelectorAll('h2')].map(h => h.textContent)")
                        .toString())
                .isEqualTo("[\"Findings\",\"Compared\",\"bench quick: before\",\"bench quick: after\","
                        + "\"Machines and methods\"]");
        assertThat(series("compareBars", 0).asList())
                .extracting(one -> one.getAsJsonObject().get("name").getAsString())
                .containsExactly("before", "after");
        assertThat(series("comparePercentiles", 0).asList())
                .extracting(one -> one.getAsJsonObject().get("name").getAsString())
                .contains("before: stock, JDK 17", "after: stock, JDK 17");
        assertThat(browser.evaluate("[...document.querySelectorAll('#compared th')].map(th => th.innerText)")
                        .toString())
                .isEqualTo("[\"\",\"before ns\",\"after ns\",\"after / before\"]");
        assertThat(browser.evaluate("[...document.querySelectorAll('#machines th')].map(th => th.textContent)")
                        .toString())
                .isEqualTo("[\"\",\"before\",\"after\"]");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldShowTheTimeOfDayInTheZoneOfThePage() throws Exception {
        browser.open(page("recording"), "light", 1200);
        String option = "echarts.getInstanceByDom(document.querySelector('[data-kind=timelines]')).getOption()";
        assertThat(browser.evaluate(option + ".xAxis[0].name").getAsString()).isEqualTo("time (Asia/Kolkata)");
        // The first interval ends at 12:00:01 UTC.
        assertThat(browser.evaluate(
                                "(() => { const o = " + option
                                        + ", x = o.series[0].data[0][0], f = o.xAxis[0].axisLabel.formatter; return [f(x), f(x + 59000)].join() })()")
                        .getAsString())
                .isEqualTo("17:30:01,17:31");
        assertThat(browser.evaluate(
                                "(() => { const o = " + option
                                        + "; return o.tooltip[0].formatter([{value: o.series[0].data[1], color: 'red', seriesName: 'x'}]).innerText })()")
                        .getAsString())
                .startsWith("17:30:02 (Asia/Kolkata)");
        assertThat(browser.evaluate("document.querySelector('.result > .when').textContent")
                        .getAsString())
                .isEqualTo("2026-11-21 17:30:00 to 17:37:39 (Asia/Kolkata)");
        // Separate runs of an experiment have no common time of day.
        browser.open(page("one"), "light", 1200);
        assertThat(browser.evaluate(option + ".xAxis[0].name").getAsString()).isEqualTo("seconds since the start");
        assertThat(browser.problems()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"5, 1200", "200, 1200", "200, 420", "2000, 800", "2000, 420"})
    void shouldDrawAHeatmapOfThreads(int threads, int width) throws Exception {
        browser.open(page("threads" + threads), "light", width);
        Result.Heatmap heatmap =
                recording(Samples.manyThreads(300, threads)).get(0).heatmaps().get(0);
        int rows = heatmap.rows().size();
        String chart = "echarts.getInstanceByDom(document.querySelector('[data-kind=heatmaps]'))";
        assertThat(browser.evaluate(chart + ".getOption().yAxis[0].data.length").getAsInt())
                .isEqualTo(rows);
        // Each row is high enough for its name, and each column is wide enough to be seen.
        assertThat(browser.evaluate(chart + ".getModel().getComponent('yAxis').axis.getBandWidth()")
                        .getAsDouble())
                .isBetween(15.0, 27.0);
        double columns =
                browser.evaluate(chart + ".getOption().xAxis[0].data.length").getAsInt();
        int size = (int) Math.ceil(300 / columns);
        assertThat(browser.evaluate(chart + ".getModel().getComponent('xAxis').axis.getBandWidth()")
                        .getAsDouble())
                .isGreaterThan(1);
        assertThat(browser.evaluate(chart + ".getOption().xAxis[0].name").getAsString())
                .isEqualTo("time (Asia/Kolkata)");

        JsonArray cells =
                browser.evaluate(chart + ".getOption().series[0].data").getAsJsonArray();
        assertThat(cells).hasSize(rows * (int) columns);
        if (size == 1) {
            JsonArray cell = cells.get(15).getAsJsonArray();
            assertThat(cell.toString()).isEqualTo("[15,0,90]");
        }
        double sum = 0;
        for (JsonElement cell : cells) sum += cell.getAsJsonArray().get(2).getAsDouble();
        double expected = 0;
        for (Result.HeatmapRow row : heatmap.rows()) for (double cpu : row.cpu()) expected += cpu;
        assertThat(sum / columns).isCloseTo(expected / 300, within(0.02 * expected / 300));

        // The thread with the most CPU time, 16 s after the start of the recording.
        int column = 16 / size;
        String tooltip = browser.evaluate("(() => { const o = " + chart
                        + ".getOption(); return [...o.tooltip[0].formatter(" + "{value: o.series[0].data[" + column
                        + "]}).children].map(e => e.textContent).join('; ') })()")
                .getAsString();
        assertThat(tooltip)
                .startsWith("http-nio-8080-exec-0 (tid 1000); 17:30:" + column * size)
                .contains("(Asia/Kolkata); CPU90 % of a core; user67.5 % of a core; system22.5 % of a core");
        assertThat(browser.evaluate("document.querySelector('.part.heatmap p').textContent")
                        .getAsString())
                .contains("most CPU time, of " + String.format(Locale.ROOT, "%,d", threads))
                .contains("The last row is the sum of all others");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldSwitchTheHeatmapToTheShareOfSystemTime() throws Exception {
        browser.open(page("threads200"), "light", 1200);
        String chart = "echarts.getInstanceByDom(document.querySelector('[data-kind=heatmaps]'))";
        browser.evaluate(chart + ".dispatchAction({type: 'dataZoom', start: 20, end: 40})");
        String buttons = "[...document.querySelectorAll('.choice button')]";
        assertThat(browser.evaluate(buttons + ".map(b => b.textContent + ' ' + b.getAttribute('aria-pressed')).join()")
                        .getAsString())
                .isEqualTo("CPU time true,Share of system time false");
        browser.evaluate(buttons + "[1].click()");
        assertThat(browser.evaluate(buttons + ".map(b => b.getAttribute('aria-pressed')).join()")
                        .getAsString())
                .isEqualTo("false,true");
        assertThat(browser.evaluate(
                                "[...new Set(" + chart
                                        + ".getOption().series[0].data.filter(c => c[1] < 30).map(c => c[2].toFixed(0)))].join()")
                        .getAsString())
                .isEqualTo("25");
        assertThat(browser.evaluate(chart + ".getOption().visualMap[0].text.join()")
                        .getAsString())
                .isEqualTo("all system,all user");
        // The zoom stays.
        assertThat(browser.evaluate(chart + ".getOption().dataZoom[0].end").getAsInt())
                .isEqualTo(40);
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldSayNextToVerdictsThatTheMachineWasBusy() throws Exception {
        browser.open(page("two"), "light", 1200);
        String findings = "[...document.querySelectorAll('.part.findings')].map(part => "
                + "[...part.querySelectorAll('.claim')].map(claim => [...claim.querySelectorAll('.verdict')].map(v => v.textContent).join('+')).join(', '))";
        assertThat(browser.evaluate(findings).toString())
                .isEqualTo("[\"contradicted, confirmed, not measured, confirmed\","
                        + "\"contradicted+machine was busy, confirmed+machine was busy, not measured, "
                        + "confirmed+machine was busy\"]");
        assertThat(browser.evaluate("[...document.querySelectorAll('.busy')].map(p => p.textContent).join()")
                        .getAsString())
                .isEqualTo("The machine was busy: in 1 of 2 steps, other processes and the hypervisor took at least "
                        + "10 % of the machine's CPU time, up to 41.4 % (41.3 % other processes, 0.1 % hypervisor) "
                        + "in the step \"JDK 17.0.15, rseq: 1 thread\". Repeat on an idle machine.");
        assertThat(browser.evaluate(
                                "[...document.querySelectorAll('.machine dl')].map(dl => dl.textContent.replace(/\\s+/g, ' ')).join()")
                        .getAsString())
                .contains("other load mean 1.1 % (1.0 % other processes, 0.1 % hypervisor); busiest step 1.2 %");
    }

    /** Nothing is wider than the page, and nothing covers its neighbor. */
    @ParameterizedTest
    @CsvSource({"one", "two", "recording", "threads2000"})
    void shouldFitEachWidth(String name) throws Exception {
        for (int width : new int[] {420, 800, 1400}) {
            browser.open(page(name), "light", width);
            browser.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)");
            assertThat(browser.evaluate("document.documentElement.scrollWidth").getAsInt())
                    .as(name + " at " + width)
                    .isLessThanOrEqualTo(width);
            assertThat(browser.evaluate(
                                    "[...document.querySelectorAll('body *')].filter(e => !e.closest(innerWidth > 600 ? '.scroll, script, .chart div' : 'script, .chart div'))"
                                            + ".filter(e => e.getBoundingClientRect().right > innerWidth + 0.5 || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).overflowX !== 'visible')"
                                            + ".map(e => e.outerHTML.slice(0, 80))")
                            .toString())
                    .as("too wide in " + name + " at " + width)
                    .isEqualTo("[]");
            assertThat(browser.evaluate(
                                    "[...document.querySelectorAll('main > *, .part > *, .result > *, nav li')].filter(e => {"
                                            + " const n = e.nextElementSibling; return n && e.offsetHeight && n.offsetHeight"
                                            + " && n.getBoundingClientRect().top < e.getBoundingClientRect().bottom - 0.5"
                                            + " && n.getBoundingClientRect().left < e.getBoundingClientRect().right - 0.5 })"
                                            + ".map(e => e.outerHTML.slice(0, 80))")
                            .toString())
                    .as("overlaps in " + name + " at " + width)
                    .isEqualTo("[]");
            assertThat(browser.problems()).isEmpty();
        }
    }

    /** Charts were drawn for the screen, but paper is narrower. */
    @Test
    void shouldFitOnPaper() throws Exception {
        for (String name : List.of("two", "recording")) {
            browser.open(page(name), "light", 1200);
            browser.evaluate("dispatchEvent(new Event('beforeprint'))");
            browser.showAsPrinted();
            browser.evaluate("document.body.style.width = '700px'");
            assertThat(browser.evaluate("[...document.querySelectorAll('canvas, table, dl, p, pre, .finding')]"
                                    + ".filter(e => e.getBoundingClientRect().right > document.body.getBoundingClientRect().right + 0.5)"
                                    + ".map(e => e.outerHTML.slice(0, 80))")
                            .toString())
                    .as(name)
                    .isEqualTo("[]");
            assertThat(browser.evaluate("[...document.querySelectorAll('.machine')].every(part => part.open)")
                            .getAsBoolean())
                    .isTrue();
        }
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
