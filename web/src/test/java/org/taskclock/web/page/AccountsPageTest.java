// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.BoundingBox;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Named accounts on the page, live and in the history. */
@Tag("slow17")
class AccountsPageTest {
    private static final double TOLERANCE = 2; // percent of a core
    private static final int HISTORY_SECONDS = 20;
    private static final String UNACCOUNTED = "(unaccounted)";
    private static final String BY_TENANT = "by=" + AccountLoadProgram.TENANTS;
    private static final String BUTTON = "button[aria-keyshortcuts=a]";

    /** What the page shows instead of characters that it does not allow. */
    private static final String CLEANED =
            AccountLoadProgram.DIRECTIONS.replaceAll("[\u0000-\u001f\u202a-\u202e]", "\ufffd");

    /** The accounts of the last interval as the table shows them: name and CPU. */
    private static final String ROWS = """
            () => [...document.querySelectorAll('.body .row')].filter(row => !row.hidden)
              .map(row => row.querySelector('.label').textContent + ' ' + row.querySelector('[data-column=cpu]').textContent)
            """;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension(AccountLoadProgram.class);

    /** Without the agent, the page tells how to get accounts. Then loads it. */
    @BeforeAll
    static void loadAgent() throws Exception {
        Page page = BROWSER.open("");
        page.waitForFunction("() => events.interval?.length > 2");
        assertThat(page.locator(BUTTON).getAttribute("aria-disabled")).isEqualTo("true");
        assertThat(page.locator(BUTTON).getAttribute("title")).contains("CpuAccounts.type", "Load agent");
        page.keyboard().press("a");
        page.locator("dialog[open] p:has-text('CpuAccounts.type')").waitFor();
        page.keyboard().press("Escape");
        page.waitForFunction("() => !document.querySelector('dialog[open]')");
        assertThat(page.url()).doesNotContain("by=");
        page.keyboard().press("A");
        page.locator("dialog button.primary").click();
        page.locator("button:has-text('Remove agent')").waitFor();
        page.locator(BUTTON + "[aria-disabled=false]").waitFor();
        page.close();
        long deadline = System.nanoTime() + 120_000_000_000L;
        while (knownSteps() < HISTORY_SECONDS) {
            assertThat(System.nanoTime()).as("accounts in the history").isLessThan(deadline);
            Thread.sleep(500);
        }
    }

    private static JsonObject pools(String from, String to) throws Exception {
        return BROWSER.server().get("api/jvms/" + BROWSER.id() + "/pools?points=600&from=" + from + "&to=" + to);
    }

    /** Returns the number of seconds in which the history has CPU time of a tenant. */
    private static long knownSteps() throws Exception {
        long now = System.currentTimeMillis();
        long steps = 0;
        for (JsonElement one :
                pools(String.valueOf(now - 300_000), String.valueOf(now)).getAsJsonArray("accounts")) {
            JsonObject account = one.getAsJsonObject();
            if (!account.get("name").getAsString().equals("acme")) continue;
            for (JsonElement value : account.getAsJsonArray("user"))
                if (!value.isJsonNull() && value.getAsDouble() > 0) steps++;
        }
        return steps;
    }

    private static String lastSeconds(int seconds) {
        long now = System.currentTimeMillis();
        return "?" + BY_TENANT + "&from=" + (now - (seconds + 6) * 1_000L) + "&to=" + (now - 6_000);
    }

    private static void awaitAccounts(Page page) {
        page.waitForFunction("""
                () => document.querySelector('.threads h2').textContent.startsWith('Accounts by tenant')
                  && document.querySelectorAll('.body .row:not([hidden])').length >= 6
                """);
    }

    private static Set<String> texts(Page page, String selector) {
        return page.locator(selector).allTextContents().stream().collect(Collectors.toSet());
    }

    @Test
    void shouldSwitchTheDimension() {
        Page page = BROWSER.open("");
        page.locator(BUTTON + "[aria-disabled=false]").waitFor();
        page.keyboard().press("a");
        page.waitForURL(url -> url.contains("by=endpoint"));
        page.locator("select[aria-label='Type of accounts']").selectOption("tenant");
        page.waitForURL(url -> url.contains(BY_TENANT));
        awaitAccounts(page);
        List<String> names = Stream.concat(
                        AccountLoadProgram.MILLIS.keySet().stream()
                                .map(name -> name.equals(AccountLoadProgram.DIRECTIONS) ? CLEANED : name),
                        Stream.of(AccountLoadProgram.SLOW, UNACCOUNTED))
                .toList();
        assertThat(texts(page, ".body .row:not([hidden]) .label")).containsAll(names);
        assertThat(texts(page, ".legend .label")).containsAll(names);
        assertThat(texts(page, ".heat-names button")).containsAll(names);
        assertThat(page.locator(".caption h2").textContent()).isEqualTo("Accounts over time");
        assertThat(page.locator(BUTTON).getAttribute("aria-pressed")).isEqualTo("true");
        assertThat(page.locator("main img").count()).isZero();
        // Enter highlights an account in all three.
        page.locator(".table").focus();
        page.keyboard().press("Home");
        page.keyboard().press("Enter");
        page.locator(".legend .pool[aria-pressed=true]").waitFor();
        assertThat(page.locator(".heat-names .chosen").textContent())
                .isEqualTo(
                        page.locator(".legend .pool[aria-pressed=true] .label").textContent());
        page.keyboard().press("t");
        page.waitForURL(url -> !url.contains("by="));
        page.locator(".legend .label:text-is('importer')").waitFor();
        assertThat(page.locator("button[aria-keyshortcuts=t]").getAttribute("aria-pressed"))
                .isEqualTo("true");
        assertThat(page.locator(".sections").isHidden()).isTrue();
        page.goBack();
        awaitAccounts(page);
    }

    @Test
    void shouldShowWhatTheApiSends() {
        Page page = BROWSER.open("?" + BY_TENANT);
        awaitAccounts(page);
        page.waitForFunction("() => events.interval?.length > 3");
        Object result = page.evaluate("""
                async () => {
                  const rows = (%s);
                  await new Promise(requestAnimationFrame);
                  await new Promise(requestAnimationFrame);
                  const {accounts, totals} = events.interval.at(-1), shown = rows();
                  const cleaned = name => name.replace(/[\\u0000-\\u001f\\u202a-\\u202e]/g, '\\ufffd');
                  const own = accounts.filter(({type}) => type === 'tenant');
                  const expected = own.map(({name, cpu}) => cleaned(name) + ' ' + cpu.toFixed(1));
                  const sum = own.reduce((total, {cpu}) => total + cpu, 0);
                  return [expected.filter(row => !shown.includes(row)).join('|'), sum, totals.cpu];
                }
                """.formatted(ROWS));
        List<?> values = (List<?>) result;
        assertThat(values.get(0)).isEqualTo("");
        double sum = ((Number) values.get(1)).doubleValue();
        // The agent reports at some other time than the process is read.
        assertThat(sum)
                .as("CPU time of all accounts and of the process")
                .isCloseTo(((Number) values.get(2)).doubleValue(), within(20.0));
    }

    /** The load closes a section every few milliseconds; see AccountLoadProgram. */
    @Test
    void shouldShowSectionsPerSecondAndTheirCpuTime() {
        Page page = BROWSER.open("?" + BY_TENANT);
        awaitAccounts(page);
        page.waitForFunction("() => events.interval?.length > 3");
        page.locator(".head [data-sort=p99]").waitFor();
        Object shown = page.evaluate("""
                () => [...document.querySelectorAll('.body .row')].filter(row => !row.hidden).map(row =>
                  ['.label', '[data-column=sections]', '[data-column=p50]', '[data-column=p99]']
                    .map(cell => row.querySelector(cell).textContent).join(' '))
                """);
        assertThat(shown.toString())
                .containsPattern("acme [1-9][0-9.]* [0-9.]+ (us|ms) [0-9.]+ (us|ms)")
                .contains(UNACCOUNTED + " - - -");
        page.locator("select[aria-label='Type of accounts']").selectOption("endpoint");
        page.waitForURL(url -> url.contains("by=endpoint"));
        page.locator(".head [data-sort=sections]").waitFor();
        assertThat(page.locator(".head [data-sort=p99]").count()).isZero();
        page.keyboard().press("t");
        page.locator(".head [data-sort=voluntary]").waitFor();
        assertThat(page.locator(".head [data-sort=sections]").count()).isZero();
    }

    @Test
    void shouldListOpenSections() {
        Page page = BROWSER.open("?" + BY_TENANT);
        awaitAccounts(page);
        page.locator(".sections tbody tr th:text-is('" + AccountLoadProgram.SLOW + "')")
                .first()
                .waitFor();
        Object first = page.evaluate("""
                () => {
                  const [name, thread, tid] = document.querySelector('.sections tbody tr').children;
                  const sections = events.interval.at(-1).openSections;
                  const {open, cpu} = sections.find(section => section.name === 'slow import');
                  return [name.textContent, thread.textContent, Number(tid.textContent) > 0, open > 5 && cpu > 0 && cpu < open].join();
                }
                """);
        assertThat(first).isEqualTo(AccountLoadProgram.SLOW + ",importer,true,true");
    }

    @Test
    void shouldDrawTheRestInANeutralColor() {
        Page page = BROWSER.open("?" + BY_TENANT);
        awaitAccounts(page);
        // It is on top of the chart, so last in the legend.
        assertThat(page.locator(".legend .pool").last().textContent()).startsWith(UNACCOUNTED);
        assertThat(
                        (String)
                                page.evaluate(
                                        "() => [...document.querySelectorAll('.legend .pool')].at(-1).querySelector('.swatch').style.background"))
                .contains("rgb(195, 202, 211)");
    }

    @Test
    void shouldShowTheHistory() throws Exception {
        Page page = BROWSER.open(lastSeconds(12));
        page.waitForFunction("() => document.querySelector('.threads h2').textContent.includes('average')");
        awaitAccounts(page);
        String[] range =
                page.url().replaceFirst(".*from=(\\d+)&to=(\\d+).*", "$1 $2").split(" ", -1);
        double sum = 0;
        int count = 0;
        for (JsonElement one : pools(range[0], range[1]).getAsJsonArray("accounts")) {
            JsonObject account = one.getAsJsonObject();
            if (!account.get("name").getAsString().equals("acme")) continue;
            for (String part : List.of("user", "system"))
                for (JsonElement value : account.getAsJsonArray(part)) {
                    if (part.equals("user")) count++;
                    sum += value.isJsonNull() ? 0 : value.getAsDouble();
                }
        }
        assertThat(sum).isPositive();
        String shown = (String) page.evaluate("""
                () => [...document.querySelectorAll('.body .row')]
                  .find(row => row.querySelector('.label').textContent === 'acme')
                  .querySelector('[data-column=cpu]').textContent
                """);
        assertThat(Double.parseDouble(shown)).isCloseTo(sum / count, within(TOLERANCE));
    }

    /** The history began later, and what was used before is not known. */
    @Test
    void shouldShowTheSameAverageInTheLegendAndTheTable() {
        Page page = BROWSER.open(lastSeconds(600));
        page.waitForFunction("() => document.querySelector('.threads h2').textContent.includes('average')");
        awaitAccounts(page);
        Object shown = page.evaluate("""
                () => ['.legend .pool', '.body .row:not([hidden])'].map(rows => [...document.querySelectorAll(rows)]
                  .find(row => row.querySelector('.label').textContent === 'acme')
                  .querySelector('b, [data-column=cpu]').textContent)
                """);
        List<?> texts = (List<?>) shown;
        double inLegend = Double.parseDouble(texts.get(0).toString().replace(" %", ""));
        assertThat(inLegend).isGreaterThan(0.5);
        assertThat(Double.parseDouble(texts.get(1).toString())).isCloseTo(inLegend, within(0.2));
    }

    private static void drag(Page page, double from, double to) {
        BoundingBox box = page.locator(".u-over").boundingBox();
        page.mouse().move(box.x + box.width * from, box.y + 50);
        page.mouse().down();
        page.mouse().move(box.x + box.width * to, box.y + 50);
        page.mouse().up();
    }

    @Test
    void shouldCompareAccounts() {
        Page page = BROWSER.open(lastSeconds(14));
        page.keyboard().press("=");
        page.waitForURL(url -> url.contains("compare="));
        drag(page, 0.05, 0.45);
        page.locator("[aria-label=Comparison]:has-text('drag over range B')").waitFor();
        drag(page, 0.5, 0.95);
        page.locator("button:has-text('Show all')").click();
        page.locator(".compare tbody th:text-is('acme')").first().waitFor();
        assertThat(texts(page, "[aria-label=Comparison] tbody td:nth-child(2)"))
                .containsExactlyInAnyOrder("process", "account");
        assertThat(texts(page, "[aria-label=Comparison] tbody th"))
                .contains(AccountLoadProgram.HTML, CLEANED, UNACCOUNTED)
                .doesNotContain("/orders");
        assertThat(page.locator("main img").count()).isZero();
    }

    @Test
    void shouldExportAccounts() throws Exception {
        Page page = BROWSER.open(lastSeconds(10));
        awaitAccounts(page);
        page.locator(".export summary").click();
        Path file = page.waitForDownload(() -> page.locator(".menu p:has-text('By account') a:has-text('CSV')")
                        .click())
                .path();
        assertThat(Files.readString(file))
                .startsWith("time,seconds,jvm,host,pid,service,type,account,cpu_ns,user_ns,system_ns,wait_ns")
                .contains(",tenant,acme,", ",endpoint,/orders,", ",endpoint,/search,");
    }

    @Test
    void shouldHighlightTheAccountOfAFinding() {
        Page page = BROWSER.open("");
        page.locator(BUTTON + "[aria-disabled=false]").waitFor();
        Object state = page.evaluate("""
                async () => {
                  const script = document.querySelector('script[type=module]').src;
                  const {subjectOf} = await import(new URL('findings.js', script).href);
                  const subjects = ['account "tenant=acme"', 'pool "acme"'].map(who => subjectOf({kind: 'a', text: who + ' uses most'}));
                  location.hash = location.hash.replace(/\\?.*/, '') + '?' + new URLSearchParams(subjects[0]);
                  return JSON.stringify(subjects);
                }
                """);
        assertThat(state)
                .isEqualTo("[{\"by\":\"tenant\",\"highlight\":\"key:account acme\"},"
                        + "{\"by\":\"\",\"highlight\":\"pool:acme\"}]");
        page.locator(".legend .pool[aria-pressed=true]:has-text('acme')").waitFor();
        page.locator(".body .row.hit:has-text('acme')").waitFor();
        assertThat(page.locator(".heat-names .chosen").textContent()).isEqualTo("acme");
    }

    @Test
    void shouldShowTheBusiestInTheOverview() {
        Page page = BROWSER.page();
        page.navigate(BROWSER.server().url());
        String line = ".card[data-jvm='" + BROWSER.id() + "'] .busiest";
        page.locator(line + ":has-text('tenant acme')").waitFor();
        assertThat(page.locator(line).textContent()).matches("endpoint /orders [0-9.]+ %, tenant acme [0-9.]+ %");
    }
}
