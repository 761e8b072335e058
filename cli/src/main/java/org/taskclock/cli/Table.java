// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;

/** The lines of the table: the rows of the frames as the view wants them, filtered, in order, by pool or not. */
final class Table {
    private Table() {}

    /**
     * A row as it is shown.
     *
     * @param key the same from frame to frame
     * @param seconds of CPU time since watching began
     * @param members of a pool; empty for a thread
     * @param inside a pool that is open
     */
    record Line(String key, Frame frame, Row row, double seconds, List<Line> members, boolean inside) {
        boolean isPool() {
            return !members.isEmpty();
        }
    }

    static List<Line> lines(List<Frame> frames, View view) {
        List<Line> all = new ArrayList<>();
        for (Frame frame : frames) {
            for (Row row : frame.rows()) {
                if (!view.shows(row)) continue;
                String key = View.key(row);
                all.add(new Line(key, frame, row, view.seconds(key), List.of(), false));
            }
        }
        Comparator<Line> order = view.sort.order();
        if (view.inverted) order = order.reversed();
        if (!view.tree) {
            all.sort(order);
            return all;
        }
        return tree(all, order, view);
    }

    private static List<Line> tree(List<Line> all, Comparator<Line> order, View view) {
        Map<String, List<Line>> pools = new LinkedHashMap<>();
        for (Line line : all)
            pools.computeIfAbsent(poolKey(line.row()), k -> new ArrayList<>()).add(line);
        List<Line> top = new ArrayList<>();
        for (Map.Entry<String, List<Line>> entry : pools.entrySet()) {
            List<Line> members = entry.getValue();
            if (members.size() == 1) {
                top.add(members.get(0));
            } else {
                top.add(pool(entry.getKey(), members));
            }
        }
        top.sort(order);
        List<Line> lines = new ArrayList<>();
        for (Line line : top) {
            lines.add(line);
            if (!view.isOpen(line.key())) continue;
            List<Line> members = new ArrayList<>(line.members());
            members.sort(order);
            for (Line member : members) {
                lines.add(new Line(member.key(), member.frame(), member.row(), member.seconds(), List.of(), true));
            }
        }
        return lines;
    }

    /** Virtual threads stand with their carriers, in whose time theirs is. */
    private static String poolKey(Row row) {
        boolean virtual = row.kind() == Row.Kind.CARRIER || row.kind() == Row.Kind.VIRTUAL;
        return "pool " + row.pid() + " " + (virtual ? "carriers" : row.kind() + " " + row.pool());
    }

    private static Line pool(String key, List<Line> members) {
        // The time of virtual threads is in that of their carriers, unless a filter has taken those away.
        List<Line> counted = new ArrayList<>(members);
        counted.removeIf(line -> line.row().kind() == Row.Kind.VIRTUAL);
        String name =
                counted.isEmpty() ? "virtual threads" : counted.get(0).row().pool();
        if (counted.isEmpty()) counted = members;
        Line first = counted.get(0);
        Row like = first.row();
        int threads = 0;
        long cpu = -1;
        long user = -1;
        boolean userKnown = true;
        long wait = -1;
        long voluntary = -1;
        long involuntary = -1;
        double seconds = 0;
        char state = 'S';
        for (Line line : counted) {
            Row row = line.row();
            threads += row.threads();
            cpu = add(cpu, row.cpuNanos());
            user = add(user, row.userNanos());
            if (row.cpuNanos() > 0 && row.userNanos() < 0) userKnown = false;
            wait = add(wait, row.waitNanos());
            voluntary = add(voluntary, row.voluntary());
            involuntary = add(involuntary, row.involuntary());
            seconds += Math.max(0, line.seconds());
            if (row.state() == 'R') state = 'R';
        }
        Row row = new Row(
                like.pid(),
                0,
                0,
                name,
                false,
                like.kind(),
                like.pool(),
                threads,
                cpu,
                userKnown ? user : -1,
                wait,
                voluntary,
                involuntary,
                state);
        return new Line(key, first.frame(), row, seconds, List.copyOf(members), false);
    }

    /** What is not known of one member is missing in the sum, which is not known only where nothing is. */
    private static long add(long sum, long value) {
        if (value < 0) return sum;
        return sum < 0 ? value : sum + value;
    }

    /** A regular expression, in any case; taken by the letter where it is none, as while it is being typed. */
    static Pattern pattern(String words) {
        try {
            return Pattern.compile(words, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE);
        } catch (PatternSyntaxException e) {
            return Pattern.compile(words, Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE | Pattern.LITERAL);
        }
    }

    /** True where it is in the name or pool, or is the thread's id. */
    static boolean matches(Row row, Pattern pattern) {
        return pattern.matcher(row.name()).find()
                || pattern.matcher(row.pool()).find()
                || (row.tid() != 0
                        && pattern.matcher(Integer.toString(row.tid())).matches());
    }
}
