// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import one.convert.Arguments;
import one.convert.FlameGraph;

/**
 * A flame graph drawn by async-profiler's converter: a page of its own, which reports and the page of {@code serve}
 * embed in an iframe.
 *
 * @param html empty if there are no stacks
 * @param scripts the scripts of the page, which the policy of the embedding page or of the response must allow
 */
public record FlameGraphPage(String html, List<String> scripts) {
    private static final Pattern STACK = Pattern.compile("\\S.* \\d{1,18}", Pattern.DOTALL);
    private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);
    /** The start of the names in the converter's output. */
    private static final String NAMES = "const cpool = [";

    /**
     * Follows the color scheme of the embedding page and sends it the height of this page. The graph measures its width
     * only once. If the iframe has no layout yet, that width is 0, and the script asks the embedding page to reload the
     * graph. The response of a server is in a sandbox, where browsers show no prompt, so the embedding page searches.
     * Names what a screen reader meets; the methods are in a table of the embedding page.
     */
    private static final String EMBEDDED_SCRIPT = """
            document.title = 'Flame graph';
            document.querySelector('h1').ariaLabel = 'Flame graph';
            document.getElementById('info').title = 'Legend';
            canvas.role = 'img';
            canvas.ariaLabel = 'Flame graph';
            const main = document.createElement('main');
            main.style.display = 'contents';
            main.append(...document.body.children);
            document.body.append(main);
            addEventListener('message', event => {
              if (event.source !== parent) return;
              if (typeof event.data.search === 'string') {
                search(event.data.search);
                return;
              }
              document.documentElement.classList.toggle('dark', event.data === 'dark');
              render(root);
            });
            const reload = () => parent.postMessage({reload: true}, '*');
            if (location.protocol !== 'about:') {
              window.prompt = () => {
                parent.postMessage({search: true}, '*');
                return null;
              };
            }
            if (canvasWidth) {
              parent.postMessage({height: canvas.offsetTop + canvasHeight + 24}, '*');
              const initialWidth = innerWidth;
              addEventListener('resize', () => innerWidth === initialWidth || reload());
            } else {
              addEventListener('resize', reload);
            }
            """;

    /** Draws collapsed stacks. Lines that are not a stack and a number are left out. */
    public static FlameGraphPage of(String collapsed) throws IOException {
        return of(null, collapsed);
    }

    /**
     * Draws the second of two profiles in colors that show the difference of each frame's own samples: red for more
     * than in the first one, blue for fewer, yellow for frames that the first one does not have.
     */
    public static FlameGraphPage difference(String base, String collapsed) throws IOException {
        return of(parse(base), collapsed);
    }

    private static FlameGraphPage of(FlameGraph base, String collapsed) throws IOException {
        FlameGraph graph = parse(collapsed);
        if (graph == null) return new FlameGraphPage("", List.of());
        if (base != null) graph.diff(base);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        graph.dump(out);
        return embeddable(out.toString(StandardCharsets.UTF_8));
    }

    /** Returns null if there are no stacks. */
    private static FlameGraph parse(String collapsed) throws IOException {
        // The converter stops at the first line that is not a stack.
        String stacks = String.join(
                "\n", collapsed.lines().filter(FlameGraphPage::isStack).toList());
        if (stacks.isEmpty()) return null;
        Arguments arguments = new Arguments();
        arguments.title = "\u00a0"; // an empty title would remove the line with the buttons
        FlameGraph graph = new FlameGraph(arguments);
        graph.parseCollapsed(new StringReader(clean(stacks)));
        return graph;
    }

    static boolean isStack(String line) {
        return STACK.matcher(line).matches();
    }

    /**
     * Replaces characters that a browser would change, because then the hash of the script would not match the policy.
     */
    private static String clean(String stacks) {
        StringBuilder clean = new StringBuilder(stacks.length());
        stacks.codePoints().forEach(c -> clean.appendCodePoint(c == '\n' || isAllowed(c) ? c : 0xFFFD));
        return clean.toString();
    }

    /**
     * Returns whether a page may contain a character. Control characters and unpaired surrogates are invalid, and
     * characters that change the text direction could mislead the reader.
     */
    public static boolean isAllowed(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL, Character.SURROGATE, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR ->
                false;
            default -> !(codePoint >= 0x202A && codePoint <= 0x202E) && !(codePoint >= 0x2066 && codePoint <= 0x2069);
        };
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

    /** Returns the source expression by which a content security policy allows a script. */
    public static String hash(String script) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(script.getBytes(StandardCharsets.UTF_8));
            return "'sha256-" + Base64.getEncoder().encodeToString(hash) + "'";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has SHA-256
        }
    }
}
