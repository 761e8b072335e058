// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Draws the totals above the table: in full for one JVM, one line each for several. */
final class HeaderRenderer {
    /** Width of the text before a bar. */
    private static final int LABEL_WIDTH = 54;
    /** Width of the JVM's name within that text. */
    private static final int NAME_WIDTH = 24;

    private HeaderRenderer() {}

    /** Returns the number of lines. */
    static int height(List<Interval> intervals) {
        if (intervals.size() > 1) return intervals.size() + 2;
        if (intervals.isEmpty()) return 3;
        Interval only = intervals.get(0);
        return 3
                + (hasContainer(only) ? 1 : 0)
                + (only.totals().heap() == null ? 0 : 1)
                + (only.totals().virtualThreads().isKnown() ? 1 : 0);
    }

    static List<StyledLine> draw(ViewState view, Styles styles, int width) {
        List<StyledLine> lines = new ArrayList<>();
        if (view.intervals.isEmpty()) {
            String status = view.page == ViewState.Page.JVMS ? "choose a JVM" : "sampling ...";
            lines.add(new StyledLine(styles).add(styles.head(), "taskclock: " + status));
            while (lines.size() < height(view.intervals)) lines.add(new StyledLine(styles));
            return lines;
        }
        Interval first = view.intervals.get(0);
        if (view.intervals.size() == 1) {
            lines.add(new StyledLine(styles).add(styles.head(), heading(view, first, width)));
            lines.add(process(first, styles, width));
            if (first.totals().heap() != null) lines.add(heap(first, styles, width));
            if (first.totals().virtualThreads().isKnown()) lines.add(virtualThreads(first, styles, width));
            if (hasContainer(first)) lines.add(container(first, styles, width));
        } else {
            String head = time(first.end(), view.isRecording) + "  " + CellFormat.number(first.intervalNanos() / 1e9)
                    + " s  " + view.intervals.size() + " JVMs";
            lines.add(new StyledLine(styles).add(styles.head(), head));
            for (Interval interval : view.intervals) lines.add(summary(interval, styles, width));
        }
        lines.add(machine(first, styles, width));
        return lines;
    }

    /** Returns the first line. The name comes last, because it may be long. */
    private static String heading(ViewState view, Interval interval, int width) {
        int threads = 0;
        int running = 0;
        for (ThreadUsage thread : interval.threads()) {
            if (thread.kind() == ThreadKind.VIRTUAL) continue;
            threads += thread.threads();
            if (thread.state() == 'R') running++;
        }
        String left = time(interval.end(), view.isRecording)
                + "  "
                + CellFormat.number(interval.intervalNanos() / 1e9)
                + " s  "
                + threads
                + " threads, "
                + running
                + " running  "
                + (interval.source().equals("agent") ? "agent" : "/" + interval.source())
                + "  ";
        String name = interval.pid() + " " + CellFormat.sanitize(interval.name());
        return CellFormat.width(left) + 20 > width ? name : left + name;
    }

    /** Formats the time at which the interval ended, with the date if it is from a recording. */
    private static String time(Instant end, boolean withDate) {
        String text =
                LocalDateTime.ofInstant(end, ZoneId.systemDefault()).withNano(0).toString();
        String seconds = text.length() == 16 ? ":00" : "";
        return (withDate ? text.replace('T', ' ') : text.substring(11)) + seconds;
    }

    private static StyledLine process(Interval interval, Styles styles, int width) {
        ProcessUsage totals = interval.totals();
        double cpu = interval.percent(totals.processNanos());
        double user = interval.percent(totals.processUserNanos());
        double system = system(cpu, user);
        String label = "process   " + CellFormat.padLeft(CellFormat.number(cpu), 6) + " %  user "
                + CellFormat.number(user) + "  system " + CellFormat.number(system);
        return line(styles, label, width, cpu, system, 100.0 * totals.processors());
    }

    private static StyledLine summary(Interval interval, Styles styles, int width) {
        ProcessUsage totals = interval.totals();
        double cpu = interval.percent(totals.processNanos());
        double user = interval.percent(totals.processUserNanos());
        double system = system(cpu, user);
        String label = CellFormat.padRight(interval.pid() + " " + CellFormat.sanitize(interval.name()), NAME_WIDTH)
                + " " + CellFormat.padLeft(CellFormat.number(cpu), 6) + " %  system " + CellFormat.number(system);
        return line(styles, label, width, cpu, system, 100.0 * totals.processors());
    }

    private static double system(double cpu, double user) {
        return cpu < 0 || user < 0 ? -1 : Math.max(0, cpu - user);
    }

    private static boolean hasContainer(Interval interval) {
        return interval.totals().containerNanos() >= 0;
    }

    private static StyledLine container(Interval interval, Styles styles, int width) {
        ProcessUsage totals = interval.totals();
        double cpu = interval.percent(totals.containerNanos());
        double limit = 100 * totals.containerCores();
        String label = "container " + CellFormat.padLeft(CellFormat.number(cpu), 6) + " %";
        if (limit <= 0) return line(styles, label + "  no limit", width, cpu, 0, 100.0 * totals.processors());
        label += "  " + CellFormat.number(100 * cpu / limit) + " % of limit";
        double throttled = interval.percent(totals.throttledNanos());
        if (throttled > 0) label += "  throttled " + CellFormat.number(throttled) + " %";
        return line(styles, label, width, cpu, 0, limit);
    }

    private static StyledLine heap(Interval interval, Styles styles, int width) {
        HeapUsage heap = interval.totals().heap();
        return new StyledLine(styles).add(CellFormat.truncate("heap      " + HeapText.format(interval, heap), width));
    }

    private static StyledLine virtualThreads(Interval interval, Styles styles, int width) {
        String text = VirtualThreadText.format(interval.totals().virtualThreads());
        return new StyledLine(styles).add(CellFormat.truncate("virtual   " + text, width));
    }

    private static StyledLine machine(Interval interval, Styles styles, int width) {
        ProcessUsage totals = interval.totals();
        double cpu = interval.percent(totals.machineNanos());
        double user = interval.percent(totals.machineUserNanos());
        double system = system(cpu, user);
        int all = 100 * totals.processors();
        String label = "machine   " + CellFormat.padLeft(CellFormat.number(cpu), 6) + " %  user "
                + CellFormat.number(user) + "  system " + CellFormat.number(system) + "  of " + all;
        return line(styles, label, width, cpu, system, all);
    }

    private static StyledLine line(Styles styles, String label, int width, double cpu, double system, double full) {
        StyledLine line = new StyledLine(styles);
        if (width < LABEL_WIDTH + 12) return line.add(label);
        double systemPart = Math.max(0, system);
        return line.add(CellFormat.padRight(label, LABEL_WIDTH))
                .bar((Math.max(0, cpu) - systemPart) / full, systemPart / full, width - LABEL_WIDTH);
    }
}
