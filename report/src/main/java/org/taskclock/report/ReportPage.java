// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Renders results as a self-contained HTML page. */
public final class ReportPage {
    /** Escapes characters that could end a script. */
    private static final Gson GSON = new GsonBuilder().serializeNulls().create();

    private final HtmlBuilder html = new HtmlBuilder();
    private final List<String> scripts = new ArrayList<>();
    private final List<Result> results;

    private ReportPage(List<Result> results) {
        this.results = results;
    }

    /**
     * Returns the page.
     *
     * @param results at least one
     * @throws IllegalArgumentException if a number cannot be represented in JSON
     */
    public static String of(List<Result> results) throws IOException {
        return new ReportPage(results).page();
    }

    private String page() throws IOException {
        html.raw("""
                <header>
                <h1>TaskClock report</h1>
                <button id="scheme" type="button" hidden></button>
                </header>
                """);
        html.raw("<noscript><p>Charts need JavaScript. The tables contain the same values.</p></noscript>\n<main>\n");
        new Overview(html, results).write();
        for (int i = 0; i < results.size(); i++) new ResultSection(html, results.get(i), i, scripts).write();
        html.raw("</main>\n");
        footer();
        html.raw("<script type=\"application/json\" id=\"results\">")
                .raw(GSON.toJson(
                        results.stream().map(ReportPage::withoutUnusedParts).toList()))
                .raw("</script>\n");
        script(resource("echarts/echarts.common.min.js"));
        script(resource("report.js"));
        return head() + "<body>\n" + html + "</body>\n</html>\n";
    }

    /**
     * Returns the head. Called last, because the policy lists all scripts. The policy keeps text from running scripts
     * and accessing the network.
     */
    private String head() throws IOException {
        String allowed = scripts.stream().distinct().map(ReportPage::hash).collect(Collectors.joining(" "));
        return new HtmlBuilder()
                .raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
                .raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
                        + "style-src 'unsafe-inline'; script-src " + allowed + "\">\n")
                .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
                .raw("<meta name=\"color-scheme\" content=\"light dark\">\n")
                .raw("<link rel=\"icon\" href=\"data:,\">\n")
                .element(
                        "title",
                        "TaskClock: " + results.stream().map(ReportPage::title).collect(Collectors.joining(", ")))
                .raw("<style>\n" + resource("report.css") + "</style>\n</head>\n")
                .toString();
    }

    private void footer() throws IOException {
        html.raw("<footer>\n<p>Written by TaskClock. Charts: Apache ECharts, Apache License 2.0. "
                + "Flame graphs: async-profiler, Apache License 2.0.</p>\n<details><summary>Notices</summary>\n");
        for (String notice : List.of("NOTICE", "LICENSE-d3")) html.element("pre", resource("echarts/" + notice));
        html.raw("</details>\n</footer>\n");
    }

    private void script(String script) {
        scripts.add(script);
        html.raw("<script>" + script + "</script>\n");
    }

    /** Removes what the script does not need: flame graphs, and JMH's output, which would be most of the page. */
    private static Result withoutUnusedParts(Result result) {
        return new Result(
                result.format(),
                result.kind(),
                result.name(),
                result.started(),
                result.ended(),
                result.complete(),
                result.command(),
                result.machine(),
                result.jdks(),
                result.method(),
                result.findings(),
                result.tables(),
                result.bars(),
                result.percentiles(),
                result.timelines(),
                List.of(),
                Map.of());
    }

    /** Returns A for the first result, B for the second, and so on. */
    static String label(int index) {
        return index < 26 ? String.valueOf((char) ('A' + index)) : "R" + (index + 1);
    }

    static String title(Result result) {
        return result.kind() + " " + result.name();
    }

    private static String hash(String script) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(hash) + "'";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has SHA-256
        }
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = ReportPage.class.getResourceAsStream(name)) {
            if (in == null) throw new IOException("the jar does not contain " + name + ": rebuild it");
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
