// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.taskclock.monitor.profile.Profile;

/**
 * A flame graph as text, callers above callees. Each frame has a line with a bar, which is as wide as its share and
 * stands below the bar of its caller. A frame is indented only if its caller has other callees.
 */
final class FlameText {
    private static final int PERCENT_WIDTH = 15;
    private static final int MIN_BAR = 8;

    private static final class Node {
        private final String name;
        private final Map<String, Node> callees = new LinkedHashMap<>();
        private long totalNanos;
        private long selfNanos;

        Node(String name) {
            this.name = name;
        }
    }

    private final Profile profile;
    private final int width;
    private final int barWidth;
    private final List<String> lines = new ArrayList<>();

    private FlameText(Profile profile, int width) {
        this.profile = profile;
        this.width = width;
        // Names need more room than bars.
        barWidth = Math.max(MIN_BAR, (width - PERCENT_WIDTH) * 2 / 5);
    }

    static List<String> of(Profile profile, int width) {
        if (profile.stacks().isEmpty()) return List.of("No samples: these threads used little or no CPU time.");
        FlameText text = new FlameText(profile, width);
        text.lines.add(" total   self");
        text.add(tree(profile), 0, 0, "");
        return text.lines;
    }

    private static Node tree(Profile profile) {
        Node root = new Node("all");
        for (Profile.Stack stack : profile.flameStacks()) {
            Node node = root;
            node.totalNanos += stack.cpuNanos();
            for (String frame : stack.frames()) {
                node = node.callees.computeIfAbsent(Profile.name(frame), Node::new);
                node.totalNanos += stack.cpuNanos();
            }
            node.selfNanos += stack.cpuNanos();
        }
        return root;
    }

    /** Adds a frame and its callees. {@code startNanos} is where its bar begins. */
    private void add(Node node, long startNanos, int depth, String marker) {
        int start = column(startNanos);
        int length = Math.max(1, column(startNanos + node.totalNanos) - start);
        String bar = " ".repeat(Math.min(start, barWidth - 1)) + "|".repeat(length);
        String indent = "  ".repeat(Math.max(0, depth - (marker.isEmpty() ? 0 : 1))) + marker;
        String line = String.format(
                Locale.ROOT,
                "%6.1f %6.1f  %s %s%s",
                profile.percent(node.totalNanos),
                profile.percent(node.selfNanos),
                CellFormat.padRight(bar, barWidth),
                indent,
                CellFormat.sanitize(node.name));
        lines.add(CellFormat.truncate(line, width));
        List<Node> callees = new ArrayList<>(node.callees.values());
        callees.sort(
                Comparator.comparingLong((Node callee) -> callee.totalNanos).reversed());
        // A frame narrower than a column is not drawn; all of these share a line.
        long columnNanos = profile.totalNanos() / barWidth;
        List<Node> narrow = callees.stream()
                .filter(callee -> callee.totalNanos < columnNanos)
                .toList();
        callees.removeAll(narrow);
        boolean branches = callees.size() + (narrow.isEmpty() ? 0 : 1) > 1;
        long calleeStart = startNanos;
        for (Node callee : callees) {
            add(callee, calleeStart, branches ? depth + 1 : depth, branches ? "- " : "");
            calleeStart += callee.totalNanos;
        }
        if (!narrow.isEmpty()) addNarrow(narrow, calleeStart, branches ? depth + 1 : depth, branches);
    }

    private void addNarrow(List<Node> narrow, long startNanos, int depth, boolean branches) {
        Node rest = new Node(narrow.size() == 1 ? narrow.get(0).name : "(" + narrow.size() + " others)");
        for (Node callee : narrow) rest.totalNanos += callee.totalNanos;
        rest.selfNanos = narrow.size() == 1 ? narrow.get(0).selfNanos : 0;
        add(rest, startNanos, depth, branches ? "- " : "");
    }

    private int column(long nanos) {
        return (int) Math.round((double) nanos / profile.totalNanos() * barWidth);
    }
}
