// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Page;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.testing.LoadJvm;
import org.taskclock.testing.TestCertificate;

/** More tabs than browsers open connections to a server with HTTP/1.1, which is six. */
@Tag("slow17")
class TabsPageTest {
    private static final int TABS = 9;

    @TempDir
    private Path data;

    /** Opens the overview and JVMs in tabs of one profile. */
    private static List<Page> open(Chromium chromium, PageServer server, String script, List<LoadJvm> jvms)
            throws Exception {
        Page first = chromium.page();
        BrowserContext context = first.context();
        context.addInitScript(script);
        List<Page> tabs = new ArrayList<>();
        for (int i = 0; i < TABS; i++) {
            Page tab = i == 0 ? first : context.newPage();
            int jvm = i % (jvms.size() + 1);
            tab.navigate(server.url()
                    + (jvm == jvms.size()
                            ? "#/"
                            : "#/jvm/" + server.idOf(jvms.get(jvm).pid())));
            tabs.add(tab);
        }
        return tabs;
    }

    private static void awaitEvents(List<Page> tabs) {
        for (Page tab : tabs) tab.waitForFunction("() => events.interval?.length > 3 || events.jvms?.length > 3");
    }

    @Test
    void shouldShareAConnection() throws Exception {
        try (LoadJvm one = LoadJvm.start("lightly");
                LoadJvm two = LoadJvm.start("lightly=2");
                PageServer server = new PageServer(data, null);
                Chromium chromium = Chromium.start()) {
            List<Page> tabs = open(chromium, server, "", List.of(one, two));
            awaitEvents(tabs);
            // A closed tab takes nothing from the others, and a new one gets its state at once.
            tabs.get(0).close();
            Page late = tabs.get(1).context().newPage();
            late.navigate(tabs.get(1).url());
            late.waitForFunction("() => document.querySelectorAll('.body .row').length > 3");
            tabs.subList(1, TABS).forEach(tab -> tab.evaluate("() => { events.interval = []; events.jvms = []; }"));
            awaitEvents(tabs.subList(1, TABS));
            assertThat(chromium.problems()).isEmpty();
        }
    }

    @Test
    void shouldUseHttp2OverTls() throws Exception {
        TestCertificate certificate = TestCertificate.create(data, "server");
        Path config = Files.writeString(
                data.resolve("web.yml"), "tls_server_config: {cert_file: server.crt, key_file: server.key}\n");
        try (LoadJvm one = LoadJvm.start("lightly");
                PageServer server = new PageServer(data.resolve("data"), null, null, config, certificate.client(null));
                Chromium chromium = Chromium.start()) {
            // Each tab has a connection of its own then.
            List<Page> tabs = open(chromium, server, "delete window.SharedWorker", List.of(one));
            awaitEvents(tabs);
            assertThat(tabs.get(TABS - 1)
                            .evaluate("() => performance.getEntriesByType('navigation')[0].nextHopProtocol"))
                    .isEqualTo("h2");
            assertThat(chromium.problems()).isEmpty();
        }
    }
}
