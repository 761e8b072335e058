// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The flame graph of the range of the chart, from continuous profiles, whose answers are made up here. */
@Tag("slow17")
class RangeFlamePageTest {
    private static final String BUTTON = "button:text-is('Flame graph')";

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension("busy", "idle=3");

    private static void answer(Page page, String path, String type, String body, List<String> asked) {
        page.route(url -> url.contains(path), route -> {
            asked.add(route.request().url());
            route.fulfill(new Route.FulfillOptions().setContentType(type).setBody(body));
        });
    }

    private static void withProfiles(Page page) {
        page.route(url -> url.endsWith("/api/info"), route -> {
            APIResponse answer = route.fetch();
            String text = answer.text().replace("\"profiles\":false", "\"profiles\":true");
            route.fulfill(new Route.FulfillOptions().setResponse(answer).setBody(text));
        });
    }

    @Test
    void shouldShowWhereTheTimeOfTheRangeWent() {
        Page page = BROWSER.page();
        withProfiles(page);
        List<String> asked = new ArrayList<>();
        answer(
                page,
                "/methods?",
                "application/json",
                "{\"seconds\":120,\"cpu\":12.3,\"methods\":[{\"method\":\"<b>hot\",\"self\":10.1,\"total\":12.3}]}",
                asked);
        answer(page, "/flame?", "text/html", "<p>a flame graph</p>", asked);
        BROWSER.open(page, "");
        page.locator(BUTTON).click();
        assertThat(page.locator("dialog tbody tr").textContent()).isEqualTo("10.112.3<b>hot");
        assertThat(page.locator("dialog .summary").textContent())
                .isEqualTo("All threads: CPU 12.3 % of one core in the 2 min that were profiled");
        page.frameLocator("dialog iframe").locator("p").waitFor();
        assertThat(asked).hasSize(2).allMatch(url -> url.contains("from=") && url.contains("&to="));
        assertThat(asked.get(0).replaceFirst(".*\\?", ""))
                .isEqualTo(asked.get(1).replaceFirst(".*\\?", ""));
    }

    @Test
    void shouldSayIfThereAreNoProfilesInTheRange() {
        Page page = BROWSER.page();
        withProfiles(page);
        BROWSER.open(page, "");
        page.locator(BUTTON).click();
        page.locator("dialog .summary.bad").waitFor();
        assertThat(page.locator("dialog .summary").textContent()).contains("start the server with --profile");
        assertThat(BROWSER.chromium().problems()).allMatch(problem -> problem.contains("404"));
    }

    @Test
    void shouldHideTheButtonIfTheServerHasNoProfiles() {
        assertThat(BROWSER.open("").locator(BUTTON).isHidden()).isTrue();
    }
}
