// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.taskclock.testing.LoadJvm;

/** Drives the page in a browser beside a JVM with known loads. */
@Tag("slow17")
class LivePageTest {
    private static final double TOLERANCE = 2; // percent of a core
    private static final String BUSY = "a busy thread with a long name, number 1";

    /** Whether the table shows the last interval that has arrived. */
    private static final String IS_DRAWN = """
            () => {
              const end = window.events.interval?.at(-1)?.end;
              const time = new Date(end).toTimeString().slice(0, 8);
              return end && document.querySelector('.threads .note').textContent.includes(time);
            }
            """;

    private static final String ROWS = """
            () => {
              const rows = [...document.querySelectorAll('.body .row')].filter(row => !row.hidden);
              const text = (row, column) => row.querySelector(`[data-column="${column}"]`)?.textContent ?? '';
              return rows.map(row => ({name: row.querySelector('.label').textContent, cpu: text(row, 'cpu'), system: text(row, 'system'),
                tid: text(row, 'tid'), y: row.getBoundingClientRect().top})).sort((a, b) => a.y - b.y);
            }
            """;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension("busy", "kernel", "yield", "idle=30");

    @SuppressWarnings("unchecked") // a script's result
    private static List<Map<String, Object>> rows(Page page) {
        return (List<Map<String, Object>>) page.evaluate(ROWS);
    }

    /** Waits for the row of a pool. The first rows can be of an interval that does not have it yet. */
    private static void awaitPool(Page page) {
        page.locator(".body .row:not([hidden]) .label:text-is('pool-#-thread-# (30)')")
                .waitFor();
    }

    private static List<Object> names(Page page) {
        return rows(page).stream().map(row -> row.get("name")).toList();
    }

    @Test
    void shouldShowTheJvmAndItsFindingInTheOverview() {
        Page page = BROWSER.page();
        page.navigate(BROWSER.server().url());
        var card = page.locator(".card[data-jvm='" + BROWSER.id() + "']");
        card.waitFor();
        assertThat(card.textContent())
                .contains("LoadProgram")
                .contains("pid " + BROWSER.jvm().pid());
        page.waitForFunction("() => events.jvms?.length > 2");
        Object difference = page.evaluate("""
                id => {
                  const jvm = events.jvms.at(-1).jvms.find(one => one.id === id);
                  return Math.abs(parseFloat(document.querySelector(`[data-jvm="${id}"] .cpu`).textContent) - jvm.cpu);
                }
                """, BROWSER.id());
        assertThat(((Number) difference).doubleValue()).isLessThan(0.06);
        page.keyboard().press("ArrowDown");
        page.keyboard().press("Enter");
        page.waitForURL("**/#/jvm/**");
    }

    @Test
    void shouldShowWhatTheApiSends() {
        Page page = BROWSER.open("?pools=0");
        page.waitForFunction(IS_DRAWN);
        // Both are read in one step of the page's only thread, so they are of the same interval.
        Object different = page.evaluate("""
                async () => {
                  const rows = (%s);
                  await new Promise(requestAnimationFrame);
                  await new Promise(requestAnimationFrame);
                  const interval = events.interval.at(-1), shown = rows();
                  return shown.filter(row => {
                    const thread = interval.threads.find(one => String(one.tid) === row.tid && one.tid);
                    return thread && (row.cpu !== thread.cpu.toFixed(1) || row.system !== thread.system.toFixed(1));
                  }).map(row => JSON.stringify(row)).concat(shown.length > 5 ? [] : ['only ' + shown.length + ' rows']);
                }
                """.formatted(ROWS));
        assertThat((List<?>) different).isEmpty();
    }

    @Test
    void shouldAgreeWithTheClockOfTheProcess() throws Exception {
        Page page = BROWSER.open("");
        page.waitForFunction("() => events.interval?.length >= 1");
        LoadJvm.Reference before = BROWSER.jvm().reference();
        page.evaluate("() => events.interval.length = 0");
        page.waitForFunction("() => events.interval.length >= 10");
        LoadJvm.Reference after = BROWSER.jvm().reference();
        // The readings are up to an interval away from the ends of the intervals, but the loads are steady.
        double seconds = (after.after() - before.after()) / 1e9;
        for (String name : List.of(BUSY, "kernel-calls")) {
            double expected = 100 * after.cpuSince(before, name) / 1e9 / seconds;
            Object shown = page.evaluate("""
                    name => {
                      const nanos = events.interval.reduce((sum, one) => sum + one.intervalNanos, 0);
                      return events.interval.reduce((sum, one) => sum
                        + one.threads.filter(thread => thread.name === name)[0].cpu * one.intervalNanos, 0) / nanos;
                    }
                    """, name);
            assertThat(((Number) shown).doubleValue()).as(name).isCloseTo(expected, within(TOLERANCE));
        }
    }

    @Test
    void shouldMarkTheBeginningOfAFindingAndItsThread() {
        Page page = BROWSER.page();
        page.navigate(BROWSER.server().url());
        page.locator(".finding-line[data-jvm='" + BROWSER.id() + "']:has-text('yielder')")
                .first()
                .click();
        page.waitForURL(url -> url.contains("highlight="));
        page.waitForFunction("() => document.querySelector('.body .row.hit .label')?.textContent === 'yielder'");
        assertThat(page.locator(".heat-names .chosen").textContent()).isEqualTo("yielder");
        assertThat(page.locator(".pool[aria-pressed=true]").textContent()).contains("yielder");
        // On a busy machine, there are other findings, too.
        String why = "details[data-kind=yield-storm] ";
        page.locator(why + "summary").first().click();
        assertThat(page.locator(why + ".explanation").first().textContent())
                .contains("Thread.yield")
                .contains("What to do");
    }

    @Test
    void shouldFollowTheKeysOfTop() {
        Page page = BROWSER.open("");
        awaitPool(page);
        page.keyboard().press("/");
        page.keyboard().type("pool-\\d+-thread|busy");
        page.keyboard().press("Enter");
        page.waitForFunction("() => document.querySelector('.threads .note').textContent.startsWith('31 of ')");
        page.keyboard().press("End");
        page.keyboard().press("+");
        page.waitForFunction("() => document.querySelectorAll('.body .row.child:not([hidden])').length > 5");
        page.keyboard().press("N");
        page.waitForFunction("() => document.querySelector('[aria-sort] button').dataset.sort === 'tid'");
        page.keyboard().press("t");
        page.waitForFunction("() => document.querySelectorAll('.body .row.group:not([hidden])').length === 0");
        page.keyboard().press("i");
        page.waitForFunction("() => document.querySelectorAll('.body .row:not([hidden])').length < 10");
        // Between two intervals, no thread may be busy.
        page.waitForFunction(
                "name => [...document.querySelectorAll('.body .row:not([hidden])')]"
                        + ".some(row => row.textContent.includes(name))",
                BUSY);
        // The address shows others the same.
        Page other = BROWSER.page();
        other.navigate(page.url());
        other.waitForFunction("() => document.querySelector('.threads .note')?.textContent.startsWith('31 of ')");
        assertThat(other.locator("[aria-sort] button").getAttribute("data-sort"))
                .isEqualTo("tid");
        page.keyboard().press("?");
        assertThat(page.locator("dialog").textContent()).contains("sort by CPU");
        page.keyboard().press("Escape");
        page.keyboard().press("c");
        page.waitForURL("**/#/");
    }

    @Test
    void shouldNotApplyAnInvalidFilter() {
        Page page = BROWSER.open("");
        awaitPool(page);
        page.locator("input[type=search]").fill("(");
        assertThat(page.locator("input[type=search]").getAttribute("aria-invalid"))
                .isEqualTo("true");
        assertThat(names(page)).contains("pool-#-thread-# (30)");
    }

    @Test
    void shouldFitAPhone() {
        for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
            Page page = BROWSER.chromium().page(375, 800, scheme);
            page.navigate(BROWSER.server().url());
            page.locator(".card").first().waitFor();
            assertThat(page.evaluate("() => document.documentElement.scrollWidth"))
                    .isEqualTo(375);
            BROWSER.open(page, "");
            assertThat(page.evaluate("() => document.documentElement.scrollWidth"))
                    .isEqualTo(375);
            String background = (String) page.evaluate("() => getComputedStyle(document.body).backgroundColor");
            assertThat(background).isEqualTo(scheme == ColorScheme.DARK ? "rgb(20, 23, 28)" : "rgb(246, 247, 249)");
        }
    }

    @Test
    void shouldSayThatTheJvmHasEnded() throws Exception {
        try (LoadJvm shortLived = LoadJvm.start("lightly")) {
            Page page = BROWSER.page();
            page.navigate(BROWSER.server().url() + "#/jvm/" + BROWSER.server().idOf(shortLived.pid()));
            page.waitForFunction("() => document.querySelectorAll('.body .row').length > 3");
            shortLived.end();
            page.locator("#problems [data-name=ended]:has-text('The JVM ended at')")
                    .waitFor();
            assertThat(names(page)).isNotEmpty();
        }
    }

    @Test
    void shouldAskForThreadDumpsOnlyForColumnsThatNeedThem() {
        Page page = BROWSER.page();
        // The requests of a shared worker are not those of the page.
        page.addInitScript("delete window.SharedWorker");
        BROWSER.open(page, "?pools=0&filter=pool-7");
        page.keyboard().press("C");
        assertThat(page.locator("dialog .choice:has-text('JSTATE') input").isChecked())
                .isFalse();
        page.waitForRequest(
                request -> request.url().contains("&java="),
                () -> page.locator("dialog .choice:has-text('JSTATE') input").check());
        page.keyboard().press("Escape");
        page.waitForFunction(
                "() => [...document.querySelectorAll('[data-column=jstate]')].some(cell => cell.textContent === 'TIMED')");
    }

    @Test
    void shouldStayUsableWithTwoThousandThreads() throws Exception {
        try (LoadJvm large = LoadJvm.start("idle=2000", "lightly=3")) {
            Page page = BROWSER.page();
            page.navigate(BROWSER.server().url() + "#/jvm/" + BROWSER.server().idOf(large.pid()) + "?pools=0");
            page.waitForFunction("() => parseInt(document.querySelector('.threads .note')?.textContent) > 2000");
            Object millis = page.evaluate("""
                    () => new Promise(done => {
                      const start = performance.now();
                      document.querySelector('[data-sort=tid]').click();
                      requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
                    })
                    """);
            assertThat(((Number) millis).doubleValue()).isLessThan(2_000);
            assertThat(page.locator("[aria-sort] button").getAttribute("data-sort"))
                    .isEqualTo("tid");
        }
    }

    @Test
    void shouldNotBeLargerThanAllowed() {
        Page page = BROWSER.page();
        BROWSER.open(page, "");
        String size = """
                library => performance.getEntriesByType('resource')
                  .filter(one => one.name.endsWith('.js') && one.name.includes('/uplot/') === library)
                  .reduce((sum, one) => sum + one.decodedBodySize, 0)
                """;
        assertThat(((Number) page.evaluate(size, false)).intValue()).isBetween(50_000, 245_000);
        assertThat(((Number) page.evaluate(size, true)).intValue()).isBetween(40_000, 60_000);
        assertThat(
                        page.evaluate(
                                "() => performance.getEntriesByType('resource').every(one => new URL(one.name).origin === location.origin)"))
                .isEqualTo(true);
    }
}
