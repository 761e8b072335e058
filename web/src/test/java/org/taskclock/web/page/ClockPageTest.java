// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The page in a browser whose clock is wrong. */
@Tag("slow17")
class ClockPageTest {
    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension("lightly=2");

    private static Page page(long wrongByMillis) {
        Page page = BROWSER.page();
        page.addInitScript(
                "{const real = Date.now; Date.now = () => real() + " + wrongByMillis + "; window.real = real;}");
        return page;
    }

    @ParameterizedTest
    @ValueSource(longs = {-3 * 86_400_000L, 5_000_000L})
    void shouldShowTheTimeOfTheServer(long wrongByMillis) {
        Page overview = page(wrongByMillis);
        overview.navigate(BROWSER.server().url());
        String up = overview.locator(".card .where").first().textContent();
        assertThat(up).containsPattern("up [0-9]+ (s|min),?");

        Page live = page(wrongByMillis);
        BROWSER.open(live, "");
        live.waitForFunction("() => events.interval?.length > 2");
        // "10:00:00 to 10:01:00, step 1 s": no date, because both are today.
        String range = live.locator(".range-text").textContent();
        assertThat(range).matches("[0-9:]+ to [0-9:]+, step.*");
        assertThat(((Number) live.evaluate("""
                () => {
                  const [, hours, minutes, seconds] = /to (..):(..):(..)/.exec(document.querySelector('.range-text').textContent);
                  const shown = new Date(real());
                  shown.setHours(Number(hours), Number(minutes), Number(seconds));
                  return Math.abs(shown.getTime() - real()) / 1000;
                }
                """)).doubleValue()).isLessThan(20);
        // The last quarter of an hour has the data of the last minutes.
        live.keyboard().press("2");
        live.waitForFunction("() => document.querySelectorAll('.legend .pool').length > 0"
                + " && document.querySelector('[data-range=\"15m\"]').getAttribute('aria-pressed') === 'true'");
    }
}
