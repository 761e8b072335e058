// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.history.HistoryOptions;

/**
 * Measures how long the page takes to show something, to open a month of one JVM, and to show 10,000 threads, and the
 * time between frames while it zooms and scrolls. Writes the figures to the file that the system property
 * {@code page.results} names. The limits of the test only find what is far too slow on any machine.
 */
@Tag("slow")
class PageSpeedTest {
    private static final int ROUNDS = 20;
    private static final int POOLS = 8;
    private static final int THREADS = 24;
    private static final long DAY = 86_400_000;
    private static final double MOVING_MILLIS = 180;

    @TempDir
    private static Path data;

    /** Resolves with the milliseconds from a change of the address until the second frame after its data was drawn. */
    private static final String OPEN = """
            range => new Promise(done => {
              const start = performance.now();
              new PerformanceObserver((marks, observer) => {
                if (!marks.getEntriesByName('taskclock-drawn').some(mark => mark.startTime > start)) return;
                observer.disconnect();
                requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
              }).observe({type: 'mark'});
              performance.mark('zoom-start');
              location.hash = location.hash.replace(/\\?.*/, '') + range;
            })
            """;

    /** Resolves with the milliseconds from an interval with 10,000 threads to the second frame that shows it. */
    private static final String SHOW_THREADS = """
            rounds => new Promise(done => {
              const thread = i => ({tid: i + 1, name: 'thread-' + i, pool: 'pool-' + i % 8, kind: 'java', cpu: i % 20 ? 0 : Math.random(),
                user: 0, system: 0, state: 'S', total: 5});
              const times = [];
              const show = () => {
                const threads = Array.from({length: 10_000}, (_, i) => thread(i));
                const end = 1_800_000_000_000 + times.length * 1_000, start = performance.now();
                send('interval', {end, intervalNanos: 1e9, totals: {cpu: 12}, threads, findings: [], notes: []});
                requestAnimationFrame(() => requestAnimationFrame(() => {
                  times.push(performance.now() - start);
                  if (times.length < rounds) setTimeout(show, 100);
                  else done(times);
                }));
              };
              show();
            })
            """;

    /** Resolves with the milliseconds between frames while the table scrolls. */
    private static final String SCROLL = """
            () => new Promise(done => {
              const table = document.querySelector('.table'), times = [];
              let last = 0;
              const frame = now => {
                if (last) times.push(now - last);
                last = now;
                table.scrollTop += 500;
                if (times.length < 120) requestAnimationFrame(frame);
                else done(times);
              };
              requestAnimationFrame(frame);
            })
            """;

    /** Writes a month of history: a row a minute for each pool and thread. */
    private static void fill(long now) throws Exception {
        DuckDbHistory.open(data, HistoryOptions.DEFAULT).close();
        long end = now / 60 * 60;
        long start = end - 30L * 86_400;
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:" + data.resolve("history.duckdb"));
                Statement sql = connection.createStatement()) {
            sql.execute("INSERT INTO gap VALUES (1, 0, " + end + "), (10, 0, " + end + ")");
            sql.execute("INSERT INTO recorded VALUES (" + start + ", " + end + ", 0)");
            sql.execute("INSERT INTO jvm_key VALUES (1, '1-1', 'host', 1, 'month', 'Month', NULL, NULL, " + start * 1000
                    + ", " + start + ", " + end + ")");
            sql.execute(
                    "INSERT INTO pool_key SELECT i, 1, 'pool-' || i, 'JAVA' FROM range(1, " + (POOLS + 1) + ") t(i)");
            sql.execute("INSERT INTO thread_key SELECT 100 + i, 1, 100 + i, 'thread-' || i, 'pool-' || (i % " + POOLS
                    + " + 1), 'JAVA' FROM range(1, " + (THREADS + 1) + ") t(i)");
            String times = "range(" + start + ", " + end + ", 60) t(time)";
            sql.execute(
                    "INSERT INTO pool_60 SELECT time, 1, i, CAST(6e9 * random() AS BIGINT), CAST(2e9 * random() AS BIGINT), 0, 4, false FROM "
                            + times + ", range(1, " + (POOLS + 1) + ") p(i)");
            sql.execute(
                    "INSERT INTO thread_60 SELECT time, 1, 100 + i, CAST(2e9 * random() AS BIGINT), CAST(1e9 * random() AS BIGINT) FROM "
                            + times + ", range(1, " + (THREADS + 1) + ") p(i)");
            sql.execute(
                    "INSERT INTO process_60 SELECT time, 1, CAST(3e10 * random() AS BIGINT), CAST(1e10 * random() AS BIGINT), -1, -1, -1, false FROM "
                            + times);
        }
    }

    private static double percentile(List<Double> values, double share) {
        List<Double> sorted = values.stream().sorted().toList();
        return sorted.get((int) Math.round(share * (sorted.size() - 1)));
    }

    private static double open(Page page, String range) {
        return ((Number) page.evaluate(OPEN, range)).doubleValue();
    }

    /**
     * Returns the times between the frames that the browser drew while the chart moved, in milliseconds. It moves for
     * {@link #MOVING_MILLIS}, or until the data of the new range is there.
     */
    private static List<Double> frames(byte[] trace) {
        NavigableSet<Double> drawn = new TreeSet<>();
        NavigableSet<Double> begins = new TreeSet<>();
        NavigableSet<Double> ends = new TreeSet<>();
        for (JsonElement one : JsonParser.parseString(new String(trace, StandardCharsets.UTF_8))
                .getAsJsonObject()
                .getAsJsonArray("traceEvents")) {
            JsonObject event = one.getAsJsonObject();
            NavigableSet<Double> times =
                    switch (event.get("name").getAsString()) {
                        case "DrawFrame" -> drawn;
                        case "zoom-start" -> begins;
                        case "taskclock-drawn" -> ends;
                        default -> null;
                    };
            if (times != null) times.add(event.get("ts").getAsDouble() / 1e3);
        }
        List<Double> intervals = new ArrayList<>();
        for (double begin : begins) {
            Double end = ends.higher(begin);
            Double last = end == null ? null : drawn.higher(Math.min(end, begin + MOVING_MILLIS));
            if (last == null) continue;
            double previous = begin;
            for (double frame : drawn.subSet(begin, false, last, true)) {
                intervals.add(frame - previous);
                previous = frame;
            }
        }
        return intervals;
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES)
    void shouldOpenAMonthAndZoom() throws Exception {
        String load = Files.readString(Path.of("/proc/loadavg")).replaceFirst(" .*\\R", "");
        long now = System.currentTimeMillis() / 1000;
        fill(now);
        try (Chromium chromium = Chromium.start();
                PageServer server = new PageServer(data, null)) {
            server.awaitHistory();
            Page page = chromium.page();
            page.navigate(server.url() + "#/jvm/1-1?range=7d");
            page.waitForFunction("() => document.querySelectorAll('.legend .pool').length === " + POOLS);
            List<Double> opened = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                open(page, "?range=24h");
                opened.add(open(page, "?range=30d"));
            }
            Browser browser = page.context().browser();
            browser.startTracing(
                    page,
                    new Browser.StartTracingOptions()
                            .setCategories(
                                    List.of("disabled-by-default-devtools.timeline.frame", "blink.user_timing")));
            long to = now * 1000;
            for (int i = 0; i < ROUNDS; i++) {
                open(page, "?from=" + (to - 30 * DAY) + "&to=" + to);
                open(page, "?from=" + (to - 20 * DAY) + "&to=" + (to - 18 * DAY));
            }
            List<Double> frames = frames(browser.stopTracing());
            List<Double> painted = firstPaints(chromium, server.url());
            Page many = chromium.page();
            // Without the copies of all events that other tests read.
            many.addInitScript("addEventListener('taskclock', event => event.stopImmediatePropagation(), true)");
            FakeServer.open(server.url(), many, "#/jvm/1-1?pools=0", null, "host", List.of());
            List<Double> shown = doubles(many.evaluate(SHOW_THREADS, ROUNDS));
            List<Double> scrolled = doubles(many.evaluate(SCROLL));
            assertThat(percentile(painted, 0.5)).isBetween(1.0, 3_000.0);
            assertThat(percentile(shown, 0.5)).isLessThan(3_000);
            assertThat(percentile(scrolled, 0.5)).isLessThan(200);
            assertThat(percentile(opened, 0.5)).isBetween(1.0, 5_000.0);
            assertThat(frames.size()).isGreaterThan(2 * ROUNDS);
            assertThat(percentile(frames, 0.5)).isLessThan(200);
            assertThat(chromium.problems()).isEmpty();
            write(page, load, painted, opened, frames, shown, scrolled);
        }
    }

    private static List<Double> doubles(Object numbers) {
        return ((List<?>) numbers)
                .stream().map(number -> ((Number) number).doubleValue()).toList();
    }

    /** Returns the milliseconds from the start of the navigation to the first text, in browsers without a cache. */
    private static List<Double> firstPaints(Chromium chromium, String url) {
        List<Double> times = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            Page page = chromium.page();
            page.navigate(url);
            page.locator(".machine strong").waitFor();
            times.add(((Number)
                            page.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime"))
                    .doubleValue());
            page.close();
        }
        return times;
    }

    private static String row(String what, List<Double> values) {
        return String.format(
                Locale.ROOT,
                "| %s | %.1f | %.1f | %.1f |",
                what,
                percentile(values, 0.5),
                percentile(values, 0.95),
                percentile(values, 1));
    }

    private static void write(
            Page page,
            String load,
            List<Double> painted,
            List<Double> opened,
            List<Double> frames,
            List<Double> shown,
            List<Double> scrolled)
            throws IOException {
        String file = System.getProperty("page.results");
        if (file == null) return;
        Object bytes = page.evaluate(
                "() => performance.getEntriesByType('resource').filter(one => one.name.endsWith('.js') && !one.name.includes('/uplot/'))"
                        + ".reduce((sum, one) => sum + one.decodedBodySize, 0)");
        String text = """
                # The page of `taskclock serve` in a browser

                Measured by `PageSpeedTest` in `web/` with headless Chromium %s, which draws without a GPU, on a machine with
                %d processors. One JVM with %d pools and %d threads, and a row a minute for 30 days. Browser and server share the
                machine, whose load average was %s before. %d repetitions.

                | milliseconds | median | 95th percentile | maximum |
                |---|---:|---:|---:|
                %s
                %s
                %s
                %s
                %s

                Frames are the `DrawFrame` events of the browser's trace while the chart moves, which takes 180 ms or until
                the data of the new range is there. At 60 frames per second, they are 16.7 ms apart. The scripts of the page
                have %s bytes, without the chart library.
                """.formatted(
                page.context().browser().version(),
                Runtime.getRuntime().availableProcessors(),
                POOLS,
                THREADS,
                load,
                ROUNDS,
                row("first text of the overview, without a cache", painted),
                row("open 30 days, from the change of the address to the second frame with the data", opened),
                row("between frames while zooming from and to 30 days", frames),
                row("an interval with 10,000 threads, from its arrival to the second frame that shows it", shown),
                row("between frames while scrolling through 10,000 threads", scrolled),
                String.format(Locale.ROOT, "%,d", ((Number) bytes).longValue()));
        Path path = Path.of(file).toAbsolutePath();
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
