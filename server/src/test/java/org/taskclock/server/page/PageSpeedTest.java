// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.server.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.DuckDbHistory;
import org.taskclock.history.HistoryOptions;

/**
 * Measures how long the page takes to open a month of one JVM, and the time between frames while it zooms. Writes the
 * figures to the file that the system property {@code page.results} names. The limits of the test only find what is far
 * too slow on any machine.
 */
@Tag("slow")
class PageSpeedTest {
    private static final int ROUNDS = 20;
    private static final int POOLS = 8;
    private static final int THREADS = 24;

    @TempDir
    private static Path data;

    /** Resolves with the milliseconds from a change of the address until the chart shows the range. */
    private static final String OPEN = """
            range => new Promise(done => {
              const text = document.querySelector('.range-text'), start = performance.now();
              const step = () => text.textContent.replace(/.*step/, ''), old = step();
              const observer = new MutationObserver(() => {
                // The page moves at once, with the data it has. The step changes when the data of the range is drawn.
                if (step() === old) return;
                observer.disconnect();
                requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
              });
              observer.observe(text, {childList: true, characterData: true, subtree: true});
              location.hash = location.hash.replace(/\\?.*/, '') + range;
            })
            """;

    /** Resolves with the times between frames while the page zooms to a range, in milliseconds. */
    private static final String ZOOM = """
            range => new Promise(done => {
              const frames = [];
              let last = performance.now();
              const end = last + 200;
              const frame = now => {
                frames.push(now - last);
                last = now;
                if (now < end) requestAnimationFrame(frame);
                else done(frames.slice(1));
              };
              requestAnimationFrame(frame);
              location.hash = location.hash.replace(/\\?.*/, '') + range;
            })
            """;

    /** Writes a month of history: a row a minute for each pool and thread. */
    private static void fill(long now) throws Exception {
        DuckDbHistory.open(data, HistoryOptions.DEFAULT).close();
        long end = now / 60 * 60;
        long start = end - 30L * 86_400;
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:" + data.resolve("history.duckdb"));
                Statement sql = connection.createStatement()) {
            sql.execute("UPDATE state SET seconds_from = " + end + ", ten_from = " + end);
            sql.execute("INSERT INTO recorded VALUES (" + start + ", " + end + ")");
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

    private static double percentile(double[] values, double share) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[(int) Math.min(sorted.length - 1, Math.round(share * (sorted.length - 1)))];
    }

    @Test
    void shouldOpenAMonthAndZoom() throws Exception {
        long now = System.currentTimeMillis() / 1000;
        fill(now);
        try (Chromium chromium = Chromium.start();
                PageServer server = new PageServer(data, null)) {
            server.awaitHistory();
            Page page = chromium.page();
            page.navigate(server.url() + "#/jvm/1-1?range=7d");
            page.waitForFunction("() => document.querySelectorAll('.legend .pool').length === " + POOLS);
            double[] opened = new double[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                page.evaluate(OPEN, "?range=24h");
                opened[i] = ((Number) page.evaluate(OPEN, "?range=30d")).doubleValue();
            }
            double[] frames = new double[0];
            long to = now * 1000;
            for (int i = 0; i < ROUNDS; i++) {
                long from = to - 30L * 86_400_000;
                page.evaluate(OPEN, "?from=" + (from + i) + "&to=" + to);
                List<?> zoomed = (List<?>) page.evaluate(
                        ZOOM, "?from=" + (from + 10L * 86_400_000) + "&to=" + (from + 12L * 86_400_000 + i));
                // The data of the zoomed range must have arrived before the next round.
                page.waitForTimeout(500);
                double[] more = zoomed.stream()
                        .mapToDouble(one -> ((Number) one).doubleValue())
                        .toArray();
                int length = frames.length;
                frames = Arrays.copyOf(frames, length + more.length);
                System.arraycopy(more, 0, frames, length, more.length);
            }
            assertThat(percentile(opened, 0.5)).isBetween(1.0, 5_000.0);
            assertThat(frames.length).isGreaterThan(ROUNDS);
            assertThat(percentile(frames, 0.5)).isLessThan(200);
            assertThat(chromium.problems()).isEmpty();
            write(page, opened, frames);
        }
    }

    private static void write(Page page, double[] opened, double[] frames) throws Exception {
        String file = System.getProperty("page.results");
        if (file == null) return;
        Object version = page.context().browser().version();
        Object bytes = page.evaluate(
                "() => performance.getEntriesByType('resource').filter(one => one.name.endsWith('.js') && !one.name.includes('/uplot/'))"
                        + ".reduce((sum, one) => sum + one.decodedBodySize, 0)");
        String text = """
                # The page of `taskclock serve` in a browser

                Measured by `PageSpeedTest` in `server/` with headless Chromium %s, which draws without a GPU, on a machine with
                %d processors. One JVM with %d pools and %d threads, and a row a minute for 30 days. Browser and server share the
                machine.

                | | median | 95th percentile | maximum |
                |---|---:|---:|---:|
                | open 30 days, from the key press to the second frame after drawing, ms | %.0f | %.0f | %.0f |
                | time between frames while zooming, ms | %.1f | %.1f | %.1f |

                The scripts of the page have %s bytes, without the chart library.
                """.formatted(
                        version,
                        Runtime.getRuntime().availableProcessors(),
                        POOLS,
                        THREADS,
                        percentile(opened, 0.5),
                        percentile(opened, 0.95),
                        percentile(opened, 1),
                        percentile(frames, 0.5),
                        percentile(frames, 0.95),
                        percentile(frames, 1),
                        String.format(Locale.ROOT, "%,d", ((Number) bytes).longValue()));
        Files.writeString(
                Files.createDirectories(Path.of(file).toAbsolutePath().getParent())
                        .resolve(Path.of(file).getFileName()),
                text);
    }
}
