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
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.sampling.ColumnUnit;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.ThreadUsage;

/** Draws the table of threads with as many columns as fit. */
final class TableRenderer {
    /** Minimum width of the name column, unless half of the screen is narrower. */
    private static final int MIN_NAME = 16;

    /** Width that low-priority columns must leave for the name column. */
    private static final int LONG_NAME = 32;

    /** Width of the name column beyond which the bar grows. */
    private static final int VERY_LONG_NAME = 70;

    private static final int MAX_BAR = 40;

    private static final int MAX_RECENT = 30;

    /** Percent of a core. Rises from here on are marked. */
    private static final double MARKED_RISE = 10;

    private final ViewState view;
    private final Styles styles;
    private final List<ThreadColumn> columns = new ArrayList<>();
    private final Set<Integer> suspects = new HashSet<>();
    private final int nameWidth;
    private final int barWidth;
    private final int recentWidth;

    TableRenderer(ViewState view, Styles styles, int width) {
        this.view = view;
        this.styles = styles;
        for (Finding finding : view.findings()) if (finding.tid() != 0) suspects.add(finding.tid());
        List<ThreadColumn> order =
                new ArrayList<>(view.columns == null ? Arrays.asList(ThreadColumn.values()) : view.columns);
        if (!order.contains(ThreadColumn.RISE)) order.add(ThreadColumn.RISE); // shown only while sorting by it
        List<ThreadColumn> candidates = new ArrayList<>(order);
        candidates.removeIf(column -> column == ThreadColumn.NAME || !isRelevant(view, column));
        candidates.sort(Comparator.comparingInt(column -> column.rank));
        recentWidth = Math.max(ThreadColumn.RECENT.width, Math.min(MAX_RECENT, width / 5 - 10));
        int left = width;
        for (ThreadColumn column : candidates) {
            boolean isImportant = view.columns != null || column.rank <= ThreadColumn.BAR.rank;
            int minName = isImportant ? Math.min(MIN_NAME, width / 2) : LONG_NAME;
            int columnWidth = column == ThreadColumn.RECENT ? recentWidth : column.width;
            if (left - columnWidth - 1 < minName) continue;
            left -= columnWidth + 1;
            columns.add(column);
        }
        columns.sort(Comparator.comparing(order::indexOf));
        view.showsJavaStatus = columns.stream().anyMatch(ThreadColumn::isJavaStatus) || view.sort.isJavaStatus();
        // The bar gets the space that names do not need.
        int extra = Math.max(0, Math.min(left - VERY_LONG_NAME, MAX_BAR - ThreadColumn.BAR.width));
        boolean hasBar = columns.contains(ThreadColumn.BAR);
        barWidth = ThreadColumn.BAR.width + (hasBar ? extra : 0);
        nameWidth = Math.max(1, left - (hasBar ? extra : 0));
    }

    /** Returns the columns that fit, without the name. */
    List<ThreadColumn> columns() {
        return List.copyOf(columns);
    }

    /** Returns the column at a position of the screen. */
    ThreadColumn columnAt(int x) {
        int end = 0;
        for (ThreadColumn column : columns) {
            end += width(column) + 1;
            if (x < end) return column;
        }
        return ThreadColumn.NAME;
    }

    /** Returns whether the marker of an expanded or collapsed pool is at a position of the screen. */
    boolean isMarker(TableModel.Row row, int x) {
        int start = view.tags.contains(row.key()) ? 1 : 0;
        for (ThreadColumn column : columns) start += width(column) + 1;
        return row.isPool() && x >= start && x <= start + 1;
    }

    /** Returns whether the column has a value in any row. */
    static boolean isRelevant(ViewState view, ThreadColumn column) {
        if (!column.isOf(view.showsAccounts())) return false;
        return switch (column) {
            case PID -> view.intervals.size() > 1;
            case LIMIT ->
                view.intervals.stream().anyMatch(interval -> interval.totals().containerCores() > 0);
            case RISE -> view.sort == ThreadColumn.RISE;
            case JAVA -> view.rows.stream().anyMatch(row -> row.thread().javaId() > 0);
            case P50, P99 -> view.rows.stream().anyMatch(row -> column.amount(row.thread()) >= 0);
            default -> true;
        };
    }

    StyledLine titles() {
        StyledLine line = new StyledLine(styles);
        for (ThreadColumn column : columns) {
            boolean sorted = column == view.sort;
            if (column.unit == ColumnUnit.TEXT) {
                String title = column.title + (sorted ? arrow() : "");
                line.add(style(column), CellFormat.padRight(title, width(column)))
                        .add(styles.titles(), " ");
            } else {
                line.add(style(column), CellFormat.padLeft(column.title, width(column)))
                        .add(style(column), sorted ? arrow() : " ");
            }
        }
        String name = view.showsAccounts() ? "ACCOUNT " + view.accountType : ThreadColumn.NAME.title;
        if (view.sort == ThreadColumn.NAME) name += arrow();
        else if (!columns.contains(view.sort)) name += " by " + view.sort.id + arrow();
        return line.add(style(ThreadColumn.NAME), CellFormat.padRight(name, nameWidth));
    }

    /** Returns an arrow: up if the values ascend from row to row, down if they descend. */
    private String arrow() {
        boolean ascending = view.sort.unit.isAscending() != view.reversed;
        return view.unicode ? ascending ? "▲" : "▼" : ascending ? "^" : "v";
    }

    private AttributedStyle style(ThreadColumn column) {
        return column == view.sort ? styles.sorted() : styles.titles();
    }

    private int width(ThreadColumn column) {
        return switch (column) {
            case BAR -> barWidth;
            case RECENT -> recentWidth;
            default -> column.width;
        };
    }

    StyledLine draw(int index) {
        TableModel.Row row = view.rows.get(index);
        boolean selected = index == view.selected;
        boolean tagged = view.tags.contains(row.key());
        AttributedStyle plain = AccountRows.isRest(row.thread()) ? styles.faint() : AttributedStyle.DEFAULT;
        AttributedStyle valueStyle = selected ? styles.selected() : tagged ? styles.tagged() : plain;
        StyledLine line = new StyledLine(styles);
        for (ThreadColumn column : columns) {
            if (column == ThreadColumn.BAR && !selected) {
                bar(line, row).add(" ");
            } else if (column == ThreadColumn.RISE && !selected && view.history.rise(row) >= MARKED_RISE) {
                line.add(styles.alarm(), cell(column, row) + " ");
            } else {
                line.add(valueStyle, cell(column, row) + " ");
            }
        }
        AttributedStyle nameStyle = selected
                ? styles.selected()
                : suspects.contains(row.thread().tid())
                        ? styles.alarm()
                        : tagged ? styles.tagged() : styles.of(row.thread());
        return line.add(nameStyle, CellFormat.padRight(name(row, tagged), nameWidth));
    }

    private String cell(ThreadColumn column, TableModel.Row row) {
        ThreadUsage thread = row.thread();
        double value = column.value(thread, row.interval());
        String text =
                switch (column.unit) {
                    case ID -> value > 0 ? Long.toString((long) value) : "";
                    case BYTES -> HeapText.bytes(Math.round(value));
                    case SECONDS -> CellFormat.time(value);
                    case DURATION -> CellFormat.duration(value);
                    case DIFFERENCE -> CellFormat.signed(view.history.rise(row));
                    case STATE, TEXT -> CellFormat.padRight(CellFormat.sanitize(column.text(thread)), column.width);
                    case DRAWING ->
                        column == ThreadColumn.RECENT
                                ? Sparkline.of(view.history.percents(row, recentWidth), view.unicode)
                                // Without styles, because the row is selected.
                                : bar(new StyledLine(styles), row)
                                        .toAttributed(barWidth)
                                        .toString();
                    default -> CellFormat.number(value);
                };
        return CellFormat.padLeft(text, width(column));
    }

    /** Appends a bar, which is full at one processor. If the split is unknown, the whole bar is drawn as user time. */
    private StyledLine bar(StyledLine line, TableModel.Row row) {
        double cpu = Math.max(0, ThreadColumn.CPU.value(row.thread(), row.interval()));
        double system = Math.max(0, ThreadColumn.SYSTEM.value(row.thread(), row.interval()));
        return line.blocks((cpu - system) / 100, system / 100, barWidth);
    }

    private String name(TableModel.Row row, boolean tagged) {
        ThreadUsage thread = row.thread();
        StringBuilder name = new StringBuilder();
        if (tagged) name.append('*');
        if (row.inPool()) name.append("  ");
        if (row.isPool()) name.append(view.isExpanded(row.key()) ? "- " : "+ ");
        else if (view.showsPools() && !row.inPool()) name.append("  ");
        name.append(CellFormat.sanitize(view.showsAccounts() ? AccountRows.name(thread) : thread.name()));
        if (thread.truncated()) name.append('~');
        if (thread.kind() == ThreadKind.VIRTUAL && !row.isPool())
            name.append(" (").append(thread.threads()).append(" virtual)");
        else if (thread.threads() > 1 || row.isPool())
            name.append(" (").append(thread.threads()).append(')');
        return name.toString();
    }
}
