// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import one.convert.Arguments;
import one.convert.FlameGraph;

/**
 * A flame graph drawn by async-profiler's converter: a separate page, which the report embeds in an iframe.
 *
 * @param html empty if there are no stacks
 * @param scripts the scripts of the page, which the policy of the report must allow
 */
record FlameGraphPage(String html, List<String> scripts) {
    private static final Pattern STACK = Pattern.compile("\\S.* \\d{1,18}", Pattern.DOTALL);
    private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);
    /** The start of the names in the converter's output. */
    private static final String NAMES = "const cpool = [";

    /**
     * Follows the color scheme of the report and sends it the height of this page. The graph measures its width only
     * once. If the iframe has no layout yet, that width is 0, and the script asks the report to reload the graph.
     */
    private static final String EMBEDDED_SCRIPT = """
            addEventListener('message', event => {
              if (event.source !== parent) return;
              document.documentElement.classList.toggle('dark', event.data === 'dark');
              render(root);
            });
            const reload = () => parent.postMessage({reload: true}, '*');
            if (canvasWidth) {
              parent.postMessage({height: canvas.offsetTop + canvasHeight + 24}, '*');
              const initialWidth = innerWidth;
              addEventListener('resize', () => innerWidth === initialWidth || reload());
            } else {
              addEventListener('resize', reload);
            }
            """;

    static FlameGraphPage of(String collapsed) throws IOException {
        // The converter stops at the first line that is not a stack.
        String stacks = String.join(
                "\n", collapsed.lines().filter(FlameGraphPage::isStack).toList());
        if (stacks.isEmpty()) return new FlameGraphPage("", List.of());
        Arguments arguments = new Arguments();
        arguments.title = "\u00a0"; // an empty title would remove the line with the buttons
        FlameGraph graph = new FlameGraph(arguments);
        graph.parseCollapsed(new StringReader(clean(stacks)));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        graph.dump(out);
        return embeddable(out.toString(StandardCharsets.UTF_8));
    }

    static boolean isStack(String line) {
        return STACK.matcher(line).matches();
    }

    /**
     * Replaces characters that a browser would change, because then the hash of the script would not match the policy.
     */
    private static String clean(String stacks) {
        StringBuilder clean = new StringBuilder(stacks.length());
        stacks.codePoints().forEach(c -> {
            boolean allowed = c == '\n' || HtmlBuilder.isAllowed(c);
            clean.appendCodePoint(allowed ? c : 0xFFFD);
        });
        return clean.toString();
    }

    private static FlameGraphPage embeddable(String page) {
        int start = page.indexOf(NAMES);
        int end = page.lastIndexOf("</script>");
        if (start < 0 || end < start) throw new IllegalStateException("unexpected output of the flame graph converter");
        // The names of frames are string literals, which must not end the script.
        String names = page.substring(start, end).replace("</", "<\\/").replace("<!--", "<\\!--");
        String html = page.substring(0, start) + names + page.substring(end, end + "</script>".length()) + "<script>"
                + EMBEDDED_SCRIPT + "</script></body></html>";
        List<String> scripts = new ArrayList<>();
        Matcher script = SCRIPT.matcher(html);
        while (script.find()) scripts.add(script.group(1));
        return new FlameGraphPage(html, scripts);
    }
}
