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
 * A flame graph as async-profiler draws it: a page of its own, to be shown in a frame.
 *
 * @param html empty if there are no stacks
 * @param scripts of it, which the page around has to allow
 */
record FlamePage(String html, List<String> scripts) {
    private static final Pattern STACK = Pattern.compile("\\S.* \\d{1,18}", Pattern.DOTALL);
    private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);
    private static final String FRAMES = "const cpool = [";

    /**
     * Follows the scheme of the page around, and tells it how high this one is. The graph measures its width once, which is 0 where
     * the frame was not laid out yet.
     */
    private static final String GUEST = """
            addEventListener('message', event => {
              if (event.source !== parent) return;
              document.documentElement.classList.toggle('dark', event.data === 'dark');
              render(root);
            });
            const again = () => parent.postMessage({again: true}, '*');
            if (canvasWidth) {
              parent.postMessage({height: canvas.offsetTop + canvasHeight + 24}, '*');
              const widthAtFirst = innerWidth;
              addEventListener('resize', () => innerWidth === widthAtFirst || again());
            } else {
              addEventListener('resize', again);
            }
            """;

    static FlamePage of(String collapsed) throws IOException {
        // The converter stops at a line that is none.
        String stacks =
                String.join("\n", collapsed.lines().filter(FlamePage::isStack).toList());
        if (stacks.isEmpty()) return new FlamePage("", List.of());
        Arguments arguments = new Arguments();
        arguments.title = "\u00a0"; // keeps the line that its buttons are in
        FlameGraph graph = new FlameGraph(arguments);
        graph.parseCollapsed(new StringReader(clean(stacks)));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        graph.dump(out);
        return guest(out.toString(StandardCharsets.UTF_8));
    }

    static boolean isStack(String line) {
        return STACK.matcher(line).matches();
    }

    /** What a page cannot hold as it is would change the script, which then is not the one allowed. */
    private static String clean(String stacks) {
        StringBuilder clean = new StringBuilder(stacks.length());
        stacks.codePoints().forEach(c -> {
            boolean kept = c == '\n' || Html.isShown(c);
            clean.appendCodePoint(kept ? c : 0xFFFD);
        });
        return clean.toString();
    }

    private static FlamePage guest(String page) {
        int frames = page.indexOf(FRAMES);
        int end = page.lastIndexOf("</script>");
        if (frames < 0 || end < frames) throw new IllegalStateException("the flame graph is not as expected");
        // Names of frames stand there in quotes, and must not end the script.
        String names = page.substring(frames, end).replace("</", "<\\/").replace("<!--", "<\\!--");
        String html = page.substring(0, frames) + names + page.substring(end, end + "</script>".length()) + "<script>"
                + GUEST + "</script></body></html>";
        List<String> scripts = new ArrayList<>();
        Matcher script = SCRIPT.matcher(html);
        while (script.find()) scripts.add(script.group(1));
        return new FlamePage(html, scripts);
    }
}
