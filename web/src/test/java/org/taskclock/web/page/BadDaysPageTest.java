// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
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
    private static final Gson GSON = new Gson();
    private static final String HOSTILE = "<img src=x onerror=\"alert(1)\">\u202e=cmd|' /C calc'!A0";
    private static final long NOW = 1_800_000_000_000L;

    /** Replaces the streams with one that the test feeds. */
    private static final String FAKE_STREAMS = """
            window.EventSource = class extends EventTarget {
              constructor(url) {
                super();
                (window.streams ||= []).push(this);
                this.url = url;
              }
              close() { this.closed = true; }
            };
            window.send = (name, data) => {
              const event = new MessageEvent(name, {data: JSON.stringify(data)});
              for (const stream of window.streams) if (!stream.closed) stream.dispatchEvent(event);
            };
            """;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension();

    private static Map<String, Object> jvm() {
        return Map.ofEntries(
                Map.entry("id", "1-1"),
                Map.entry("pid", 1),
                Map.entry("service", HOSTILE),
                Map.entry("command", HOSTILE),
                Map.entry("started", NOW - 1_000_000),
                Map.entry("threads", 2),
                Map.entry("cpu", 12.5),
                Map.entry("user", 10),
                Map.entry("system", 2.5),
                Map.entry("sparkline", List.of(1, 2, 3)),
                Map.entry("findings", List.of(Map.of("kind", "yield-storm", "text", HOSTILE, "since", NOW))),
                Map.entry("agent", false));
    }

    private static Map<String, Object> thread(int tid, String name, String pool, double cpu) {
        return Map.of(
                "tid", tid, "name", name, "pool", pool, "kind", "java", "cpu", cpu, "user", cpu / 2, "system", cpu / 2,
                "state", "R", "total", 5);
    }

    private static Map<String, Object> interval(long end, List<Map<String, Object>> threads) {
        return Map.of(
                "end",
                end,
                "intervalNanos",
                1_000_000_000,
                "totals",
                Map.of("cpu", 12.5),
                "threads",
                threads,
                "findings",
                List.of(),
                "notes",
                List.of(HOSTILE));
    }

    private static void answer(Page page, String path, Object json) {
        page.route(
                url -> url.contains("/api/") && url.contains(path),
                route -> route.fulfill(new Route.FulfillOptions()
                        .setContentType("application/json")
                        .setBody(GSON.toJson(json))));
    }

    /** Opens the view of a JVM whose intervals the test sends. */
    private static Page open(String parameters, String problem) {
        Page page = BROWSER.page();
        page.addInitScript(FAKE_STREAMS);
        answer(
                page,
                "/api/jvms",
                Map.of("machine", Map.of("cpu", List.of(1), "processors", 2), "jvms", List.of(jvm())));
        Map<String, Object> range = Map.of(
                "from",
                NOW,
                "to",
                NOW,
                "step",
                1000,
                "times",
                List.of(),
                "pools",
                List.of(),
                "threads",
                List.of(),
                "marks",
                List.of(Map.of("time", NOW - 5_000, "kind", "user", "text", HOSTILE)));
        answer(page, "/pools", range);
        answer(page, "/threads", range);
        Map<String, Object> history = new HashMap<>(Map.of("since", NOW, "bytes", 1));
        history.put("problem", problem);
        String served = page.request().get(BROWSER.server().url() + "api/info").text();
        Map<String, Object> info = new HashMap<>(GSON.fromJson(served, new TypeToken<Map<String, Object>>() {}));
        info.putAll(Map.of("host", HOSTILE, "actions", false, "now", NOW, "history", history));
        answer(page, "/api/info", info);
        page.navigate(BROWSER.server().url() + parameters);
        page.waitForFunction("() => window.streams?.length > 0");
        return page;
    }

    private static void send(Page page, Object interval) {
        page.evaluate(
                "data => send('interval', data)", page.evaluate("text => JSON.parse(text)", GSON.toJson(interval)));
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
                    interval(
                            NOW + i * 1_000L,
                            List.of(thread(7, HOSTILE, HOSTILE, 50), thread(8, "other", "other", 5))));
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
            threads.add(thread(i + 1, "pool-1-thread-" + i, "pool-#-thread-#", i % 10 == 0 ? 0.5 : 0));
        for (int i = 0; i < 5; i++) send(page, interval(NOW + i * 1_000L, threads));
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
        for (int i = 0; i < 5; i++) send(page, interval(NOW + i * 1_000L, List.of(thread(7, "worker", "worker", 50))));
        send(page, interval(NOW - 60_000, List.of(thread(7, "worker", "worker", 50))));
        page.locator("#problems [data-name=clock]:has-text('set back by 64 s')").waitFor();
        send(page, interval(NOW - 59_000, List.of(thread(7, "worker", "worker", 40))));
        page.waitForFunction("() => document.querySelector('.body .row')?.textContent.includes('40.0')");
    }

    @Test
    void shouldSayThatTheHistoryHasAProblem() {
        Page page = open("#/jvm/1-1", "the disk is full");
        assertThat(page.locator("#problems [data-name=history]").textContent()).contains("the disk is full");
        send(page, interval(NOW, List.of(thread(7, "worker", "worker", 50))));
        page.waitForFunction("() => document.querySelector('.body .row .label')?.textContent === 'worker'");
    }

    @Test
    void shouldReconnectAfterSilence() {
        Page page = open("#/jvm/1-1", null);
        send(page, interval(NOW, List.of(thread(7, "worker", "worker", 50))));
        // Nothing arrives, as after a computer slept: the connection is neither closed nor alive.
        page.locator("#problems [data-name=connection]:has-text('Disconnected since')")
                .waitFor();
        page.waitForFunction("() => window.streams.length > 1");
        send(page, interval(NOW + 9_000, List.of(thread(7, "worker", "worker", 50))));
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
