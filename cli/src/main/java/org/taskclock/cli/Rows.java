// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jline.utils.AttributedStyle;
import org.taskclock.watch.Diagnosis;
import org.taskclock.watch.Row;

/** Draws the table of threads, with as many columns as there is room for. */
final class Rows {
    /** A name has at least this room, or half of the screen; and this much before the rarer columns are shown. */
    private static final int NAME = 16;

    private static final int LONG_NAME = 32;
    private static final int VERY_LONG_NAME = 70;
    private static final int LONG_BAR = 40;

    private final View view;
    private final Styles styles;
    private final List<Column> columns = new ArrayList<>();
    private final Set<Integer> suspects = new HashSet<>();
    private final int nameWidth;
    private final int barWidth;

    Rows(View view, Styles styles, int width) {
        this.view = view;
        this.styles = styles;
        for (Diagnosis diagnosis : view.diagnoses()) if (diagnosis.tid() != 0) suspects.add(diagnosis.tid());
        List<Column> wanted = new ArrayList<>(Arrays.asList(Column.values()));
        wanted.removeIf(column -> column == Column.NAME || !hasSense(column));
        wanted.sort(Comparator.comparingInt(column -> column.rank));
        int left = width;
        for (Column column : wanted) {
            int least = column.rank <= Column.BAR.rank ? Math.min(NAME, width / 2) : LONG_NAME;
            if (left - column.width - 1 < least) continue;
            left -= column.width + 1;
            columns.add(column);
        }
        columns.sort(Comparator.naturalOrder());
        // Room that no name needs makes the bar longer.
        int more = Math.max(0, Math.min(left - VERY_LONG_NAME, LONG_BAR - Column.BAR.width));
        boolean bar = columns.contains(Column.BAR);
        barWidth = Column.BAR.width + (bar ? more : 0);
        nameWidth = Math.max(1, left - (bar ? more : 0));
    }

    private boolean hasSense(Column column) {
        return switch (column) {
            case PID -> view.frames.size() > 1;
            case LIMIT -> view.frames.stream().anyMatch(frame -> frame.totals().containerCores() > 0);
            case JAVA_ID -> view.lines.stream().anyMatch(line -> line.row().javaId() > 0);
            default -> true;
        };
    }

    Line titles() {
        Line line = new Line(styles);
        for (Column column : columns) {
            String title = column == Column.POOL || column == Column.KIND
                    ? Cells.left(column.title, width(column))
                    : Cells.right(column.title, width(column));
            line.add(style(column), title).add(styles.titles(), " ");
        }
        String name = Column.NAME.title
                + (columns.contains(view.sort) || view.sort == Column.NAME ? "" : " by " + view.sort.word());
        return line.add(style(Column.NAME), Cells.left(name, nameWidth));
    }

    private AttributedStyle style(Column column) {
        return column == view.sort ? styles.sorted() : styles.titles();
    }

    private int width(Column column) {
        return column == Column.BAR ? barWidth : column.width;
    }

    Line row(int index) {
        Table.Line row = view.lines.get(index);
        boolean selected = index == view.selected;
        boolean tagged = view.tags.contains(row.key());
        AttributedStyle figures = selected ? styles.selected() : tagged ? styles.tagged() : AttributedStyle.DEFAULT;
        Line line = new Line(styles);
        for (Column column : columns) {
            if (column == Column.BAR && !selected) {
                bar(line, row).add(" ");
            } else {
                line.add(figures, cell(column, row) + " ");
            }
        }
        AttributedStyle name = selected
                ? styles.selected()
                : suspects.contains(row.row().tid())
                        ? styles.alarm()
                        : tagged ? styles.tagged() : styles.kind(row.row().kind());
        return line.add(name, Cells.left(name(row, tagged), nameWidth));
    }

    private String cell(Column column, Table.Line line) {
        Row row = line.row();
        double value = column.value(row, line.frame(), line.seconds());
        return switch (column) {
            case PID, TID, JAVA_ID -> Cells.right(value > 0 ? Long.toString((long) value) : "", column.width);
            case STATE -> String.valueOf(row.state() > ' ' && row.state() < 0x7f ? row.state() : '?');
            case TIME -> Cells.right(Cells.time(value), column.width);
            case BAR ->
                bar(new Line(styles), line).toAttributed(barWidth).toString(); // in one style, as it is selected
            case KIND, POOL -> Cells.left(Cells.clean(column.text(row)), column.width);
            default -> Cells.right(Cells.number(value), column.width);
        };
    }

    /** A full one is one processor. Where user and system cannot be told apart it is all user. */
    private Line bar(Line line, Table.Line row) {
        double cpu = Math.max(0, Column.CPU.value(row.row(), row.frame(), 0));
        double system = Math.max(0, Column.SYSTEM.value(row.row(), row.frame(), 0));
        return line.blocks((cpu - system) / 100, system / 100, barWidth);
    }

    private String name(Table.Line line, boolean tagged) {
        Row row = line.row();
        StringBuilder name = new StringBuilder();
        if (tagged) name.append('*');
        if (line.inside()) name.append("  ");
        if (line.isPool()) name.append(view.isOpen(line.key()) ? "- " : "+ ");
        else if (view.tree && !line.inside()) name.append("  ");
        name.append(Cells.clean(row.name()));
        if (row.cut()) name.append('~');
        if (row.kind() == Row.Kind.VIRTUAL && !line.isPool())
            name.append(" (").append(row.threads()).append(" virtual)");
        else if (row.threads() > 1 || line.isPool())
            name.append(" (").append(row.threads()).append(')');
        return name.toString();
    }
}
