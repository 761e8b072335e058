// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Renders the end of a page: machines, methods, and commands, all folded. */
record MachinesSection(HtmlBuilder html, List<Result> results, List<String> names) {
    void write() {
        html.raw("<section id=\"machines\">\n<h2>Machines and methods</h2>\n");
        if (results.size() > 1) compare();
        for (int i = 0; i < results.size(); i++) {
            Result result = results.get(i);
            html.raw("<details class=\"part host\"><summary>")
                    .text(ResultNames.heading(result, names.get(i)))
                    .raw("</summary>\n");
            machine(result);
            method(result);
            html.raw("</details>\n");
        }
        html.raw("</section>\n");
    }

    private void compare() {
        Set<String> properties = new LinkedHashSet<>();
        for (Result result : results) properties.addAll(result.machine().keySet());
        html.raw("<details class=\"part host\"><summary>Comparison of the machines</summary>\n"
                + "<div class=\"scroll\"><table class=\"wide\">\n<thead><tr><th></th>");
        for (String name : names) html.raw("<th>").text(name).raw("</th>");
        html.raw("</tr></thead>\n<tbody>\n");
        for (String property : properties) {
            List<String> values =
                    results.stream().map(r -> r.machine().get(property)).collect(Collectors.toList());
            boolean differ = values.stream().anyMatch(value -> !Objects.equals(value, values.get(0)));
            html.raw(differ ? "<tr class=\"differ\">" : "<tr>")
                    .raw("<td>")
                    .text(property)
                    .raw("</td>");
            for (String value : values) html.raw("<td>").text(value).raw("</td>");
            html.raw("</tr>\n");
        }
        html.raw("</tbody></table></div></details>\n");
    }

    private void machine(Result result) {
        html.raw("<dl>\n");
        result.machine().forEach(this::property);
        if (!RecordingResults.KIND.equals(result.kind())) property("other load", MachineLoad.summary(result));
        for (Result.Jdk jdk : result.jdks()) {
            String flags = jdk.flags() == null || jdk.flags().isEmpty() ? "" : " with " + String.join(" ", jdk.flags());
            property("JDK", jdk.version() + (jdk.vendor() == null ? "" : ", " + jdk.vendor()) + flags);
        }
        html.raw("</dl>\n");
    }

    private void property(String name, String value) {
        html.raw("<div>").element("dt", name).element("dd", value).raw("</div>\n");
    }

    private void method(Result result) {
        if (!result.method().isEmpty()) {
            html.element("h3", "Method");
            result.method().forEach(html::paragraphs);
        }
        if (!result.command().isEmpty()) {
            html.element("h3", "Repeat");
            html.element("pre", ShellCommand.quote(result.command()));
        }
    }
}
