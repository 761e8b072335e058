// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.WaitForSelectorState;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.history.HistoryOptions;
import org.taskclock.monitor.fleet.FleetOptions;
import org.taskclock.testing.LoadJvm;
import org.taskclock.web.FleetServer;
import org.taskclock.web.ServerOptions;
import org.taskclock.web.fleet.FakePrometheus;
import org.taskclock.web.fleet.PrometheusOptions;
import org.taskclock.web.http.WebException;
import org.taskclock.web.metrics.ExporterOptions;

/** The page of a fleet, from the overview to a thread on a host. */
@Tag("slow17")
class FleetPageTest {
    private static final String CPU = "taskclock_process_cpu_time_seconds:rate5m";
    private static final String HOURS = "taskclock_process_cpu_time_seconds:rate1h";
    private static final String HOSTILE = "<img src=x onerror=alert(1)>\"'\n}";

    @TempDir
    private Path data;

    private Chromium chromium;
    private FakePrometheus prometheus;

    @BeforeEach
    void start() throws Exception {
        chromium = Chromium.start();
        prometheus = new FakePrometheus();
    }

    @AfterEach
    void stop() {
        if (chromium != null) chromium.close();
        if (prometheus != null) prometheus.close();
    }

    private FleetServer serve(String hostUrl) throws WebException {
        return serve(prometheus, data, hostUrl);
    }

    /** Starts a server of a fleet, whose links lead to an address. */
    static FleetServer serve(FakePrometheus prometheus, Path data, String hostUrl) throws WebException {
        ExporterOptions exporter = new ExporterOptions(
                "127.0.0.1:0",
                null,
                new FleetOptions(List.of(), null, 100, Duration.ofMinutes(1), false),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                null,
                "test");
        ServerOptions options = new ServerOptions(
                exporter,
                data,
                HistoryOptions.DEFAULT,
                null,
                null,
                null,
                false,
                false,
                0,
                List.of(),
                List.of(),
                null,
                (pid, redact, file) -> {},
                Clock.systemUTC());
        return new FleetServer(options, new PrometheusOptions(prometheus.url(), null, hostUrl, 0.05), line -> {});
    }

    /** A service with three JVMs, of which one uses more than its siblings, and a service with a hostile name. */
    private void addFleet(String jvmLabel) {
        double now = System.currentTimeMillis() / 1_000.0;
        for (String service : new String[] {"orders", HOSTILE}) {
            Map<String, String> labels = Map.of("service", service);
            double cpu = service.equals("orders") ? 12 : 3;
            prometheus.add("topk(1000, sum by (service) (service:" + CPU + "))", labels, cpu);
            prometheus.add("topk(1000, sum by (service) (sum_over_time(service:" + HOURS, labels, cpu * 24);
            prometheus.add("sum by (service) (service:" + CPU + "{", labels, cpu);
        }
        prometheus.add("topk(1000, sum by (service) (service:" + CPU + " offset", Map.of("service", "orders"), 6);
        prometheus.add("taskclock_jvm_outliers:count", Map.of("service", "orders"), 1);
        for (String[] jvm :
                new String[][] {{jvmLabel, "4.2", "11"}, {"orders-7", "1", "12"}, {"orders-8", "1", "13"}}) {
            Map<String, String> labels = Map.of("jvm", jvm[0], "instance", "127.0.0.1:" + jvm[2]);
            double cpu = Double.parseDouble(jvm[1]);
            prometheus.add("topk(1000, sum by (jvm, instance) (jvm:" + CPU + "{service=\"orders\"}))", labels, cpu);
            prometheus.add("topk(1000, sum by (jvm, instance) (sum_over_time(jvm:" + CPU, labels, cpu * 288);
            prometheus.add("sum by (jvm, instance) (jvm:" + CPU + "{service=\"orders\",", labels, cpu);
        }
        prometheus.add("median_rate5m", Map.of(), 1);
        prometheus.add(
                "last_over_time(jvm_finding:",
                Map.of(
                        "taskclock_finding_kind",
                        "yield-storm",
                        "service",
                        "orders",
                        "jvm",
                        jvmLabel,
                        "instance",
                        "127.0.0.1:11"),
                now - 600);
        prometheus.add(
                "topk(200, jvm_finding:",
                Map.of(
                        "taskclock_finding_kind",
                        "yield-storm",
                        "service",
                        "orders",
                        "jvm",
                        jvmLabel,
                        "instance",
                        "127.0.0.1:11"),
                now - 600);
        double hour = now - 3_600;
        for (String metric : new String[] {CPU, "taskclock_jvms:count"}) {
            String query = "sum by (service_version) (service_version:" + metric + "{service=\"orders\"}";
            prometheus.add(query, Map.of("service_version", "1.2"), time -> time < hour ? 4 : Double.NaN);
            prometheus.add(query, Map.of("service_version", HOSTILE), time -> time < hour ? Double.NaN : 6);
        }
        prometheus.add("sum(service:" + CPU + "{service=\"orders\"} offset 1w)", Map.of(), 6);
        prometheus.add("sum(service:" + CPU + "{service=\"orders\"})", Map.of(), 12);
        prometheus.add("sum(sum_over_time(", Map.of(), 15 * 288);
        prometheus.add("offset 1w)", Map.of(), 10);
        prometheus.add("sum(fleet:" + CPU + ")", Map.of(), 15);
    }

    @Test
    void shouldLeadFromTheFleetToAThreadInTwoClicks() throws Exception {
        try (LoadJvm jvm = LoadJvm.start("busy");
                PageServer host = new PageServer(data.resolve("host"), null)) {
            host.idOf(jvm.pid());
            addFleet("orders-" + jvm.pid());
            try (FleetServer fleet = serve(host.url() + "?from={host}")) {
                Page page = chromium.page();
                page.navigate(fleet.url());
                page.locator(".big:has-text('15.0 cores, +50.0 % against a week earlier')")
                        .waitFor();
                assertThat(page.locator(".body .row:not([hidden])").allTextContents())
                        .hasSize(2)
                        .anySatisfy(row -> assertThat(row).contains("<img src=x onerror=alert(1)>"));
                assertThat(page.locator("img").count()).isZero();
                page.locator(".body .row >> text=orders").click();
                page.locator(".body .row.hit:has-text('127.0.0.1:11')").waitFor();
                assertThat(page.locator(".body .row.hit").count()).isEqualTo(1);
                assertThat(page.locator(".marks .mark-deployment").count()).isEqualTo(1);
                assertThat(page.locator("[aria-label=Versions] tbody tr").allTextContents())
                        .hasSize(2)
                        .anySatisfy(row -> assertThat(row).contains("<img"));
                assertThat(page.locator(".finding-line").getAttribute("href")).contains("begin=");
                page.locator(".body .row.hit a.label").click();
                page.locator(".body .row:has-text('a busy thread')").first().waitFor();
                assertThat(page.url()).startsWith(host.url());
            }
        }
        assertThat(chromium.problems()).isEmpty();
    }

    @Test
    void shouldShowEachDimensionSortAndFilter() throws Exception {
        addFleet("orders-9");
        String pools = "taskclock_thread_cpu_time_seconds:rate5m";
        for (String pool : new String[] {"GC Thread#", "http-#"})
            prometheus.add(
                    "topk(1000, sum by (taskclock_pool_name, taskclock_pool_kind) (pool:" + pools + "))",
                    Map.of("taskclock_pool_name", pool, "taskclock_pool_kind", "java"),
                    pool.length());
        try (FleetServer fleet = serve("http://{instance}/")) {
            Page page = chromium.page();
            page.navigate(fleet.url());
            page.locator("[data-by=pool]").click();
            Locator rows = page.locator(".body .row:not([hidden])");
            page.locator(".body .row:has-text('http-#')").waitFor();
            assertThat(rows.first().textContent()).contains("GC Thread#");
            page.locator("[data-sort=name]").click();
            page.locator("[data-sort=name]").click();
            page.waitForFunction("() => document.querySelector('.body .row').textContent.includes('http')");
            page.locator("input[type=search]").fill("gc");
            page.waitForFunction("() => document.querySelectorAll('.body .row:not([hidden])').length === 1");
            assertThat(page.url()).contains("by=pool").contains("filter=gc");
        }
        assertThat(chromium.problems()).isEmpty();
    }

    @Test
    void shouldBeAccessibleAndFitAPhone() throws Exception {
        NodeModules.install();
        addFleet("orders-9");
        try (FleetServer fleet = serve("http://{instance}/")) {
            for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
                for (int width : new int[] {1280, 400}) {
                    Page page = chromium.page(width, 900, scheme);
                    page.navigate(fleet.url());
                    page.locator(".body .row >> text=orders").waitFor();
                    check(page, scheme + " " + width + ": fleet", width);
                    page.locator(".body .row >> text=orders").click();
                    page.locator("[aria-label=Versions] tbody tr").first().waitFor();
                    check(page, scheme + " " + width + ": service", width);
                    page.close();
                }
            }
        }
        assertThat(chromium.problems()).isEmpty();
    }

    /** Checks the access of all readers, and that only the table scrolls sideways, to its last column. */
    private static void check(Page page, String what, int width) throws Exception {
        NodeModules.checkAccess(page, what);
        assertThat(page.evaluate("() => document.documentElement.scrollWidth"))
                .as(what)
                .isEqualTo(width);
        assertThat((boolean) page.evaluate("""
                () => {
                  const scroller = document.querySelector('.table');
                  scroller.scrollLeft = 10_000;
                  const table = scroller.getBoundingClientRect();
                  const cells = [...document.querySelector('.body .row').children];
                  const name = cells[0].getBoundingClientRect(), end = cells.at(-1).getBoundingClientRect();
                  return cells.length > 3 && end.right <= table.right + 1 && Math.abs(name.left - table.left) < 2;
                }
                """)).as(what + ": the last column").isTrue();
    }

    @Test
    void shouldExplainFailuresInOneLine() throws Exception {
        prometheus.reply = new FakePrometheus.Reply(401, "", Map.of());
        try (FleetServer fleet = serve("http://{instance}/")) {
            Page page = chromium.page();
            page.navigate(fleet.url());
            Locator problem = page.locator("#problems [data-name=fleet]:has-text('rejects the credentials (401)')");
            problem.waitFor();
            assertThat(page.locator("#problems p").count()).isEqualTo(1);
            prometheus.reply = null;
            addFleet("orders-9");
            page.locator("[data-range='6h']").click();
            page.locator(".big:has-text('15.0 cores')").waitFor();
            problem.waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.DETACHED));
        }
        assertThat(chromium.problems()).allSatisfy(line -> assertThat(line).contains("502"));
    }
}
