// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import java.time.Duration;
import java.util.List;

/**
 * Goes from the page of a fleet to a thread on a host, for dev/integration/fleet/hosts.sh, and prints what it sees.
 * Fails if something is missing.
 */
final class FleetWalk {
    private static final int MAX_TEXT = 240;

    private final Page page;
    private long start;

    private FleetWalk(Page page) {
        this.page = page;
    }

    /**
     * Arguments: the address of the fleet's page, a service, the label instance of one of its JVMs, and a thread and
     * the kind of a finding there.
     */
    public static void main(String[] args) {
        try (Chromium chromium = Chromium.start()) {
            FleetWalk walk = new FleetWalk(chromium.page());
            walk.byService(args[0], args[1], args[2], args[3], args[4]);
            walk.byFinding(args[0], args[2], args[3], args[4]);
            List<String> problems = chromium.problems();
            if (!problems.isEmpty()) throw new IllegalStateException("problems on the pages: " + problems);
        }
    }

    private void byService(String fleet, String service, String instance, String thread, String kind) {
        start = System.nanoTime();
        page.navigate(fleet);
        finding(instance, kind).waitFor();
        // Of many services, the table has only rows that are visible.
        page.keyboard().press("/");
        page.keyboard().type("^" + service + "$");
        Locator row = page.locator(".body .row:not([hidden]):has(.label:text-is('" + service + "'))");
        row.waitFor();
        seen(
                "overview",
                page.locator(".big").textContent() + "; "
                        + page.locator(".alerts h2").textContent());
        row.locator(".label").click();
        Locator jvm = page.locator(".body .row:not([hidden]):has-text('" + instance + "')");
        jvm.waitFor();
        boolean isOutlier = String.valueOf(jvm.getAttribute("class")).contains("hit");
        int jvms = page.locator(".body .row:not([hidden])").count();
        seen("click 1", service + ", " + jvms + " JVMs, " + instance + (isOutlier ? " is an outlier" : ""));
        jvm.locator("a.label").click();
        onHost("click 2", instance, thread, kind);
    }

    private void byFinding(String fleet, String instance, String thread, String kind) {
        start = System.nanoTime();
        page.navigate(fleet);
        finding(instance, kind).click();
        onHost("or click 1 on the finding", instance, thread, kind);
        if (!page.url().contains("begin=")) throw new IllegalStateException(page.url() + ": not when it began");
    }

    private Locator finding(String instance, String kind) {
        return page.locator("a.finding-line:has(.kind:text-is('" + kind + "')):has-text('" + instance + "')");
    }

    private void onHost(String step, String instance, String thread, String kind) {
        page.waitForURL("http://" + instance + "/**");
        Locator row = page.locator(".body .row:not([hidden]):has(.label:text-is('" + thread + "'))");
        row.waitFor();
        Locator found =
                page.locator(".finding-row:has(.kind:text-is('" + kind + "'))").first();
        found.waitFor();
        seen(
                step,
                page.url() + ": " + row.textContent().strip() + "; "
                        + found.textContent().strip());
    }

    private void seen(String step, String what) {
        long millis = Duration.ofNanos(System.nanoTime() - start).toMillis();
        String line = what.replaceAll("\\s+", " ");
        System.out.println(step + ", after " + millis + " ms: " + line.substring(0, Math.min(MAX_TEXT, line.length())));
    }
}
