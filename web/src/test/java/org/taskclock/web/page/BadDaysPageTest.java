// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The page with answers that a real JVM and a healthy server do not give. */
@Tag("slow17")
class BadDaysPageTest {
    private static final String HOSTILE = "<img src=x onerror=\"alert(1)\">\u202e=cmd|' /C calc'!A0";
    private static final long NOW = FakeServer.NOW;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension();

    private static Map<String, Object> jvm() {
        Map<String, Object> jvm = FakeServer.jvm(1, HOSTILE, 10, 2.5);
        jvm.put("findings", List.of(Map.of("kind", "yield-storm", "text", HOSTILE, "since", NOW)));
        return jvm;
    }

    private static Page open(String address, String problem) {
        return FakeServer.open(BROWSER.server().url(), BROWSER.page(), address, problem, HOSTILE, List.of(jvm()));
    }

    private static void send(Page page, Map<String, Object> interval) {
        Map<String, Object> sent = new HashMap<>(interval);
        sent.put("notes", List.of(HOSTILE));
        FakeServer.send(page, "interval", sent);
    }

    @Test
    void shouldShowHostileNamesAsText() {
        Page page = open("#/", null);
        page.evaluate("() => fetch('/api/jvms').then(answer => answer.json()).then(data => send('jvms', data))");
        page.locator(".card").waitFor();
        String cleaned = HOSTILE.replace('\u202e', '\ufffd');
        assertThat(page.locator(".card h3").textContent()).isEqualTo(cleaned);
        assertThat(page.locator(".finding-line .what").textContent()).isEqualTo(cleaned);
        assertThat(page.locator("#view img").count()).isZero();

        Page view = open("#/jvm/1-1?pools=0", null);
        for (int i = 0; i < 5; i++)
            send(
                    view,
                    FakeServer.interval(
                            NOW + i * 1_000L,
                            List.of(
                                    FakeServer.thread(7, HOSTILE, HOSTILE, 50),
                                    FakeServer.thread(8, "other", "other", 5))));
        view.waitForFunction("() => document.querySelectorAll('.body .row').length >= 2");
        assertThat(view.locator(".body .row .label").first().textContent()).isEqualTo(cleaned);
        assertThat(view.locator(".heat-names button").first().textContent()).isEqualTo(cleaned);
        assertThat(view.locator(".legend .pool .label").first().textContent()).isEqualTo(cleaned);
        view.locator(".u-over")
                .hover(new com.microsoft.playwright.Locator.HoverOptions()
                        .setPosition(view.locator(".u-over").boundingBox().width - 3, 90));
        assertThat(view.locator(".chart .tip").textContent()).contains(cleaned);
        view.locator(".heat canvas")
                .hover(new com.microsoft.playwright.Locator.HoverOptions()
                        .setPosition(view.locator(".heat canvas").boundingBox().width - 3, 5));
        assertThat(view.locator(".heat .tip").textContent()).contains(cleaned);
        assertThat(view.title()).contains("<img src=x");
        view.locator(".table").focus();
        view.keyboard().press("Home");
        view.keyboard().press("Enter");
        assertThat(view.locator("dialog h2").textContent()).isEqualTo(cleaned);
        assertThat(view.locator("dialog pre").textContent()).contains("--allow-actions");
        assertThat(view.locator("main img, dialog img").count()).isZero();
    }

    @Test
    void shouldStaySmoothWithTenThousandThreads() {
        Page page = open("#/jvm/1-1?pools=0", null);
        List<Map<String, Object>> threads = new ArrayList<>();
        for (int i = 0; i < 10_000; i++)
            threads.add(FakeServer.thread(i + 1, "pool-1-thread-" + i, "pool-#-thread-#", i % 10 == 0 ? 0.5 : 0));
        for (int i = 0; i < 5; i++) send(page, FakeServer.interval(NOW + i * 1_000L, threads));
        page.waitForFunction("() => document.querySelector('.threads .note').textContent.startsWith('10000')");
        // Only what is on the screen is in the document.
        assertThat((int) page.evaluate("() => document.querySelectorAll('.body .row').length"))
                .isBetween(10, 80);
        page.locator(".table").focus();
        page.keyboard().press("End");
        page.waitForFunction("() => document.querySelector('.body .row.selected')?.dataset.index === '9999'");
        page.locator("input[type=search]").fill("thread-9999$");
        page.waitForFunction("() => document.querySelector('.threads .note').textContent.startsWith('1 of 10000')");
        page.locator("input[type=search]").fill("");
        Object millis = page.evaluate("""
                () => new Promise(done => {
                  const start = performance.now();
                  document.querySelector('[data-sort=name]').click();
                  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
                })
                """);
        assertThat(((Number) millis).doubleValue()).isLessThan(5_000);
    }

    @Test
    void shouldSayThatTheClockWasSetBack() {
        Page page = open("#/jvm/1-1", null);
        for (int i = 0; i < 5; i++)
            send(page, FakeServer.interval(NOW + i * 1_000L, List.of(FakeServer.thread(7, "worker", "worker", 50))));
        send(page, FakeServer.interval(NOW - 60_000, List.of(FakeServer.thread(7, "worker", "worker", 50))));
        page.locator("#problems [data-name=clock]:has-text('set back by 64 s')").waitFor();
        send(page, FakeServer.interval(NOW - 59_000, List.of(FakeServer.thread(7, "worker", "worker", 40))));
        page.waitForFunction("() => document.querySelector('.body .row')?.textContent.includes('40.0')");
    }

    @Test
    void shouldSayThatTheHistoryHasAProblem() {
        Page page = open("#/jvm/1-1", "the disk is full");
        assertThat(page.locator("#problems [data-name=history]").textContent()).contains("the disk is full");
        send(page, FakeServer.interval(NOW, List.of(FakeServer.thread(7, "worker", "worker", 50))));
        page.waitForFunction("() => document.querySelector('.body .row .label')?.textContent === 'worker'");
    }

    @Test
    void shouldReconnectAfterSilence() {
        Page page = open("#/jvm/1-1", null);
        send(page, FakeServer.interval(NOW, List.of(FakeServer.thread(7, "worker", "worker", 50))));
        // Nothing arrives, as after a computer slept: the connection is neither closed nor alive.
        page.locator("#problems [data-name=connection]:has-text('Disconnected since')")
                .waitFor();
        page.waitForFunction("() => window.streams.length > 1");
        send(page, FakeServer.interval(NOW + 9_000, List.of(FakeServer.thread(7, "worker", "worker", 50))));
        page.locator("#problems [data-name=connection]")
                .waitFor(new com.microsoft.playwright.Locator.WaitForOptions()
                        .setState(com.microsoft.playwright.options.WaitForSelectorState.DETACHED));
    }

    @Test
    void shouldExplainAnEmptyOverview() {
        Page page = open("#/", null);
        page.evaluate("() => send('jvms', {machine: {cpu: [1], processors: 2}, jvms: []})");
        assertThat(page.locator(".empty").textContent()).contains("No JVM is running");
    }
}
