// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The views for readers with a keyboard, a screen reader, or a phone, and the order of the overview. */
@Tag("slow17")
class ViewsPageTest {
    private static final long NOW = FakeServer.NOW;
    private static final int PHONE = 400;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension();

    private static List<Map<String, Object>> jvms(String findingOf) {
        List<Map<String, Object>> jvms = new ArrayList<>();
        String[] services = {"billing", "orders", "search", "mail"};
        double[] cpu = {10, 60, 30, 1};
        for (int i = 0; i < services.length; i++) {
            Map<String, Object> jvm = FakeServer.jvm(i + 1, services[i], cpu[i], cpu[i] / 4);
            if (services[i].equals(findingOf))
                jvm.put("findings", List.of(Map.of("kind", "yield-storm", "text", "\"x\" yields", "since", NOW)));
            if (i % 2 == 1) jvm.put("containerId", "abcdef1234567890");
            jvms.add(jvm);
        }
        return jvms;
    }

    private static Page overview(int width, ColorScheme scheme) {
        Page page = BROWSER.chromium().page(width, 900, scheme);
        FakeServer.open(BROWSER.server().url(), page, "#/", null, "host", jvms("orders"));
        send(page, "orders");
        page.locator(".card").first().waitFor();
        return page;
    }

    private static void send(Page page, String findingOf) {
        FakeServer.send(page, "jvms", FakeServer.jvms(jvms(findingOf)));
    }

    private static Page jvm(String parameters, int width, ColorScheme scheme) {
        Page page = BROWSER.chromium().page(width, 900, scheme);
        FakeServer.open(BROWSER.server().url(), page, "#/jvm/2-1", null, "host", jvms("orders"), () -> {
            FakeServer.answer(page, "/pools", FakeServer.range(NOW - 300_000, 300, "pools", 4));
            FakeServer.answer(page, "/threads", FakeServer.range(NOW - 300_000, 300, "threads", 8));
        });
        if (!parameters.isEmpty()) page.evaluate("hash => location.hash = hash", "#/jvm/2-1" + parameters);
        List<Map<String, Object>> threads = new ArrayList<>();
        for (int i = 0; i < 30; i++)
            threads.add(FakeServer.thread(i + 1, "thread-" + i, "pool-" + i % 4, 20.0 / (i + 1), 5.0 / (i + 1)));
        for (int i = 0; i < 3 && parameters.isEmpty(); i++)
            FakeServer.send(page, "interval", FakeServer.interval(NOW + i * 1_000L, threads));
        page.locator(".body .row").first().waitFor();
        page.waitForFunction("() => document.querySelectorAll('.legend .pool').length === 4");
        return page;
    }

    @SuppressWarnings("unchecked")
    private static List<String> names(Page page) {
        return (List<String>)
                page.evaluate("() => [...document.querySelectorAll('.card h3')].map(one => one.textContent)");
    }

    private static Object places(Page page) {
        return page.evaluate("() => [...document.querySelectorAll('.card')].map(one => one.textContent.slice(0, 4)"
                + " + JSON.stringify(one.getBoundingClientRect())).sort()");
    }

    @Test
    void shouldBeAccessible() throws Exception {
        NodeModules.install();
        for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
            for (int width : new int[] {1280, PHONE}) {
                String what = scheme + " " + width + ": ";
                Page overview = overview(width, scheme);
                NodeModules.checkAccess(overview, what + "overview");
                overview.keyboard().press("?");
                NodeModules.checkAccess(overview, what + "help");
                overview.close();
                Page live = jvm("", width, scheme);
                NodeModules.checkAccess(live, what + "live");
                for (String key : List.of("C", "r", "m", "y", "A", "B", "a", "O")) {
                    live.locator(".table").focus();
                    live.keyboard().press(key);
                    live.locator("dialog[open]").waitFor();
                    NodeModules.checkAccess(live, what + "dialog " + key);
                    live.keyboard().press("Escape");
                }
                live.close();
                Page history = jvm("?from=" + (NOW - 250_000) + "&to=" + (NOW - 50_000), width, scheme);
                NodeModules.checkAccess(history, what + "history");
                history.close();
            }
        }
        // The lists of recordings and profiles are those of the real server, which does not know this JVM.
        BROWSER.chromium().problems();
    }

    @Test
    void shouldKeepCardsInPlaceWhenFindingsComeAndGo() {
        for (int width : new int[] {1280, PHONE}) {
            Page page = overview(width, ColorScheme.LIGHT);
            Object before = places(page);
            send(page, "none");
            page.locator(".findings h2:has-text('No findings')").waitFor();
            assertThat(page.locator(".tag").count()).isZero();
            assertThat(places(page)).isEqualTo(before);
            send(page, "mail");
            page.locator(".card:has-text('mail') .tag").waitFor();
            assertThat(places(page)).isEqualTo(before);
            page.close();
        }
    }

    @Test
    void shouldFilterGroupAndOrderCards() {
        Page page = overview(1280, ColorScheme.LIGHT);
        assertThat(names(page)).containsExactly("billing", "orders", "search", "mail");
        page.locator("[aria-label='Order by'] button:has-text('CPU')").click();
        assertThat(names(page)).containsExactly("orders", "search", "billing", "mail");
        page.locator("[aria-label='Group by'] button:has-text('Container')").click();
        assertThat(page.locator(".group-title").allTextContents())
                .containsExactly("container abcdef123456: 76.3 %, 2 JVMs", "no container: 50.0 %, 2 JVMs");
        assertThat(names(page)).containsExactly("orders", "mail", "search", "billing");
        page.keyboard().press("/");
        page.keyboard().type("^(ord|sea)");
        assertThat(names(page)).containsExactly("orders", "search");
        assertThat(page.locator(".cards-bar .note").first().textContent()).isEqualTo("2 of 4");
        page.keyboard().type("(");
        assertThat(page.locator(".cards-bar input").getAttribute("aria-invalid"))
                .isEqualTo("true");
        assertThat(names(page)).containsExactly("orders", "search");
        assertThat(page.url()).contains("order=cpu").contains("group=container").contains("filter=");
        // The address shows others the same.
        String address = page.url().substring(page.url().indexOf('#'));
        Page other = BROWSER.page();
        FakeServer.open(BROWSER.server().url(), other, address, null, "host", jvms("none"));
        send(other, "none");
        assertThat(names(other)).containsExactly("orders", "search");
    }

    /** The last second of the history may be idle. */
    @Test
    void shouldShowTheSameInTheLegendAndTheTableBeforeTheFirstInterval() {
        Page page = BROWSER.chromium().page(1280, 900, ColorScheme.LIGHT);
        List<Long> times = List.of(NOW - 3_000, NOW - 2_000, NOW - 1_000);
        Map<String, Object> pool = Map.of("pool", "pool-0", "kind", "java", "system", List.of(0, 0, 0));
        Map<String, Object> range = Map.of("from", NOW - 3_000, "to", NOW, "step", 1000, "times", times);
        Map<String, Object> pools = new HashMap<>(range);
        pools.put("pools", List.of(with(pool, "user", List.of(60, 30, 0))));
        Map<String, Object> threads = new HashMap<>(range);
        Map<String, Object> thread = with(with(pool, "tid", 1), "name", "thread-0");
        threads.put("threads", List.of(with(thread, "cpu", List.of(60, 30, 0))));
        FakeServer.open(BROWSER.server().url(), page, "#/jvm/2-1", null, "host", jvms("orders"), () -> {
            FakeServer.answer(page, "/pools", pools);
            FakeServer.answer(page, "/threads", threads);
        });
        page.locator(".body .row [data-column=cpu]:text-is('30.0')").first().waitFor();
        assertThat(page.locator(".legend .pool b").textContent()).isEqualTo("30.0 %");
        FakeServer.send(page, "interval", FakeServer.interval(NOW, List.of(FakeServer.thread(1, "x", "pool-0", 20))));
        page.locator(".legend .pool b:text-is('20.0 %')").waitFor();
        page.close();
    }

    private static Map<String, Object> with(Map<String, Object> map, String name, Object value) {
        Map<String, Object> copy = new HashMap<>(map);
        copy.put(name, value);
        return copy;
    }

    @Test
    void shouldSayHowToGetAccounts() {
        Page page = jvm("", 1280, ColorScheme.LIGHT);
        String button = "button[aria-keyshortcuts=a]";
        assertThat(page.locator(button).getAttribute("title"))
                .startsWith("Named accounts need the agent. Load it with ");
        Map<String, Object> interval = with(
                FakeServer.interval(NOW + 3_000, List.of(FakeServer.thread(1, "x", "pool-0", 20))), "source", "agent");
        FakeServer.send(page, "interval", interval);
        page.locator(button + "[title^='This program has no named accounts yet.']")
                .waitFor();
        assertThat(page.locator(button).getAttribute("title")).doesNotContain("Load");
        page.close();
    }

    @Test
    void shouldReachAllColumnsOnAPhone() {
        Page page = jvm("?pools=0", PHONE, ColorScheme.LIGHT);
        assertThat(page.evaluate("() => document.documentElement.scrollWidth")).isEqualTo(PHONE);
        page.evaluate("() => document.querySelector('.table').scrollLeft = 10_000");
        assertThat((boolean) page.evaluate("""
                () => {
                  const table = document.querySelector('.table').getBoundingClientRect();
                  const cells = document.querySelector('.body .row').children, last = cells[cells.length - 1];
                  const name = cells[0].getBoundingClientRect(), end = last.getBoundingClientRect();
                  return cells.length > 7 && end.right <= table.right + 1 && Math.abs(name.left - table.left) < 2;
                }
                """)).isTrue();
        // Each name is above its cells.
        double heat = page.locator(".heat canvas").boundingBox().height;
        assertThat(heat).isEqualTo(8 * 33);
    }
}
