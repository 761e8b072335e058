// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.ColorScheme;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Takes pictures of each view, on a desktop and a phone, light and dark, and compares them pixel by pixel with those of
 * another version of the page, whose files are in the directory that the system property {@code pictures.base} names
 * ({@code src/test/web/pictures.sh}). Without it, the page is compared with itself. All pictures are in
 * {@code target/pictures}, and {@code index.html} there shows those that differ side by side.
 */
@Tag("slow")
class PictureDifferenceTest {
    private static final long NOW = FakeServer.NOW;
    private static final long STEP = 900_000;
    private static final Path PAGE = Path.of("src", "main", "web");
    private static final Path PICTURES = Path.of("target", "pictures");
    private static final int DIFFERENT = 0xff0000;
    private static final int FADE = 0xc0c0c0;
    private static final int MAX_PICTURES = 20;

    /** Of each color. The browser does not draw rounded corners alike each time. */
    private static final int TOLERANCE = 40;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension();

    /** A view, and what opens a dialog in it; null for none. */
    private record View(String name, String address, Consumer<Page> dialog) {}

    private static final View FLEET = new View("fleet", "#/", null);
    private static final List<View> VIEWS = List.of(
            new View("overview", "#/", null),
            new View("help", "#/", page -> page.keyboard().press("?")),
            new View("live", "#/jvm/2-1", null),
            new View("history", "#/jvm/2-1?from=" + (NOW - 250_000) + "&to=" + (NOW - 50_000), null),
            new View("columns", "#/jvm/2-1", page -> page.keyboard().press("C")),
            new View("flame", "#/", PictureDifferenceTest::openProfile),
            FLEET);

    private static List<Map<String, Object>> jvms() {
        List<Map<String, Object>> jvms = new ArrayList<>();
        for (String service : List.of("billing", "orders", "search", "mail", "reports"))
            jvms.add(FakeServer.jvm(jvms.size() + 1, service, 50.0 / (jvms.size() + 1), 10));
        jvms.get(1)
                .put("findings", List.of(Map.of("kind", "yield-storm", "text", "\"x\" yields", "since", NOW - 60_000)));
        return jvms;
    }

    private static void openProfile(Page page) {
        StringBuilder stacks = new StringBuilder();
        for (int i = 1; i < 20; i++)
            stacks.append("main_[j];loop_[j];")
                    .append("work_[j];".repeat(i % 4))
                    .append("leaf" + i + "_[j] " + i + "\n");
        ProfilePageTest.openProfile(page, "orders.collapsed", stacks.toString());
    }

    /** Five services over a day, two findings, and a new version. */
    private static void answerFleet(Page page) {
        List<Map<String, Object>> rows = new ArrayList<>();
        List<Map<String, Object>> lines = new ArrayList<>();
        List<Double> weekEarlier = new ArrayList<>();
        List<Long> times =
                LongStream.range(0, 96).mapToObj(i -> NOW - (96 - i) * STEP).toList();
        for (long time : times) weekEarlier.add(40 + 10 * Math.sin(time / 1e7));
        for (Map<String, Object> jvm : jvms()) {
            double cores = (double) jvm.get("cpu") / 3;
            Map<String, String> labels = Map.of("service", (String) jvm.get("service"));
            rows.add(Map.of(
                    "name",
                    jvm.get("service"),
                    "labels",
                    labels,
                    "cpu",
                    cores,
                    "weekEarlier",
                    cores * 0.8,
                    "hours",
                    cores * 20,
                    "jvms",
                    12,
                    "outliers",
                    1,
                    "findings",
                    2,
                    "outlier",
                    false));
            List<Double> cpu = times.stream()
                    .map(time -> cores * (1 + 0.3 * Math.sin(time / 1e7)))
                    .toList();
            lines.add(Map.of("name", jvm.get("service"), "labels", labels, "cpu", cpu));
        }
        Map<String, Object> range = Map.of("from", NOW - 96 * STEP, "to", NOW, "step", STEP, "warnings", List.of());
        Map<String, Object> total = Map.of("cpu", 45, "weekEarlier", 40, "hours", 900, "hoursWeekEarlier", 950);
        Map<String, Object> usage = Map.of("by", "service", "total", total, "rows", rows, "truncated", false);
        Map<String, Object> series = Map.of(
                "times",
                times,
                "lines",
                lines,
                "others",
                times.stream().map(time -> 0).toList());
        Map<String, String> labels = Map.of("service", "orders", "instance", "host-3:10077", "jvm", "orders-17");
        Map<String, Object> finding = Map.of("kind", "yield-storm", "since", NOW - 60_000, "labels", labels);
        Map<String, Object> version = Map.of("service", "orders", "version", "2.3", "isNew", true);
        FakeServer.answer(page, "/usage", merged(range, usage));
        FakeServer.answer(page, "/series", merged(merged(range, series), Map.of("weekEarlier", weekEarlier)));
        FakeServer.answer(
                page,
                "/findings",
                Map.of(
                        "truncated",
                        false,
                        "findings",
                        List.of(merged(finding, Map.of("active", true)), merged(finding, Map.of("active", false)))));
        FakeServer.answer(
                page, "/versions", Map.of("versions", List.of(merged(version, Map.of("first", NOW - 20 * STEP)))));
        Map<String, Object> fleet = Map.of("url", "http://prometheus:9090", "price", 0.05);
        FakeServer.answer(page, "/api/info", Map.of("version", "test", "host", "host", "now", NOW, "fleet", fleet));
    }

    private static Map<String, Object> merged(Map<String, Object> one, Map<String, Object> other) {
        Map<String, Object> merged = new HashMap<>(one);
        merged.putAll(other);
        return merged;
    }

    private static void serve(Page page, Path directory) {
        page.route(url -> url.matches(".*/web/[a-z]+[.](js|css)"), route -> {
            String name = route.request().url().replaceFirst(".*/", "");
            route.fulfill(new Route.FulfillOptions().setPath(directory.resolve(name)));
        });
    }

    private static BufferedImage take(View view, Path directory, int width, ColorScheme scheme) throws IOException {
        Page page = BROWSER.chromium().page(width, 900, scheme);
        serve(page, directory);
        // Times are those of one time zone, and nothing is still moving.
        page.addInitScript("Date.now = () => " + NOW);
        FakeServer.open(
                BROWSER.server().url(), page, view.address.replaceFirst("[?].*", ""), null, "host", jvms(), () -> {
                    FakeServer.answer(page, "/pools", FakeServer.range(NOW - 360_000, 300, "pools", 5));
                    FakeServer.answer(page, "/threads", FakeServer.range(NOW - 360_000, 300, "threads", 14));
                    if (view.equals(FLEET)) answerFleet(page);
                });
        if (view.address.contains("?")) page.evaluate("hash => location.hash = hash", view.address);
        if (view.equals(FLEET)) {
            page.locator(".body .row >> text=orders").waitFor();
        } else if (view.address.equals("#/")) {
            FakeServer.send(page, "jvms", FakeServer.jvms(jvms()));
            page.locator(".card").first().waitFor();
        } else {
            page.waitForFunction("() => performance.getEntriesByName('taskclock-drawn').length > 0");
            List<Map<String, Object>> threads = new ArrayList<>();
            for (int i = 0; i < 30; i++)
                threads.add(FakeServer.thread(i + 1, "thread-" + i, "pool-" + i % 5, 20.0 / (i + 1), 5.0 / (i + 1)));
            if (!view.address.contains("?"))
                for (int i = 1; i <= 60; i++)
                    FakeServer.send(page, "interval", FakeServer.interval(NOW - 60_000 + i * 1_000L, threads));
            page.locator(".body .row").first().waitFor();
            page.waitForFunction("() => document.querySelectorAll('.legend .pool').length >= 4");
        }
        if (view.dialog != null) view.dialog.accept(page);
        byte[] png = stable(page, view.dialog == null);
        page.close();
        return ImageIO.read(new ByteArrayInputStream(png));
    }

    /** Takes pictures until two are equal: on a busy machine, the browser has not drawn all layers in the first. */
    private static byte[] stable(Page page, boolean isFullPage) {
        byte[] last = {};
        for (int i = 0; i < MAX_PICTURES; i++) {
            page.waitForTimeout(300);
            byte[] png = page.screenshot(new Page.ScreenshotOptions().setFullPage(isFullPage));
            if (Arrays.equals(png, last)) return png;
            last = png;
        }
        throw new AssertionError("the page does not stop moving");
    }

    /** Returns a faded picture in which pixels that differ are red, or null if there are none. */
    private static BufferedImage difference(BufferedImage base, BufferedImage now) {
        int width = Math.max(base.getWidth(), now.getWidth());
        int height = Math.max(base.getHeight(), now.getHeight());
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        boolean differs = false;
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                boolean isSame = x < base.getWidth()
                        && y < base.getHeight()
                        && x < now.getWidth()
                        && y < now.getHeight()
                        && isSimilar(base.getRGB(x, y), now.getRGB(x, y));
                image.setRGB(x, y, isSame ? now.getRGB(x, y) | FADE : DIFFERENT);
                differs |= !isSame;
            }
        }
        return differs ? image : null;
    }

    private static boolean isSimilar(int a, int b) {
        for (int shift = 0; shift <= 16; shift += 8)
            if (Math.abs((a >> shift & 0xff) - (b >> shift & 0xff)) > TOLERANCE) return false;
        return true;
    }

    private static long count(BufferedImage difference) {
        long count = 0;
        for (int y = 0; y < difference.getHeight(); y++)
            for (int x = 0; x < difference.getWidth(); x++)
                if ((difference.getRGB(x, y) & 0xffffff) == DIFFERENT) count++;
        return count;
    }

    @Test
    void shouldShowWhatDiffers() throws Exception {
        String property = System.getProperty("pictures.base");
        Path base = property == null ? PAGE : Path.of(property);
        Files.createDirectories(PICTURES);
        StringBuilder html = new StringBuilder("<!DOCTYPE html><title>Pictures</title>\n");
        List<String> different = new ArrayList<>();
        for (View view : VIEWS) {
            for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
                for (int width : new int[] {1280, 400}) {
                    String name =
                            view.name + "-" + width + "-" + scheme.toString().toLowerCase(Locale.ROOT);
                    BufferedImage before = take(view, base, width, scheme);
                    BufferedImage now = take(view, PAGE, width, scheme);
                    BufferedImage difference = difference(before, now);
                    write(before, name + "-base");
                    write(now, name + "-now");
                    if (difference == null) continue;
                    write(difference, name + "-difference");
                    double share = 100.0 * count(difference) / difference.getWidth() / difference.getHeight();
                    String text = String.format(Locale.ROOT, "%s: %.2f %% of the pixels differ", name, share);
                    different.add(text);
                    html.append("<h2>").append(text).append("</h2>\n");
                    for (String kind : List.of("base", "now", "difference"))
                        html.append("<img width=\"32%\" src=\"")
                                .append(name + "-" + kind)
                                .append(".png\">\n");
                }
            }
        }
        Files.writeString(PICTURES.resolve("index.html"), html);
        Files.write(PICTURES.resolve("differences.txt"), different);
        if (property == null) assertThat(different).isEmpty();
    }

    private static void write(BufferedImage image, String name) throws IOException {
        ImageIO.write(image, "png", PICTURES.resolve(name + ".png").toFile());
    }
}
