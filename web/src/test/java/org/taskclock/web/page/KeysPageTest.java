// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.TimeoutError;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each key that the page's help lists does what it says. */
@Tag("slow17")
class KeysPageTest {
    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension("lightly", "system", "yield", "idle=30");

    /** A key and a condition that its action makes true, which is false before. */
    private record Effect(String key, String condition) {}

    private static final Page.WaitForFunctionOptions TIMEOUT = new Page.WaitForFunctionOptions().setTimeout(20_000);
    private static final String SORT = "document.querySelector('[aria-sort] button').dataset.sort === '%s'";
    private static final String DIALOG = "document.querySelector('dialog[open] h2')?.textContent.startsWith('%s')";
    private static final String ROW = "document.querySelector('.body .row.selected')?.dataset.index %s";
    private static final String RANGE =
            "document.querySelector('.segments [aria-pressed=true]')?.dataset.range === '%s'";
    private static final String FOCUS = "document.activeElement.type === 'search'";
    private static final String CHILDREN = "document.querySelectorAll('.body .row.child:not([hidden])').length %s";
    private static final String ON =
            "document.querySelector('button[aria-keyshortcuts=\"%s\"]').ariaPressed === 'true'";
    private static final String OFF = ON.replace("'true'", "'false'");
    private static final String MOVED = "location.hash.includes('from=') && location.hash !== window.old";
    private static final String TAGGED = "document.querySelectorAll('.body .row.tagged').length %s";

    private static Effect effect(String key, String condition, String value) {
        return new Effect(key, condition.replace("%s", value));
    }

    private static Effect effect(String key, String condition) {
        return effect(key, condition, "");
    }

    /** In the order in which they are pressed. Escape closes what a key has opened. */
    private static List<Effect> effects() {
        List<Effect> all = new ArrayList<>();
        all.add(effect("?", DIALOG, "Keys"));
        all.add(effect("F1", DIALOG, "Keys"));
        all.add(effect("O", DIALOG, "Open a file"));
        all.add(effect("L", "document.documentElement.style.colorScheme === 'light'"));
        all.add(effect("T", SORT, "time"));
        all.add(effect("N", SORT, "tid"));
        all.add(effect("M", SORT, "wait"));
        all.add(effect("S", SORT, "system"));
        all.add(effect("V", SORT, "voluntary"));
        all.add(effect("X", SORT, "involuntary"));
        all.add(effect("R", SORT, "rise"));
        all.add(effect("P", SORT, "cpu"));
        all.add(effect("I", "document.querySelector('[aria-sort]').ariaSort === 'ascending'"));
        all.add(effect("I", "document.querySelector('[aria-sort]').ariaSort === 'descending'"));
        all.add(effect(">", SORT, "user"));
        all.add(effect("<", SORT, "cpu"));
        // Rows that move while they are selected would end up elsewhere.
        all.add(effect("N", SORT, "tid"));
        all.add(effect("Home", ROW, "=== '0'"));
        all.add(effect("ArrowDown", ROW, "=== '1'"));
        all.add(effect("ArrowUp", ROW, "=== '0'"));
        all.add(effect("PageDown", ROW, "> 3"));
        all.add(effect("PageUp", ROW, "=== '0'"));
        all.add(effect("End", ROW, "> 3"));
        all.add(effect("P", SORT, "cpu"));
        all.add(effect("*", CHILDREN, "> 5"));
        all.add(effect("*", CHILDREN, "=== 0"));
        all.add(effect("t", OFF, "t"));
        all.add(effect("F5", ON, "t"));
        all.add(effect("a", DIALOG, "Accounts"));
        all.add(effect("i", OFF, "i"));
        all.add(effect("i", ON, "i"));
        all.add(effect("K", OFF, "K"));
        all.add(effect("K", ON, "K"));
        all.add(effect(" ", TAGGED, "> 0"));
        all.add(effect("U", TAGGED, "=== 0"));
        all.add(effect("C", DIALOG, "Columns"));
        all.add(effect("/", FOCUS));
        all.add(effect("F3", FOCUS));
        all.add(effect("F4", FOCUS));
        all.add(effect("\\", FOCUS));
        all.add(effect("F2", "document.querySelectorAll('.why[open]').length > 0"));
        all.add(effect("D", "document.querySelectorAll('.why[open]').length === 0"));
        all.add(effect("m", DIALOG, "Profile"));
        all.add(effect("B", DIALOG, "Report"));
        all.add(effect("y", DIALOG, "Calls of Thread.yield"));
        all.add(effect("r", DIALOG, "Recordings"));
        all.add(effect("A", DIALOG, "Please confirm"));
        all.add(effect("k", DIALOG, "Add a mark"));
        all.add(effect("p", "document.querySelector('.range-text').textContent.includes('paused')"));
        all.add(effect("Z", "!document.querySelector('.range-text').textContent.includes('paused')"));
        List<String> ranges = List.of("15m", "1h", "6h", "24h", "7d", "30d");
        for (int i = 0; i < ranges.size(); i++) all.add(effect(Integer.toString(i + 2), RANGE, ranges.get(i)));
        all.add(effect("1", RANGE, "live"));
        for (String key : List.of("z", "o", "[", "]", "{", "}")) all.add(effect(key, MOVED));
        all.add(effect("=", "location.hash.includes('compare=')"));
        all.add(effect("Escape", "!location.hash.includes('compare=')"));
        all.add(effect("1", RANGE, "live"));
        return all;
    }

    private static boolean holds(Page page, String condition) {
        return (boolean) page.evaluate("() => Boolean(" + condition + ")");
    }

    private static void press(Page page, Effect effect) {
        page.evaluate("() => { window.old = location.hash; }");
        assertThat(holds(page, effect.condition)).as("before " + effect).isFalse();
        page.keyboard().press(effect.key.equals(" ") ? "Space" : effect.key);
        try {
            page.waitForFunction("() => " + effect.condition, null, TIMEOUT);
        } catch (TimeoutError e) {
            throw new AssertionError("after " + effect, e);
        }
        // Closes a dialog, or leaves the filter.
        if (effect.condition.contains("dialog") || effect.condition.equals(FOCUS)) {
            page.keyboard().press("Escape");
            page.waitForFunction(
                    "() => !document.querySelector('dialog[open]') && document.activeElement.type !== 'search'");
        }
    }

    /** Returns the keys that the help lists. */
    private static Set<String> listed(Page page) {
        page.keyboard().press("?");
        page.locator("dialog .help").waitFor();
        Set<String> keys = new HashSet<>();
        for (String text : page.locator("dialog kbd").allTextContents()) {
            String names = text.replace("arrows", "ArrowUp ArrowDown")
                    .replace("PgUp", "PageUp")
                    .replace("PgDn", "PageDown")
                    .replace("1 to 7", "1 2 3 4 5 6 7");
            if (!text.startsWith("Alt")) keys.addAll(Arrays.asList(names.split("[ ,]+", -1)));
        }
        // Separated by a comma, but a key too.
        keys.remove("");
        page.keyboard().press("Escape");
        page.waitForFunction("() => !document.querySelector('dialog[open]')");
        return keys;
    }

    @Test
    void shouldDoWhatTheHelpSays() {
        Page page = BROWSER.open("");
        page.waitForFunction("() => events.interval?.length > 4");
        page.locator(".finding-row").first().waitFor();
        Set<String> tested = new HashSet<>();
        for (Effect effect : effects()) {
            // On a busy machine, the yielder may be too slow for a finding at times.
            if (effect.key.equals("F2")) page.locator(".finding-row").first().waitFor();
            press(page, effect);
            tested.add(effect.key.equals(" ") ? "Space" : effect.key);
        }
        // A group is opened and closed; Enter shows the stack of a thread.
        page.keyboard().press("/");
        page.keyboard().type("pool-");
        page.keyboard().press("Enter");
        page.waitForFunction("() => document.querySelectorAll('.body .row:not([hidden])').length === 1");
        page.keyboard().press("Home");
        press(page, effect("+", CHILDREN, "> 5"));
        press(page, effect("-", CHILDREN, "=== 0"));
        press(page, effect("Enter", CHILDREN, "> 5"));
        page.keyboard().press("ArrowDown");
        press(page, effect("Enter", DIALOG, "pool-7-thread-"));
        // Findings are marks of the history.
        page.waitForFunction("() => document.querySelector('.mark-finding')");
        press(page, effect("(", "location.hash.includes('begin=')"));
        page.evaluate("() => { location.hash = location.hash.replace(/begin=\\d+/, 'begin=1'); }");
        press(page, effect(")", "/begin=\\d{5}/.test(location.hash)"));
        press(page, effect("Escape", "!location.hash.includes('begin=')"));
        assertThat(page.waitForDownload(() -> page.keyboard().press("s")).suggestedFilename())
                .endsWith(".png");
        page.goBack();
        page.waitForFunction("() => location.hash.includes('begin=')");
        tested.addAll(List.of("+", "-", "Enter", "(", ")", "Escape", "s", "drag"));
        tested.addAll(List.of("c", "q"));
        Set<String> listed = listed(page);
        for (String key : List.of("c", "q")) {
            BROWSER.open(page, "");
            press(page, effect(key, "location.hash === '#/'"));
        }
        // Only the overview says where.
        page.locator(".finding-line .where").first().waitFor();
        press(page, effect("D", "document.activeElement.classList.contains('finding-line')"));
        assertThat(listed).isSubsetOf(tested).hasSizeGreaterThan(50);
    }
}
