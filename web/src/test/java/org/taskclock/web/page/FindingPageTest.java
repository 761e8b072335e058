// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Download;
import com.microsoft.playwright.Frame;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.WaitForSelectorState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.testing.LoadJvm;

/** One of five JVMs begins to misbehave: the page shows which, which thread, why, and since when. */
@Tag("slow17")
class FindingPageTest {
    private static final int TOLERANCE_SECONDS = 2;
    private static final int JVMS = 5;

    @RegisterExtension
    static final PageExtension BROWSER = new PageExtension();

    private static final List<LoadJvm> JVM_LIST = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        for (int i = 0; i < JVMS; i++) JVM_LIST.add(LoadJvm.start("lightly=2", "idle=5"));
        for (LoadJvm jvm : JVM_LIST) BROWSER.server().idOf(jvm.pid());
        // What begins in the first seconds of the server is not known to have begun then.
        Thread.sleep(10_000);
    }

    @AfterAll
    static void stop() {
        JVM_LIST.forEach(LoadJvm::close);
        JVM_LIST.clear(); // a repetition starts others
    }

    /** Saves what a reader sees, for those who want to judge it. */
    private static void picture(Page page, String name) {
        String directory = System.getProperty("page.pictures");
        if (directory != null) page.screenshot(new Page.ScreenshotOptions().setPath(Path.of(directory, name + ".png")));
    }

    @SuppressWarnings("JavaTimeDefaultTimeZone") // the page shows the time of this machine
    private static LocalTime now() {
        return LocalTime.now();
    }

    private static long secondsFrom(LocalTime from, String text) {
        String time = text.replaceFirst("(?s).*?(\\d\\d:\\d\\d:\\d\\d).*", "$1");
        return Duration.between(from, LocalTime.parse(time)).toSeconds();
    }

    @ParameterizedTest
    @CsvSource({"1, yield, yield-storm, yielder, Thread.yield", "3, system, system-heavy, system-time, in the kernel"})
    void shouldShowThreadCauseAndBegin(int index, String load, String kind, String thread, String cause)
            throws Exception {
        Page page = BROWSER.page();
        page.navigate(BROWSER.server().url());
        page.waitForFunction("count => document.querySelectorAll('.card').length >= count", JVMS);
        LocalTime begin = now();
        LoadJvm jvm = JVM_LIST.get(index);
        jvm.send("start " + load);
        String id = BROWSER.server().idOf(jvm.pid());
        // Other tests' JVMs have findings, too.
        Locator finding = page.locator(".finding-line[data-jvm='" + id + "']:has-text('" + thread + "')")
                .first();
        finding.waitFor();
        // A busy machine may take long to start the load, but a finding is shown only when it has lasted for a while.
        long latest = Math.max(TOLERANCE_SECONDS, Duration.between(begin, now()).toSeconds() - TOLERANCE_SECONDS);
        picture(page, load + "-overview");
        assertThat(finding.textContent()).contains("began at");
        assertThat(secondsFrom(begin, finding.locator("time").textContent()))
                .isBetween((long) -TOLERANCE_SECONDS, latest);
        Locator tag = page.locator(".card[data-jvm='" + id + "'] .tag");
        assertThat(secondsFrom(begin, tag.textContent())).isBetween((long) -TOLERANCE_SECONDS, latest);

        tag.click();
        // Stacks show what the overview can only suspect.
        Locator row =
                page.locator(".finding-row:has(.kind:text-is('" + kind + "')):has(.what:has-text('" + cause + "'))");
        row.locator("time").waitFor();
        page.waitForFunction("name => document.querySelector('.body .row.hit .label')?.textContent === name", thread);
        page.locator(".where-to li:has-text('(" + kind + ", since 2')").waitFor();
        String shown = row.textContent();
        assertThat(shown).contains(thread, "What to do");
        assertThat(secondsFrom(begin, shown)).isBetween((long) -TOLERANCE_SECONDS, latest);
        assertThat(page.locator(".heat-names .chosen").textContent()).isEqualTo(thread);
        picture(page, load + "-jvm");
        // The mark is there too when the history has been written, so that it can be found tomorrow.
        page.keyboard().press("2");
        Locator mark = page.locator(".mark-finding").first();
        mark.waitFor(new Locator.WaitForOptions().setState(WaitForSelectorState.VISIBLE));
        assertThat(mark.getAttribute("title")).contains(thread);
        picture(page, load + "-history");
    }

    /** When a finding begins, evidence is kept, and the explanation links to it. */
    @Test
    void shouldShowTheEvidence() throws Exception {
        LoadJvm jvm = JVM_LIST.get(2);
        Page page = BROWSER.page();
        page.navigate(BROWSER.server().url() + "#/jvm/" + BROWSER.server().idOf(jvm.pid()));
        jvm.send("start yield");
        Locator kept = page.locator(".finding-row .kept");
        // The profile takes several seconds. On a busy machine, the finding comes and goes.
        page.waitForCondition(
                () -> {
                    page.evaluate("() => document.querySelectorAll('.why').forEach(one => { one.open = true; })");
                    return kept.locator("a[download$='.zip']").first().isVisible();
                },
                new Page.WaitForConditionOptions().setTimeout(180_000));
        Download evidence = page.waitForDownload(
                () -> kept.locator("a[download$='.zip']").first().click());
        Set<String> parts = new TreeSet<>();
        try (ZipFile zip = new ZipFile(evidence.path().toFile())) {
            zip.stream().forEach(part -> parts.add(part.getName()));
        }
        assertThat(parts).containsExactly("profile.collapsed", "profile.json", "threads.txt", "why.txt");
        kept.locator("button:text-is('Flame graph')").first().click();
        Frame graph = ProfilePageTest.flameGraph(page);
        assertThat(graph.evaluate("levels.flat().some(one => one.title.includes('LoadProgram.'))"))
                .isEqualTo(true);
        page.locator("dialog .close").click();
        kept.locator("button:text-is('Thread dump')").first().click();
        page.locator("dialog pre:has-text('used=')").waitFor();
        page.locator("dialog .close").click();
    }

    /** Only thread dumps show a lock convoy, and those are taken while a browser shows the JVM. */
    @ParameterizedTest
    @CsvSource("4, convoy=5, lock-convoy, lock-owner")
    void shouldShowALockConvoy(int index, String load, String kind, String thread) throws Exception {
        LoadJvm jvm = JVM_LIST.get(index);
        Page page = BROWSER.page();
        page.navigate(BROWSER.server().url() + "#/jvm/" + BROWSER.server().idOf(jvm.pid()));
        page.waitForFunction("() => events.interval?.length > 2");
        jvm.send("start " + load);
        Locator finding = page.locator(".finding-row:has-text('" + kind + "')");
        finding.locator("time").waitFor();
        assertThat(finding.textContent()).contains("seen since", thread);
        finding.locator(".finding-line").click();
        picture(page, kind + "-jvm");
    }
}
