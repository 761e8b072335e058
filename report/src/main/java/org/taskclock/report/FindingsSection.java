// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Renders the findings of all results at the start of a page. */
record FindingsSection(HtmlBuilder html, List<Result> results, List<String> names) {
    void write() {
        if (results.stream().allMatch(result -> result.findings().isEmpty() && result.complete())) return;
        html.raw("<section id=\"findings\">\n<h2>Findings</h2>\n");
        for (int i = 0; i < results.size(); i++) {
            Result result = results.get(i);
            if (result.findings().isEmpty() && result.complete()) continue;
            html.raw("<section class=\"part findings\">\n")
                    .element("h3", ResultNames.heading(result, names.get(i)))
                    .element("p class=\"where\"", summary(result));
            if (!result.complete()) {
                html.element("p class=\"incomplete\"", "Interrupted: some measurements are missing.");
            }
            String warning = MachineLoad.warning(result);
            if (!warning.isEmpty()) html.element("p class=\"busy\"", warning);
            for (Result.Finding finding : result.findings()) write(finding, !warning.isEmpty());
            html.raw("</section>\n");
        }
        html.raw("</section>\n");
    }

    /** Counts the findings by verdict or, for recordings, by kind. */
    private static String summary(Result result) {
        if (result.findings().isEmpty()) return "no findings";
        Map<String, Long> counts = result.findings().stream()
                .collect(Collectors.groupingBy(
                        finding -> finding.verdict() == null ? "no verdict" : finding.verdict(),
                        LinkedHashMap::new,
                        Collectors.counting()));
        return counts.entrySet().stream()
                .map(count -> count.getValue() + " " + count.getKey())
                .collect(Collectors.joining(", "));
    }

    private void write(Result.Finding finding, boolean busy) {
        String verdict = finding.verdict() == null ? "" : finding.verdict();
        String style =
                switch (verdict) {
                    case "confirmed" -> "good";
                    case "contradicted" -> "bad";
                    case "not measured", "inconclusive" -> "open";
                    default -> "bad";
                };
        html.raw("<article class=\"finding\">\n<p class=\"claim\"><span class=\"verdict " + style + "\">")
                .text(verdict)
                .raw("</span> ");
        if (busy && !verdict.equals("not measured")) {
            html.raw("<span class=\"verdict open\">" + MachineLoad.BUSY + "</span> ");
        }
        html.raw("<bdi>")
                .text(finding.claim())
                .raw("</bdi> <small><bdi>")
                .text(finding.source())
                .raw("</bdi></small></p>\n")
                .paragraphs(finding.text())
                .raw("</article>\n");
    }
}
