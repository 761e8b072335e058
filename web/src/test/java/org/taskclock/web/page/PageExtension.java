// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Page;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.taskclock.testing.LoadJvm;
import org.taskclock.testing.LoadProgram;

/**
 * A browser, a server with an empty history, and a JVM with known loads, for all tests of a class. A test fails if
 * there are exceptions, errors, or warnings in the browser.
 */
final class PageExtension implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
    private final Class<?> program;
    private final String[] loads;
    private Path data;
    private Chromium chromium;
    private LoadJvm jvm;
    private PageServer server;
    private String id;

    /** Without loads, there is no JVM. */
    PageExtension(String... loads) {
        this(LoadProgram.class, loads);
    }

    /** With a program, which prints "done" as {@link LoadProgram} does, its arguments. */
    PageExtension(Class<?> program, String... loads) {
        this.program = program;
        this.loads = loads;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        chromium = Chromium.start();
        data = Files.createTempDirectory("page-test");
        if (program != LoadProgram.class) jvm = LoadJvm.startProgram(program, loads);
        else if (loads.length > 0) jvm = LoadJvm.start(loads);
        server = new PageServer(data, null);
        server.awaitHistory();
        if (jvm != null) id = server.idOf(jvm.pid());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        chromium.closePages();
        List<String> problems = chromium.problems();
        assertThat(problems).isEmpty();
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        if (server != null) server.close();
        if (jvm != null) jvm.close();
        if (chromium != null) chromium.close();
        if (data == null) return;
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.deleteIfExists(file);
        }
    }

    Chromium chromium() {
        return chromium;
    }

    PageServer server() {
        return server;
    }

    LoadJvm jvm() {
        return jvm;
    }

    /** Returns the id of the JVM. */
    String id() {
        return id;
    }

    /** Opens a new page, which shows nothing yet. */
    Page page() {
        return chromium.page();
    }

    /** Opens the JVM on a page and waits until it has rows. */
    Page open(Page page, String parameters) {
        page.navigate(server.url() + "#/jvm/" + id + parameters);
        page.waitForFunction("() => document.querySelectorAll('.body .row:not([hidden])').length > 0");
        return page;
    }

    Page open(String parameters) {
        return open(page(), parameters);
    }
}
