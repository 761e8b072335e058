// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The installed Chromium. Not thread-safe. */
final class Chromium implements AutoCloseable {
    /** Machines that run tests may be very busy. */
    private static final int TIMEOUT_MILLIS = 60_000;

    /** Tests must not depend on other hosts. */
    private static final String LOOPBACK_ONLY =
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost";

    /** Keeps the events of streams, with what changed applied, where tests can read them. */
    private static final String RECORD_EVENTS = """
            window.events = {};
            addEventListener('taskclock', ({detail: {event, data}}) =>
              (window.events[event] ||= []).push(JSON.parse(JSON.stringify(data))));
            """;

    private final Playwright playwright;
    private final Browser browser;
    private final List<BrowserContext> contexts = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();

    private Chromium(Path program) {
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(program)
                        .setTimeout(TIMEOUT_MILLIS)
                        // The sandbox does not work for root, and tests in containers run as root.
                        .setArgs(List.of("--no-sandbox", "--disable-dev-shm-usage", LOOPBACK_ONLY)));
    }

    /** Starts the browser, or skips the test if there is none. */
    static Chromium start() {
        Path program = Path.of(System.getProperty("test.chromium", "/usr/bin/chromium"));
        assumeTrue(
                Files.isExecutable(program),
                program + " is missing: the page is not tested (Debian: apt install chromium; another path:"
                        + " -Dtest.chromium=PATH)");
        return new Chromium(program);
    }

    /** Opens an empty page in a new profile. */
    Page page(int width, int height, ColorScheme scheme) {
        BrowserContext context = browser.newContext(new Browser.NewContextOptions()
                .setViewportSize(width, height)
                .setColorScheme(scheme)
                .setAcceptDownloads(true)
                .setIgnoreHTTPSErrors(true)
                .setPermissions(List.of("clipboard-read", "clipboard-write")));
        contexts.add(context);
        context.addInitScript(RECORD_EVENTS);
        Page page = context.newPage();
        page.setDefaultTimeout(TIMEOUT_MILLIS);
        page.onPageError(error -> problems.add("exception: " + error));
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") || message.type().equals("warning"))
                problems.add(message.type() + ": " + message.text() + " at " + message.location());
        });
        page.onDialog(dialog -> {
            problems.add("dialog: " + dialog.message());
            dialog.dismiss();
        });
        return page;
    }

    Page page() {
        return page(1360, 900, ColorScheme.LIGHT);
    }

    /** Returns uncaught exceptions, and errors and warnings on the console, since the last call. */
    List<String> problems() {
        List<String> found = List.copyOf(problems);
        problems.clear();
        return found;
    }

    /** Closes all pages. */
    void closePages() {
        contexts.forEach(BrowserContext::close);
        contexts.clear();
    }

    @Override
    public void close() {
        closePages();
        browser.close();
        playwright.close();
    }
}
