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
import java.util.HashMap;
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

    /** A chart that is drawn has more colors than this. */
    private static final int MIN_COLORS = 5;

    @TempDir
    private static Path folder;

    private static Chromium browser;
    private static Result result;
    private static List<Result> recording;
    private static List<Result> accounts;

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
                Samples.intervals(400),
                List.of(Samples.evidence()),
                Map.of("kernel", "6.18.5"),
                List.of("A block is damaged."),
                ZONE);
        write("one", List.of(result));
        write("two", List.of(result, Samples.result("quick", 1.3, "Intel Xeon")));
        write("recording", recording);
        accounts = recording(Samples.withAccounts(100));
        write("accounts", accounts);
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
        return RecordingResults.of(intervals, List.of(), Map.of(), List.of(), ZONE);
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
        "one, light, 1200, 3",
        "one, dark, 420, 3",
        "two, dark, 1200, 7",
        "recording, light, 420, 5",
        "recording, dark, 1200, 5",
        "accounts, light, 420, 7",
        "threads2000, dark, 420, 3"
    })
    void shouldDrawAllCharts(String name, String scheme, int width, int charts) throws Exception {
        browser.open(page(name), scheme, width);
        JsonArray colors = colors();
        // On a busy machine, the page may not be drawn yet.
        for (int i = 0; i < 50 && isBlank(colors); i++) {
            Thread.sleep(100);
            colors = colors();
        }
        assertThat(colors).hasSize(charts);
        for (JsonElement count : colors) assertThat(count.getAsInt()).isGreaterThan(MIN_COLORS);
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

    private static boolean isBlank(JsonArray colors) {
        for (JsonElement count : colors) if (count.getAsInt() <= MIN_COLORS) return true;
        return colors.isEmpty();
    }

    /** Returns the number of colors on each canvas. */
    private static JsonArray colors() throws Exception {
        return browser.evaluate("[...document.querySelectorAll('.drawing canvas')].map(c => {"
                        + " const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                        + " const seen = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);"
                        + " return seen.size })")
                .getAsJsonArray();
    }

    /** Returns a script with a chart. */
    private static String chart(String kind, int index) {
        return "document.querySelectorAll('[data-kind=" + kind + "]')[" + index + "].chart";
    }

    /** Returns the data of a line chart: places, and the values of each line, which are null or missing in gaps. */
    private static JsonArray data(String kind, int index) throws Exception {
        return browser.evaluate(chart(kind, index) + ".plot.data").getAsJsonArray();
    }

    private static List<Double> known(JsonArray values) {
        List<Double> known = new ArrayList<>();
        for (JsonElement value : values) if (!value.isJsonNull()) known.add(value.getAsDouble());
        return known;
    }

    @Test
    void shouldDrawBarsOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        List<Result.Bar> bars = result.bars().get(0).items();
        JsonArray drawn = browser.evaluate(
                        "[...document.querySelectorAll('.lengths')].map(cell => { const i = cell.querySelector('.measured, .published');"
                                + " return {style: i.className, width: i.getBoundingClientRect().width / cell.firstChild.clientWidth} })")
                .getAsJsonArray();
        assertThat(drawn).hasSameSizeAs(bars);
        for (int i = 0; i < bars.size(); i++) {
            JsonObject bar = drawn.get(i).getAsJsonObject();
            // The logarithmic scale is from 10 to 10,272.
            double length = Math.log(bars.get(i).value() / 10) / Math.log(1027.2);
            assertThat(bar.get("width").getAsDouble()).isCloseTo(length, within(0.01));
            assertThat(bar.get("style").getAsString()).isEqualTo(bars.get(i).published() ? "published" : "measured");
        }
        assertThat(browser.evaluate("document.querySelector('.part.bars .note').textContent")
                        .getAsString())
                .startsWith("Logarithmic scale");
    }

    @Test
    void shouldDrawPercentilesOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        List<Result.Series> series = result.percentiles().get(0).series();
        JsonArray drawn = data("percentiles", 0);
        assertThat(drawn).hasSize(series.size() + 1);
        // 100 is placed one step after 99.9999, the highest percentile below it.
        List<Double> places = known(drawn.get(0).getAsJsonArray());
        for (int s = 0; s < series.size(); s++) {
            List<double[]> expected = series.get(s).points();
            JsonArray values = drawn.get(s + 1).getAsJsonArray();
            assertThat(values).hasSameSizeAs(expected);
            for (int i = 0; i < expected.size(); i++) {
                double percentile = expected.get(i)[0];
                double place = percentile == 100 ? 1e7 : 100 / (100 - percentile);
                assertThat(places.get(i)).isCloseTo(place, within(place * 1e-9));
                // A logarithmic scale cannot show 0.
                if (expected.get(i)[1] <= 0)
                    assertThat(values.get(i).isJsonNull()).isTrue();
                else assertThat(values.get(i).getAsDouble()).isEqualTo(expected.get(i)[1]);
            }
        }
    }

    @Test
    void shouldDrawTimelinesOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        for (int t = 0; t < result.timelines().size(); t++) {
            List<Result.Series> series = result.timelines().get(t).series();
            JsonArray drawn = data("timelines", t);
            assertThat(drawn).hasSize(series.size() + 1);
            boolean stacked = result.timelines().get(t).stacked();
            double[] sums = new double[series.get(0).points().size()];
            for (int s = 0; s < series.size(); s++) {
                List<double[]> points = series.get(s).points();
                // The last layer of a stack is drawn first.
                List<Double> values =
                        known(drawn.get(stacked ? series.size() - s : s + 1).getAsJsonArray());
                assertThat(values).hasSameSizeAs(points);
                for (int i = 0; i < points.size(); i++) {
                    sums[i] = stacked ? sums[i] + points.get(i)[1] : points.get(i)[1];
                    assertThat(values.get(i)).isCloseTo(sums[i], within(1e-6));
                }
            }
        }
    }

    /** Returns a name with the replacements for characters that a page cannot contain. */
    private static String shown(String name) {
        return name.replaceAll("[\\x00\\x{2028}\\x{2029}\\x{202E}]", "\uFFFD").replace('\uD800', '?');
    }

    @Test
    void shouldDrawPoolsAndTotalsOfRecording() throws Exception {
        browser.open(page("recording"), "light", 1200);
        long started = Instant.parse(recording.get(0).started()).toEpochMilli();
        Result.Timeline pools = recording.get(0).timelines().get(0);
        // Nine pools, and the sum of all others.
        JsonArray drawn = browser.evaluate(
                        chart("timelines", 0) + ".stack.order.map(line => [line.pool, ...line.user.slice(0, 5)])")
                .getAsJsonArray();
        assertThat(drawn).hasSize(10);
        for (int p = 0; p < 10; p++) {
            JsonArray line = drawn.get(p).getAsJsonArray();
            String name = line.get(0).getAsString() + " user";
            Result.Series user = pools.series().stream()
                    .filter(one -> shown(one.name()).equals(name))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(name));
            for (int i = 0; i < 5; i++)
                assertThat(line.get(i + 1).getAsDouble())
                        .isCloseTo(user.points().get(i)[1], within(0.011));
        }
        Result.Timeline totals = recording.get(0).timelines().get(3);
        JsonArray lines = data("timelines", 3);
        for (int s = 0; s < totals.series().size(); s++) {
            JsonArray values = lines.get(s + 1).getAsJsonArray();
            int known = 0;
            for (int i = 0; i < values.size(); i++) {
                if (values.get(i).isJsonNull()) continue;
                double[] point = totals.series().get(s).points().get(known++);
                assertThat(lines.get(0).getAsJsonArray().get(i).getAsDouble()).isEqualTo(started + point[0] * 1000);
                assertThat(values.get(i).getAsDouble()).isEqualTo(point[1]);
            }
            assertThat(known).isEqualTo(totals.series().get(s).points().size());
            assertThat(values.size()).as("there is a gap").isGreaterThan(known);
        }
    }

    @Test
    void shouldDrawAccountsOfRecording() throws Exception {
        browser.open(page("accounts"), "light", 1200);
        List<String> titles =
                accounts.get(0).timelines().stream().map(Result.Timeline::title).toList();
        assertThat(titles).contains("CPU by account: tenant", "CPU by account: endpoint");
        JsonArray drawn = browser.evaluate(chart("timelines", titles.indexOf("CPU by account: tenant"))
                        + ".stack.order.map(line => [line.pool, line.user[0] + line.system[0]])")
                .getAsJsonArray();
        Map<String, Double> shares = new HashMap<>();
        for (JsonElement line : drawn)
            shares.put(
                    line.getAsJsonArray().get(0).getAsString(),
                    line.getAsJsonArray().get(1).getAsDouble());
        // Nine accounts, and the sum of t7 to t11.
        assertThat(shares).hasSize(10).containsEntry(shown(Samples.HOSTILE), 30.0);
        assertThat(shares.get("(unaccounted)")).isEqualTo(70);
        assertThat(shares.get("(other)")).isCloseTo(9.3 + 9.2 + 9.1 + 9.0 + 8.9, within(0.05));
        assertThat(drawn.get(9).getAsJsonArray().get(0).getAsString())
                .as("drawn last")
                .isEqualTo("(unaccounted)");
        assertThat(browser.evaluate(chart("timelines", titles.indexOf("CPU by account: endpoint"))
                                + ".stack.order.map(line => line.pool).join()")
                        .getAsString())
                .isEqualTo("/orders");
        Object pools = browser.evaluate(chart("timelines", 0) + ".stack.order.map(line => line.kind).join()")
                .getAsString();
        assertThat(pools.toString()).doesNotContain("account");
        assertThat(browser.evaluate("String(window.injected)").getAsString()).isEqualTo("undefined");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldShowTablesOfResult() throws Exception {
        browser.open(page("one"), "light", 1200);
        Result.Table table = result.tables().get(0);
        JsonArray rows = browser.evaluate("[...document.querySelector('.part.results tbody').rows].map(row =>"
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
        assertThat(browser.evaluate("document.querySelector('.part.results tbody').rows[2].cells[2].textContent")
                        .getAsString())
                .isEqualTo("4,321");
        assertThat(browser.evaluate("document.querySelector('.part.bars tbody').rows[0].cells[3].textContent")
                        .getAsString())
                .isEqualTo("496\u00a0x");
    }

    @Test
    void shouldSortTablesAndSwitchColorScheme() throws Exception {
        browser.open(page("one"), "light", 1200);
        String first = "document.querySelector('.part.results tbody').rows[0].cells[0].textContent";
        browser.evaluate("document.querySelectorAll('.part.results th button')[2].click()");
        assertThat(browser.evaluate(first).getAsString()).isEqualTo("p1.00, before");
        browser.evaluate("document.querySelectorAll('.part.results th button')[2].click()");
        assertThat(browser.evaluate(first).getAsString()).isEqualTo("p0.50, after");

        String color = "getComputedStyle(document.body).backgroundColor";
        String light = browser.evaluate(color).getAsString();
        String click = "document.getElementById('scheme').click()";
        browser.evaluate(click + ";" + click); // from system through light to dark
        assertThat(browser.evaluate(color).getAsString()).isNotEqualTo(light);
        // Bars are sorted with the table.
        browser.evaluate("document.querySelectorAll('.part.bars th button')[2].click();" + click);
        assertThat(browser.evaluate("document.querySelector('.part.bars tbody').rows[0].textContent")
                        .getAsString())
                .contains("10,272");
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
    void shouldZoomAllChartsOfARecording() throws Exception {
        browser.open(page("recording"), "light", 1200);
        long from = Instant.parse(recording.get(0).started()).toEpochMilli() + 60_000;
        String ranges = "(() => { const c = [...document.querySelectorAll('.drawing')].map(host => host.chart);"
                + " return JSON.stringify(c.map(one => one.stack ? [one.from, one.to] : [one.plot.scales.x.min, one.plot.scales.x.max])) })()";
        String zoomed = "[" + from + "," + (from + 30_000) + "]";
        String all = "[" + String.join(",", zoomed, zoomed, zoomed, zoomed) + "]";
        browser.evaluate(
                chart("timelines", 3) + ".plot.setScale('x', {min: " + from + ", max: " + (from + 30_000) + "})");
        browser.await(ranges + " === '" + all + "'");
        browser.evaluate("document.querySelector('.legend + button').click()");
        browser.await(ranges + " !== '" + all + "'");
        assertThat(browser.evaluate("document.querySelector('.legend + button').hidden")
                        .getAsBoolean())
                .isTrue();
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldShowFindingsThenChartsThenMachines() throws Exception {
        for (String name : List.of("one", "two", "recording")) {
            browser.open(page(name), "light", 1200);
            // The order of the parts, without repetitions.
            assertThat(browser.evaluate(
                                    "[...document.querySelectorAll('.finding, .drawing, .part.results, .host')]"
                                            + ".map(e => e.className.split(' ').pop()).filter((k, i, all) => k !== all[i - 1]).join(' ')")
                            .getAsString())
                    .as(name)
                    .startsWith("finding drawing ")
                    .endsWith(" host")
                    .containsOnlyOnce("finding")
                    .containsOnlyOnce("host");
            assertThat(browser.evaluate("[...document.querySelectorAll('.host')].some(part => part.open)")
                            .getAsBoolean())
                    .as("machines of " + name + " are folded")
                    .isFalse();
            // Opening them shows the details.
            browser.evaluate("document.querySelectorAll('.host').forEach(part => part.open = true)");
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
        assertThat(browser.evaluate(chart("comparePercentiles", 0) + ".plot.series.map(line => line.label)")
                        .toString())
                .contains("before: stock, JDK 17", "after: stock, JDK 17");
        assertThat(browser.evaluate("[...document.querySelectorAll('#compared .scroll th')].map(th => th.innerText)")
                        .toString())
                .isEqualTo("[\"\",\"\",\"before ns\",\"after ns\",\"after / before\"]");
        assertThat(browser.evaluate("document.querySelector('#compared .lengths').children.length")
                        .getAsInt())
                .isEqualTo(2);
        assertThat(browser.evaluate("[...document.querySelectorAll('#machines th')].map(th => th.textContent)")
                        .toString())
                .isEqualTo("[\"\",\"before\",\"after\"]");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void shouldShowTheTimeOfDayInTheZoneOfThePage() throws Exception {
        browser.open(page("recording"), "light", 1200);
        String plot = chart("timelines", 1) + ".plot";
        assertThat(browser.evaluate(plot + ".axes[0].label").getAsString()).isEqualTo("time (Asia/Kolkata)");
        // The first interval begins at 12:00:00 UTC.
        assertThat(browser.evaluate(
                                "(() => { const p = " + plot
                                        + ", x = p.data[0][0]; return p.axes[0].values(p, [x, x + 59000], 0, 0, 1000).join() })()")
                        .getAsString())
                .isEqualTo("17:30:00,17:30:59");
        assertThat(browser.evaluate("(() => { const p = " + plot + "; return p.series[0].value(p, p.data[0][1]) })()")
                        .getAsString())
                .isEqualTo("17:30:01");
        browser.evaluate(
                "(() => { const c = " + chart("timelines", 0) + "; c.showTip(c.stack.series.times[1], 100) })()");
        assertThat(browser.evaluate("document.querySelector('.tip').textContent")
                        .getAsString())
                .startsWith("17:30:01");
        assertThat(browser.evaluate("document.querySelector('.result > .where').textContent")
                        .getAsString())
                .isEqualTo("2026-11-21 17:30:00 to 17:37:39 (Asia/Kolkata)");
        // Separate runs of an experiment have no common time of day.
        browser.open(page("one"), "light", 1200);
        assertThat(browser.evaluate(plot + ".axes[0].label").getAsString()).isEqualTo("seconds since the start");
        assertThat(browser.problems()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"5, 1200", "200, 420", "2000, 800"})
    void shouldDrawAHeatmapOfThreads(int threads, int width) throws Exception {
        browser.open(page("threads" + threads), "light", width);
        JsonArray names = browser.evaluate(
                        "[...document.querySelectorAll('.heat-names button')].map(n => n.textContent)")
                .getAsJsonArray();
        int shown = Math.min(threads - 1, 40);
        assertThat(names).hasSize(shown + 1);
        assertThat(names.get(0).getAsString()).isEqualTo("http-nio-8080-exec-0");
        assertThat(names.get(names.size() - 1).getAsString())
                .startsWith(String.format(Locale.ROOT, "%,d other thread", threads - shown));
        // The thread with the most CPU time, 16 s after the start of the recording.
        browser.evaluate("(() => { const c = document.querySelector('.heat canvas'), r = c.getBoundingClientRect();"
                + " const x = 52 + (r.width - 52) * 16.5 / 300;"
                + " c.dispatchEvent(new PointerEvent('pointermove', {clientX: r.left + x, clientY: r.top + 4})) })()");
        assertThat(browser.evaluate(
                                "[...document.querySelector('.heat .tip').children].map(e => e.textContent).join('; ')")
                        .getAsString())
                .startsWith("http-nio-8080-exec-0; 17:30:16, pool ")
                .endsWith("tid 1000; CPU 90.0 %, system 22.5 %");
        assertThat(browser.evaluate("document.querySelector('.part.timeline').textContent")
                        .getAsString())
                .contains("most CPU time, of " + String.format(Locale.ROOT, "%,d", threads))
                .contains("The last row is the sum of all others");
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
                                "[...document.querySelectorAll('.host dl')].map(dl => dl.textContent.replace(/\\s+/g, ' ')).join()")
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
                                    "[...document.querySelectorAll('body *')].filter(e => !e.closest(innerWidth > 600 ? '.scroll, script, .drawing div' : 'script, .drawing div'))"
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
            assertThat(browser.evaluate("[...document.querySelectorAll('.host')].every(part => part.open)")
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
