// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;
import org.taskclock.watch.Totals;

/** The totals above the table: of one JVM in full, of several a line each. */
final class Header {
    /** Of the text before a bar. */
    private static final int LABEL = 52;
    /** Of it, which JVM it is of. */
    private static final int NAME = 24;

    private Header() {}

    static int lines(List<Frame> frames) {
        return frames.size() <= 1 ? 4 : frames.size() + 2;
    }

    static List<Line> draw(View view, Styles styles, int width) {
        List<Line> lines = new ArrayList<>();
        if (view.frames.isEmpty()) {
            lines.add(new Line(styles).add(styles.head(), "taskclock: looking ..."));
            while (lines.size() < lines(view.frames)) lines.add(new Line(styles));
            return lines;
        }
        Frame first = view.frames.get(0);
        if (view.frames.size() == 1) {
            lines.add(new Line(styles).add(styles.head(), heading(view, first, width)));
            lines.add(process(first, styles, width));
            lines.add(container(first, styles, width));
        } else {
            String head = time(first.end(), view.recorded) + "  " + Cells.number(first.intervalNanos() / 1e9) + " s  "
                    + view.frames.size() + " JVMs";
            lines.add(new Line(styles).add(styles.head(), head));
            for (Frame frame : view.frames) lines.add(oneOfSeveral(frame, styles, width));
        }
        lines.add(machine(first, styles, width));
        return lines;
    }

    /** The name stands last, as it may be long. */
    private static String heading(View view, Frame frame, int width) {
        int threads = 0;
        int running = 0;
        for (Row row : frame.rows()) {
            if (row.kind() == Row.Kind.VIRTUAL) continue;
            threads += row.threads();
            if (row.state() == 'R') running++;
        }
        String left = time(frame.end(), view.recorded)
                + "  "
                + Cells.number(frame.intervalNanos() / 1e9)
                + " s  "
                + threads
                + " threads, "
                + running
                + " running  "
                + (frame.source().equals("agent") ? "agent" : "/" + frame.source())
                + "  ";
        String name = frame.pid() + " " + Cells.clean(frame.name());
        return Cells.width(left) + 20 > width ? name : left + name;
    }

    /** When the interval ended; with the day where it is not today's. */
    private static String time(Instant end, boolean day) {
        String text =
                LocalDateTime.ofInstant(end, ZoneId.systemDefault()).withNano(0).toString();
        String seconds = text.length() == 16 ? ":00" : "";
        return (day ? text.replace('T', ' ') : text.substring(11)) + seconds;
    }

    private static Line process(Frame frame, Styles styles, int width) {
        Totals totals = frame.totals();
        double cpu = frame.percent(totals.processNanos());
        double user = frame.percent(totals.processUserNanos());
        double system = cpu < 0 || user < 0 ? -1 : Math.max(0, cpu - user);
        String label = "process   " + Cells.right(Cells.number(cpu), 6) + " %  user " + Cells.number(user) + "  system "
                + Cells.number(system);
        return line(styles, label, width, cpu, system, 100.0 * totals.processors());
    }

    private static Line oneOfSeveral(Frame frame, Styles styles, int width) {
        Totals totals = frame.totals();
        double cpu = frame.percent(totals.processNanos());
        double system = Math.max(0, cpu - frame.percent(totals.processUserNanos()));
        String label = Cells.left(frame.pid() + " " + Cells.clean(frame.name()), NAME) + " "
                + Cells.right(Cells.number(cpu), 6) + " %  system " + Cells.number(system);
        return line(styles, label, width, cpu, system, 100.0 * totals.processors());
    }

    private static Line container(Frame frame, Styles styles, int width) {
        Totals totals = frame.totals();
        double cpu = frame.percent(totals.containerNanos());
        if (cpu < 0)
            return new Line(styles).add(styles.faint(), "container: not in one, or its figures cannot be read");
        double limit = 100 * totals.containerCores();
        String label = "container " + Cells.right(Cells.number(cpu), 6) + " %";
        if (limit <= 0) return line(styles, label + "  no limit", width, cpu, 0, 100.0 * totals.processors());
        label += "  " + Cells.number(100 * cpu / limit) + " % of limit";
        double throttled = frame.percent(totals.throttledNanos());
        if (throttled > 0) label += "  throttled " + Cells.number(throttled) + " %";
        return line(styles, label, width, cpu, 0, limit);
    }

    private static Line machine(Frame frame, Styles styles, int width) {
        Totals totals = frame.totals();
        double cpu = frame.percent(totals.machineNanos());
        double all = 100.0 * totals.processors();
        String label = "machine   " + Cells.right(Cells.number(cpu), 6) + " %  of " + Cells.number(all) + ": "
                + Cells.number(cpu < 0 ? -1 : 100 * cpu / all) + " %";
        return line(styles, label, width, cpu, 0, all);
    }

    private static Line line(Styles styles, String label, int width, double cpu, double system, double full) {
        Line line = new Line(styles);
        if (width < LABEL + 12) return line.add(label);
        double ofWhich = Math.max(0, system);
        return line.add(Cells.left(label, LABEL))
                .bar((Math.max(0, cpu) - ofWhich) / full, ofWhich / full, width - LABEL);
    }
}
