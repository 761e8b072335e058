// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.taskclock.monitor.sampling.ThreadColumn;

/** The menu that chooses and orders the columns of the table. The name is always the last column. */
final class ColumnMenu {
    static final String TITLE = "Columns (Space: show or hide, F7 F8 or < >: move, D: automatic, Enter: done)";

    private final ViewState view;
    private final List<ThreadColumn> order = new ArrayList<>();
    private final Set<ThreadColumn> chosen = EnumSet.noneOf(ThreadColumn.class);
    /** Whether the table shows as many columns as fit, because the user has changed nothing. */
    private boolean automatic;

    ColumnMenu(ViewState view) {
        this.view = view;
        load(view.columns);
    }

    private void load(List<ThreadColumn> columns) {
        automatic = columns == null;
        order.clear();
        chosen.clear();
        if (columns != null) {
            order.addAll(columns);
            chosen.addAll(columns);
        }
        for (ThreadColumn column : ThreadColumn.values()) {
            if (column == ThreadColumn.NAME || order.contains(column)) continue;
            order.add(column);
            // What the user sees is what is kept, and the columns that appear only where they have a value.
            if (automatic && (view.shownColumns.contains(column) || !TableRenderer.isRelevant(view, column)))
                chosen.add(column);
        }
    }

    int size() {
        return order.size();
    }

    /** Returns the chosen columns in display order, or null to show as many as fit. */
    List<ThreadColumn> columns() {
        return automatic ? null : order.stream().filter(chosen::contains).toList();
    }

    /** Handles a key and returns the item that is selected then. */
    int press(String key, int selected) {
        ThreadColumn column = order.get(selected);
        switch (key) {
            case "Space" -> {
                if (!chosen.remove(column)) chosen.add(column);
                automatic = false;
            }
            case "F7", "<", "Left" -> {
                return move(selected, selected - 1);
            }
            case "F8", ">", "Right" -> {
                return move(selected, selected + 1);
            }
            case "D" -> load(null);
            default -> {}
        }
        return selected;
    }

    private int move(int from, int to) {
        if (to < 0 || to >= order.size()) return from;
        Collections.swap(order, from, to);
        automatic = false;
        return to;
    }

    List<String> items() {
        return order.stream().map(this::describe).toList();
    }

    private String describe(ThreadColumn column) {
        String title = CellFormat.padRight((chosen.contains(column) ? "[x] " : "[ ] ") + column.id, 17);
        return title + column.title + (TableRenderer.isRelevant(view, column) ? "" : "  (no values in this view)");
    }
}
