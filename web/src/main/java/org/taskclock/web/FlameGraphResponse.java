// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.HttpFields;
import org.taskclock.monitor.profile.CollapsedStacks;
import org.taskclock.monitor.profile.FlameGraphPage;
import org.taskclock.web.http.ApiException;
import org.taskclock.web.http.Call;
import org.taskclock.web.http.RequestBudget;

/** Answers with a flame graph, for an iframe of our page. */
final class FlameGraphResponse {
    /** The scripts of this response only, and nothing of the origin: names of methods come from programs. */
    private static final String POLICY =
            "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none';"
                    + " form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts; script-src ";

    /** What it takes to read two profiles and to draw one. So there is one such answer at a time in a small heap. */
    private static final long BYTES = 24 << 20;

    private FlameGraphResponse() {}

    static RequestBudget.Share reserve(Call call, RequestBudget budget) throws ApiException {
        return budget.take(call, BYTES);
    }

    /** Sends the flame graph of collapsed stacks, which are lines of frames and a count. */
    static void send(Call call, RequestBudget budget, String collapsed) throws ApiException, IOException {
        send(call, reserve(call, budget), null, CollapsedStacks.of(collapsed));
    }

    /** Sends a flame graph, with colors for the difference to another one, unless that is null. */
    static void send(Call call, RequestBudget.Share share, CollapsedStacks base, CollapsedStacks stacks)
            throws ApiException, IOException {
        if (stacks.isEmpty() || (base != null && base.isEmpty()))
            throw ApiException.notFound("there are no samples: these threads used little or no CPU time");
        FlameGraphPage page = base == null
                ? FlameGraphPage.of(stacks.text())
                : FlameGraphPage.difference(
                        base.withoutLines().scaledTo(stacks.samples()).text(),
                        stacks.withoutLines().text());
        byte[] html = page.html().getBytes(StandardCharsets.UTF_8);
        share.keep(html.length);
        HttpFields.Mutable headers = call.response.getHeaders();
        headers.put(
                "Content-Security-Policy",
                POLICY + page.scripts().stream().map(FlameGraphPage::hash).collect(Collectors.joining(" ")));
        headers.put("X-Frame-Options", "SAMEORIGIN");
        // In a tab of its own, browsers refuse to show a page that is both in a sandbox and isolated.
        headers.put("Cross-Origin-Opener-Policy", "unsafe-none");
        call.send(200, Call.HTML, html);
    }
}
