// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.ElementHandle;
import com.microsoft.playwright.Frame;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.FilePayload;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Profiles that are taken on the page, or dropped on it, and how two of them differ. */
@Tag("slow17")
class ProfilePageTest {
    private static final String HOSTILE = "</script><img src=x onerror=alert(1)>'+alert(2)+'\\";

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension("busy", "idle=3");

    /** Waits until the flame graph has been drawn, and returns it. */
    static Frame flameGraph(Page page) {
        ElementHandle element = page.locator("dialog iframe").elementHandle();
        page.waitForFunction("() => document.querySelector('dialog iframe').style.height !== ''");
        Frame frame = element.contentFrame();
        frame.waitForFunction("() => canvasWidth > 100 && levels[0].length === 1");
        return frame;
    }

    private static void open(Page page, String name, String content) {
        page.keyboard().press("O");
        page.locator("dialog input[type=file]")
                .setInputFiles(new FilePayload(name, "text/plain", content.getBytes(StandardCharsets.UTF_8)));
    }

    static void openProfile(Page page, String name, String content) {
        open(page, name, content);
        page.locator("dialog h2:text-is('" + name + "')").waitFor();
        flameGraph(page);
    }

    @Test
    void shouldProfileASelectedThread() throws Exception {
        Page page = BROWSER.open("?pools=0&filter=busy");
        page.waitForFunction("() => document.querySelectorAll('.body .row:not([hidden])').length === 1");
        page.locator(".table").focus();
        page.keyboard().press("Home");
        page.keyboard().press("m");
        assertThat(page.locator("dialog select").first().locator("option").allTextContents())
                .containsExactly(
                        "thread a busy thread with a long name, number 1",
                        "pool a busy thread with a long name, number #",
                        "all threads");
        page.keyboard().press("Enter");
        page.locator("dialog button.primary").click();
        page.locator("dialog .summary").waitFor();
        assertThat(page.locator("dialog .summary").textContent())
                .matches("CPU [1-9][\\d.]* %, user [\\d.]+, system [\\d.]+ in [5-9].*; source .*; \\d+ samples; thread"
                        + " \"a busy thread with a long name, number 1\" \\(\\d+\\)");
        Frame frame = flameGraph(page);
        assertThat(frame.evaluate("levels.flat().some(one => one.title.includes('LoadProgram.'))"))
                .isEqualTo(true);
        assertThat(page.locator("dialog tbody th").allTextContents()).anyMatch(name -> name.contains("LoadProgram."));
        // The names of frames cannot reach the page: it is of another origin.
        assertThat(frame.evaluate("origin")).isEqualTo("null");
        page.locator("dialog input[type=search]").fill("LoadProgram");
        frame.waitForFunction("() => matchval === '100%'");
        Download stacks = page.waitForDownload(
                () -> page.locator("dialog a:text-is('Collapsed stacks')").click());
        assertThat(stacks.suggestedFilename()).endsWith(".collapsed");
        assertThat(Files.readString(stacks.path())).contains("LoadProgram.").containsPattern(" \\d+\n");
    }

    @ParameterizedTest
    @EnumSource(
            value = ColorScheme.class,
            names = {"LIGHT", "DARK"})
    void shouldCompareDroppedProfiles(ColorScheme scheme) throws Exception {
        NodeModules.install();
        Page page = BROWSER.chromium().page(400, 800, scheme);
        page.navigate(BROWSER.server().url());
        openProfile(page, "before.collapsed", "main_[j];same_[j] 50\nmain_[j];old_[j] 50\n");
        page.keyboard().press("Escape");
        openProfile(page, "after.txt", "main_[j];same_[j] 2\nmain_[j];" + HOSTILE + " 8\n");
        Frame frame = flameGraph(page);
        assertThat(frame.evaluate("levels.flat().map(one => one.title).join('\\n')")
                        .toString())
                .contains(HOSTILE, "same");
        assertThat(frame.evaluate("document.documentElement.classList.contains('dark')"))
                .isEqualTo(scheme == ColorScheme.DARK);
        NodeModules.checkAccess(page, scheme + " flame graph");
        List<String> names = page.locator("dialog select option").allTextContents();
        String before = names.stream()
                .filter(name -> name.endsWith("before.collapsed"))
                .findFirst()
                .orElseThrow();
        page.locator("dialog select").selectOption(before);
        page.locator("dialog th:text-is('CHANGE')").first().waitFor();
        assertThat(page.locator("dialog tbody tr").first().textContent())
                .isEqualTo("0.080.0+80.00.080.0+80.0" + HOSTILE);
        assertThat(page.locator("dialog tbody tr:has(th:text-is('old'))").textContent())
                .isEqualTo("50.00.0\u221250.050.00.0\u221250.0old");
        Frame difference = page.locator("dialog iframe").elementHandle().contentFrame();
        difference.waitForFunction("() => maxdiff === 3 && canvasWidth > 100");
        NodeModules.checkAccess(page, scheme + " difference");
        // In the width of a phone, only the table scrolls.
        assertThat((boolean) page.evaluate("() => document.querySelector('dialog').scrollWidth"
                        + " <= document.querySelector('dialog').clientWidth"))
                .isTrue();
        assertThat(page.locator("dialog img").count()).isZero();
    }

    @Test
    void shouldSayWhyAFileCannotBeOpened() {
        Page page = BROWSER.page();
        page.navigate(BROWSER.server().url());
        open(page, "<b>.jfr", "FLR\0damaged");
        page.locator("#problems p:has-text('<b>.jfr: this file cannot be opened: ')")
                .waitFor();
        open(page, "notes.txt", "These are notes.\nThey are long.\n");
        page.locator("#problems p:has-text('it is neither a recording of taskclock record')")
                .waitFor();
        // The browser logs the responses.
        assertThat(BROWSER.chromium().problems()).hasSize(2).allMatch(problem -> problem.contains("400"));
    }

    @Test
    void shouldWriteAReport() throws Exception {
        Page page = BROWSER.open("");
        page.keyboard().press("B");
        page.locator("dialog button.primary").click();
        page.locator("dialog a[download$='.zip']").waitFor();
        Download report = page.waitForDownload(
                () -> page.locator("dialog a[download$='.zip']").click());
        assertThat(Files.readString(report.path()))
                .isEqualTo("bundle of " + BROWSER.jvm().pid());
        page.keyboard().press("Escape");
        page.keyboard().press("r");
        page.locator("dialog .recordings a:has-text('" + report.suggestedFilename() + "')")
                .waitFor();
    }
}
