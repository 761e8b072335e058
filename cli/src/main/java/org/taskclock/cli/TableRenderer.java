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
import org.taskclock.monitor.Diagnosis;
import org.taskclock.monitor.ThreadUsage;

/** Draws the table of threads with as many columns as fit. */
final class TableRenderer {
    /** Minimum width of the name column, unless half of the screen is narrower. */
    private static final int MIN_NAME = 16;

    /** Width that low-priority columns must leave for the name column. */
    private static final int LONG_NAME = 32;

    /** Width of the name column beyond which the bar grows. */
    private static final int VERY_LONG_NAME = 70;

    private static final int MAX_BAR = 40;

    private final ViewState view;
    private final Styles styles;
    private final List<Column> columns = new ArrayList<>();
    private final Set<Integer> suspects = new HashSet<>();
    private final int nameWidth;
    private final int barWidth;

    TableRenderer(ViewState view, Styles styles, int width) {
        this.view = view;
        this.styles = styles;
        for (Diagnosis diagnosis : view.diagnoses()) if (diagnosis.tid() != 0) suspects.add(diagnosis.tid());
        List<Column> candidates = new ArrayList<>(Arrays.asList(Column.values()));
        candidates.removeIf(column -> column == Column.NAME || !isRelevant(column));
        candidates.sort(Comparator.comparingInt(column -> column.rank));
        int left = width;
        for (Column column : candidates) {
            int minName = column.rank <= Column.BAR.rank ? Math.min(MIN_NAME, width / 2) : LONG_NAME;
            if (left - column.width - 1 < minName) continue;
            left -= column.width + 1;
            columns.add(column);
        }
        columns.sort(Comparator.naturalOrder());
        view.showsJavaStatus = columns.stream().anyMatch(Column::isJavaStatus) || view.sort.isJavaStatus();
        // The bar gets the space that names do not need.
        int extra = Math.max(0, Math.min(left - VERY_LONG_NAME, MAX_BAR - Column.BAR.width));
        boolean hasBar = columns.contains(Column.BAR);
        barWidth = Column.BAR.width + (hasBar ? extra : 0);
        nameWidth = Math.max(1, left - (hasBar ? extra : 0));
    }

    private boolean isRelevant(Column column) {
        return switch (column) {
            case PID -> view.intervals.size() > 1;
            case LIMIT ->
                view.intervals.stream().anyMatch(interval -> interval.totals().containerCores() > 0);
            case JAVA_ID -> view.rows.stream().anyMatch(row -> row.thread().javaId() > 0);
            default -> true;
        };
    }

    StyledLine titles() {
        StyledLine line = new StyledLine(styles);
        for (Column column : columns) {
            String title = column == Column.POOL
                            || column == Column.KIND
                            || column == Column.JAVA_STATE
                            || column == Column.BLOCKED_BY
                    ? CellFormat.padRight(column.title, width(column))
                    : CellFormat.padLeft(column.title, width(column));
            line.add(style(column), title).add(styles.titles(), " ");
        }
        String name = Column.NAME.title
                + (columns.contains(view.sort) || view.sort == Column.NAME ? "" : " by " + view.sort.label());
        return line.add(style(Column.NAME), CellFormat.padRight(name, nameWidth));
    }

    private AttributedStyle style(Column column) {
        return column == view.sort ? styles.sorted() : styles.titles();
    }

    private int width(Column column) {
        return column == Column.BAR ? barWidth : column.width;
    }

    StyledLine draw(int index) {
        TableModel.Row row = view.rows.get(index);
        boolean selected = index == view.selected;
        boolean tagged = view.tags.contains(row.key());
        AttributedStyle valueStyle = selected ? styles.selected() : tagged ? styles.tagged() : AttributedStyle.DEFAULT;
        StyledLine line = new StyledLine(styles);
        for (Column column : columns) {
            if (column == Column.BAR && !selected) {
                bar(line, row).add(" ");
            } else {
                line.add(valueStyle, cell(column, row) + " ");
            }
        }
        AttributedStyle nameStyle = selected
                ? styles.selected()
                : suspects.contains(row.thread().tid())
                        ? styles.alarm()
                        : tagged ? styles.tagged() : styles.kind(row.thread().kind());
        return line.add(nameStyle, CellFormat.padRight(name(row, tagged), nameWidth));
    }

    private String cell(Column column, TableModel.Row row) {
        ThreadUsage thread = row.thread();
        double value = column.value(thread, row.interval(), row.seconds());
        return switch (column) {
            case PID, TID, JAVA_ID -> CellFormat.padLeft(value > 0 ? Long.toString((long) value) : "", column.width);
            case STATE -> String.valueOf(thread.state() > ' ' && thread.state() < 0x7f ? thread.state() : '?');
            case ALLOCATION -> CellFormat.padLeft(HeapText.bytes(Math.round(value)), column.width);
            case TIME -> CellFormat.padLeft(CellFormat.time(value), column.width);
            case BAR ->
                // Without styles, because the row is selected.
                bar(new StyledLine(styles), row).toAttributed(barWidth).toString();
            case KIND, POOL, JAVA_STATE, BLOCKED_BY -> CellFormat.padRight(CellFormat.sanitize(column.text(thread)), column.width);
            default -> CellFormat.padLeft(CellFormat.number(value), column.width);
        };
    }

    /** Appends a bar, which is full at one processor. If the split is unknown, the whole bar is drawn as user time. */
    private StyledLine bar(StyledLine line, TableModel.Row row) {
        double cpu = Math.max(0, Column.CPU.value(row.thread(), row.interval(), 0));
        double system = Math.max(0, Column.SYSTEM.value(row.thread(), row.interval(), 0));
        return line.blocks((cpu - system) / 100, system / 100, barWidth);
    }

    private String name(TableModel.Row row, boolean tagged) {
        ThreadUsage thread = row.thread();
        StringBuilder name = new StringBuilder();
        if (tagged) name.append('*');
        if (row.inPool()) name.append("  ");
        if (row.isPool()) name.append(view.isExpanded(row.key()) ? "- " : "+ ");
        else if (view.groupByPool && !row.inPool()) name.append("  ");
        name.append(CellFormat.sanitize(thread.name()));
        if (thread.truncated()) name.append('~');
        if (thread.kind() == ThreadUsage.Kind.VIRTUAL && !row.isPool())
            name.append(" (").append(thread.threads()).append(" virtual)");
        else if (thread.threads() > 1 || row.isPool())
            name.append(" (").append(thread.threads()).append(')');
        return name.toString();
    }
}
