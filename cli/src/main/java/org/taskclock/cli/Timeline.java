// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jline.utils.AttributedStyle;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.monitor.recording.IntervalSummary;
import org.taskclock.monitor.recording.Recording;

/**
 * Draws the CPU use of the process over time, and below it a letter for each finding: over the whole recording, or
 * since watching began. In a recording, it also shows the position.
 */
final class Timeline {
    /** On screens with fewer lines, threads need the space more. */
    private static final int MIN_HEIGHT = 20;

    /** On screens with fewer lines, even the position is omitted. */
    private static final int MIN_POSITION_HEIGHT = 12;

    private static final int LABEL_WIDTH = 10;
    private static final int MAXIMUM_WIDTH = 13;

    private static final DateTimeFormatter DATE_AND_TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    private final ViewState view;
    private final Styles styles;
    private final int columns;
    /** The highest CPU use in each column, in percent; NaN if there is none. */
    private final double[] percents;
    /** The most severe kind of finding in each column; null if there is none. */
    private final FindingKind[] kinds;

    /** The column of the current interval; -1 in a live view. */
    private int current = -1;

    private long startMillis;
    private long endMillis;

    private Timeline(ViewState view, Styles styles, int width) {
        this.view = view;
        this.styles = styles;
        columns = Math.max(1, width - LABEL_WIDTH - MAXIMUM_WIDTH);
        percents = new double[columns];
        kinds = new FindingKind[columns];
        Arrays.fill(percents, Double.NaN);
    }

    /** Returns the number of lines. */
    static int height(ViewState view, int screenHeight) {
        boolean isShown = view.page == ViewState.Page.TABLE || view.page == ViewState.Page.FINDINGS;
        if (!isShown || view.intervals.isEmpty()) return 0;
        int position = view.position != null && screenHeight >= MIN_POSITION_HEIGHT ? 1 : 0;
        return position + (screenHeight >= MIN_HEIGHT ? 2 : 0);
    }

    /** Returns at least as many lines as {@link #height}. */
    static List<StyledLine> draw(ViewState view, Styles styles, int width) {
        Timeline timeline = new Timeline(view, styles, width);
        List<StyledLine> lines = new ArrayList<>();
        if (view.position == null) {
            timeline.addLatest(view.history.summaries(), view.history.firstSummary());
        } else {
            timeline.addRecording(view.outline, view.position);
            lines.add(timeline.position());
        }
        lines.add(timeline.cpu());
        lines.add(timeline.marks());
        return lines;
    }

    /** Fills the columns from the left with as many intervals each as necessary. */
    private void addLatest(List<IntervalSummary> summaries, long firstNumber) {
        if (summaries.isEmpty()) return;
        long last = firstNumber + summaries.size() - 1;
        // The intervals of a column stay the same when the others move to the left.
        long perColumn = 1;
        while (last / perColumn - firstNumber / perColumn >= columns) perColumn++;
        for (int i = 0; i < summaries.size(); i++)
            add((int) ((firstNumber + i) / perColumn - firstNumber / perColumn), summaries.get(i));
        startMillis = startMillis(summaries.get(0));
        endMillis = summaries.get(summaries.size() - 1).endMillis();
    }

    private void addRecording(List<IntervalSummary> outline, Recording.Position position) {
        startMillis = position.start().toEpochMilli();
        endMillis = position.end().toEpochMilli();
        for (IntervalSummary summary : outline)
            for (int i = column(startMillis(summary)); i <= column(summary.endMillis() - 1); i++) add(i, summary);
        current = column(view.intervals.get(0).end().toEpochMilli() - 1);
    }

    private int column(long millis) {
        long length = Math.max(1, endMillis - startMillis);
        return (int) Math.max(0, Math.min(columns - 1, (millis - startMillis) * columns / length));
    }

    private static long startMillis(IntervalSummary summary) {
        return summary.endMillis() - Math.round(summary.seconds() * 1e3);
    }

    private void add(int column, IntervalSummary summary) {
        if (!(summary.cpuPercent() <= percents[column])) percents[column] = summary.cpuPercent();
        for (FindingKind kind : summary.kinds()) {
            if (kinds[column] == null || FindingKinds.BY_SEVERITY.compare(kind, kinds[column]) < 0)
                kinds[column] = kind;
        }
    }

    private StyledLine position() {
        Recording.Position position = view.position;
        Instant end = view.intervals.get(0).end();
        int read = (int) (100L * view.outline.size() / position.count());
        String text = CellFormat.padRight("position", LABEL_WIDTH)
                + String.format(Locale.ROOT, "%,d of %,d  ", position.number() + 1, position.count())
                + DATE_AND_TIME.withZone(ZoneId.systemDefault()).format(end)
                + "  "
                + elapsed(end.toEpochMilli() - startMillis)
                + " of "
                + elapsed(endMillis - startMillis)
                + (read < 100 ? "  (reading: " + read + " %)" : "");
        return new StyledLine(styles).add(styles.title(), text);
    }

    /** Formats a duration: 4:05 or 2:04:05. */
    private static String elapsed(long millis) {
        long seconds = Math.round(Math.max(0, millis) / 1e3);
        return seconds < 3_600
                ? String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60)
                : String.format(Locale.ROOT, "%d:%02d:%02d", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    }

    private StyledLine cpu() {
        double scale = Sparkline.scale(percents);
        double maximum = -1;
        for (double percent : percents) maximum = Math.max(maximum, Double.isNaN(percent) ? -1 : percent);
        StyledLine line = new StyledLine(styles).add(CellFormat.padRight("history", LABEL_WIDTH));
        for (int i = 0; i < columns; i++) {
            AttributedStyle style = kinds[i] == null ? styles.user() : styles.finding(kinds[i]);
            line.add(
                    i == current ? styles.selected() : style,
                    String.valueOf(Sparkline.character(percents[i], scale, view.unicode)));
        }
        return line.add(styles.faint(), "  max " + CellFormat.number(maximum) + " %");
    }

    private StyledLine marks() {
        StyledLine line =
                new StyledLine(styles).add(styles.faint(), CellFormat.padRight(time(startMillis), LABEL_WIDTH));
        for (int i = 0; i < columns; i++) {
            String mark = kinds[i] != null ? letter(kinds[i]) : i == current ? "^" : " ";
            if (i == current) line.add(styles.selected(), mark);
            else if (kinds[i] == null) line.add(mark);
            else line.add(styles.finding(kinds[i]), mark);
        }
        return line.add(styles.faint(), "  " + time(endMillis));
    }

    static String letter(FindingKind kind) {
        return CellFormat.sanitize(
                kind.id().isEmpty() ? "?" : kind.id().substring(0, 1).toUpperCase(Locale.ROOT));
    }

    private static String time(long millis) {
        return TIME.withZone(ZoneId.systemDefault()).format(Instant.ofEpochMilli(millis));
    }
}
