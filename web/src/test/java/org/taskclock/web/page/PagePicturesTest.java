// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ColorScheme;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;
import org.taskclock.web.FleetServer;
import org.taskclock.web.fleet.FakePrometheus;

/**
 * Takes the pictures in the documentation: what a reader sees in the first minutes, from the overview to the cause of a
 * finding, and of a fleet whose figures are made up. The system property {@code pictures.directory} is where to write
 * them ({@code docs/images/serve.sh}).
 */
@Tag("slow")
class PagePicturesTest {
    private static final int WIDTH = 1200;
    private static final int HEIGHT = 1010;

    /** Without the problem, and then with it. */
    private static final long MINUTE_MILLIS = 60_000;

    private static final double DAY_SECONDS = 86_400;
    private static final double DEPLOYED_BEFORE_SECONDS = 21_600;
    private static final List<String> SERVICES =
            List.of("checkout", "search", "orders", "ingest", "catalog", "billing");
    private static final String CPU = "taskclock_process_cpu_time_seconds:rate5m";

    @TempDir
    private Path data;

    private static LoadJvm start(String service, String... loads) throws IOException {
        return LoadJvm.start(arguments("-Dotel.service.name=" + service, loads));
    }

    private static String[] arguments(String option, String... others) {
        return Stream.concat(Stream.of(option), Arrays.stream(others)).toArray(String[]::new);
    }

    /** On a busy machine, another finding may have begun. There is evidence of one a minute for each JVM. */
    private void awaitEvidenceMayBeKept() throws Exception {
        Path evidence = data.resolve("host").resolve("evidence");
        for (long last = 0; Files.isDirectory(evidence); Thread.sleep(1_000)) {
            try (Stream<Path> files = Files.list(evidence)) {
                for (Path file : files.toList())
                    last = Math.max(last, file.toFile().lastModified());
            }
            if (System.currentTimeMillis() - last > MINUTE_MILLIS) return;
        }
    }

    private static void take(Page page, String name, int height) {
        page.setViewportSize(WIDTH, height);
        // A hovered element would look different.
        page.mouse().move(0, 0);
        page.waitForTimeout(1_500);
        Path file = Path.of(System.getProperty("pictures.directory"), "serve-" + name + ".png");
        page.screenshot(new Page.ScreenshotOptions().setPath(file));
    }

    private static void drag(Page page, double from, double to) {
        BoundingBox box = page.locator(".u-over").boundingBox();
        page.mouse().move(box.x + box.width * from, box.y + 60);
        page.mouse().down();
        page.mouse().move(box.x + box.width * to, box.y + 60);
        page.mouse().up();
    }

    private static void compare(Page page) {
        long begin = Long.parseLong(page.url().replaceFirst(".*begin=(\\d+).*", "$1"));
        page.evaluate(
                "range => location.hash = location.hash.replace(/\\?.*/, '') + range",
                "?from=" + (begin - MINUTE_MILLIS) + "&to=" + (begin + MINUTE_MILLIS) + "&compare=on");
        page.waitForFunction("() => document.querySelector('.range-text').textContent.includes('step 1 s')");
        page.setViewportSize(WIDTH, HEIGHT);
        page.evaluate("() => document.querySelector('.timeline').scrollIntoView()");
        drag(page, 0.05, 0.45);
        page.waitForFunction("() => /Now drag/.test(document.querySelector('main').textContent)");
        drag(page, 0.55, 0.95);
        page.locator(".compare tbody tr").first().waitFor();
    }

    /** Six services over a day. One has had a new version for six hours, which uses more. */
    private static void addServices(FakePrometheus prometheus) {
        double now = System.currentTimeMillis() / 1_000.0;
        double deployed = now - DEPLOYED_BEFORE_SECONDS;
        double all = 0;
        for (String service : SERVICES) {
            double cores = 48.0 / (SERVICES.indexOf(service) + 1);
            all += cores;
            double more = service.equals("orders") ? 1.6 : 1;
            DoubleUnaryOperator cpu = time -> wave(time) * cores * (time < deployed ? 1 : more);
            Map<String, String> labels = Map.of("service", service);
            prometheus.add("topk(1000, sum by (service) (service:" + CPU + "))", labels, cpu);
            prometheus.add("topk(1000, sum by (service) (service:" + CPU + " offset", labels, cpu);
            prometheus.add("topk(1000, sum by (service) (sum_over_time(service:", labels, cores * 24);
            prometheus.add("sum by (service) (service:" + CPU + "{", labels, cpu);
            prometheus.add("(service) (service:taskclock_jvms:count))", labels, Math.ceil(cores / 2));
        }
        double sum = all;
        Map<String, String> service = Map.of("service", "orders");
        Map<String, String> version = Map.of("service", "orders", "service_version", "2.3");
        Map<String, String> finding = Map.of(
                "taskclock_finding_kind",
                "yield-storm",
                "service",
                "orders",
                "jvm",
                "orders-7c9d-x2",
                "instance",
                "node-17:10077");
        prometheus.add("taskclock_jvm_outliers:count", service, 1);
        prometheus.add("count by (service) (jvm_finding:", service, 1);
        prometheus.add("last_over_time(jvm_finding:", finding, deployed + 600);
        prometheus.add("topk(200, jvm_finding:", finding, deployed + 600);
        prometheus.add(" unless ", version, 8);
        prometheus.add("service_version:taskclock_jvms:count{", version, time -> time < deployed ? Double.NaN : 8);
        prometheus.add("sum(sum_over_time(", Map.of(), sum * 288);
        prometheus.add("sum(fleet:" + CPU, Map.of(), time -> {
            double orders = 48.0 / (SERVICES.indexOf("orders") + 1);
            return wave(time) * (sum + (time < deployed ? 0 : 0.6 * orders));
        });
    }

    /** More in the afternoon than at night. */
    private static double wave(double time) {
        return 1 + 0.4 * Math.sin(2 * Math.PI * (time / DAY_SECONDS - 0.35));
    }

    @Test
    @Timeout(value = 15, unit = TimeUnit.MINUTES)
    void shouldTakePictures() throws Exception {
        assumeTrue(System.getProperty("pictures.directory") != null, "run docs/images/serve.sh");
        try (Chromium chromium = Chromium.start();
                PageServer server = new PageServer(data.resolve("host"), null);
                LoadJvm billing = start("billing", "lightly=3", "idle=20");
                LoadJvm orders = start("orders", "lightly=4", "carrier", "idle=12");
                LoadJvm search = start("search", "allocate", "lightly=6", "idle=30");
                LoadJvm mail = start("mail", "lightly", "idle=8");
                LoadJvm reports = start("reports", "lightly=2", "idle=4")) {
            for (LoadJvm jvm : List.of(billing, orders, search, mail, reports)) server.idOf(jvm.pid());
            server.awaitHistory();
            Thread.sleep(MINUTE_MILLIS);
            awaitEvidenceMayBeKept();
            orders.send("start yield");
            Thread.sleep(MINUTE_MILLIS);

            Page page = chromium.page(WIDTH, HEIGHT, ColorScheme.LIGHT);
            page.navigate(server.url());
            Locator finding = page.locator(".finding-line:has-text('yielder')").first();
            finding.waitFor();
            take(page, "overview", 620);

            finding.click();
            page.locator(".finding-row:has(.kind:text-is('yield-storm')) time").waitFor();
            page.waitForFunction("() => events.interval?.length > 8");
            take(page, "jvm", HEIGHT);

            Locator why = page.locator(".finding-row:has(.kind:text-is('yield-storm'))");
            why.locator("summary").click();
            why.locator(".kept button:text-is('Flame graph')").click();
            ProfilePageTest.flameGraph(page);
            take(page, "flame", 760);
            page.locator("dialog .close").click();

            compare(page);
            take(page, "compare", HEIGHT);
            assertThat(chromium.problems()).isEmpty();
        }
    }

    @Test
    void shouldTakeAPictureOfAccounts() throws Exception {
        assumeTrue(System.getProperty("pictures.directory") != null, "run docs/images/serve.sh");
        Path agent = Path.of("..", "agent", "target", "taskclock-agent.jar").toRealPath();
        String[] arguments =
                arguments("-javaagent:" + agent, "-Dotel.service.name=shop", "initech", "umbrella", "acme");
        try (Chromium chromium = Chromium.start();
                PageServer server = new PageServer(data, null);
                LoadJvm shop = LoadJvm.startProgram(AccountLoadProgram.class, arguments)) {
            server.awaitHistory();
            Page page = chromium.page(WIDTH, HEIGHT, ColorScheme.LIGHT);
            page.navigate(server.url() + "#/jvm/" + server.idOf(shop.pid()));
            page.locator("button[aria-keyshortcuts=a][aria-disabled=false]").click();
            page.locator("select[aria-label='Type of accounts']").selectOption("tenant");
            page.evaluate("() => { events.interval = []; }");
            page.waitForFunction("() => events.interval.length > 20");
            page.evaluate("() => document.querySelector('.timeline').scrollIntoView()");
            take(page, "accounts", HEIGHT);
            assertThat(chromium.problems()).isEmpty();
        }
    }

    @Test
    void shouldTakeAPictureOfAFleet() throws Exception {
        assumeTrue(System.getProperty("pictures.directory") != null, "run docs/images/serve.sh");
        try (Chromium chromium = Chromium.start();
                FakePrometheus prometheus = new FakePrometheus()) {
            addServices(prometheus);
            try (FleetServer fleet = FleetPageTest.serve(prometheus, data, "http://{instance}/")) {
                Page page = chromium.page(WIDTH, HEIGHT, ColorScheme.LIGHT);
                page.navigate(fleet.url());
                page.locator(".body .row >> text=orders").waitFor();
                take(page, "fleet", 900);
            }
            assertThat(chromium.problems()).isEmpty();
        }
    }
}
