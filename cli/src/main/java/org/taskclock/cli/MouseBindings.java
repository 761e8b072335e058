// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.concurrent.TimeUnit;
import org.taskclock.monitor.sampling.ThreadColumn;

/** Applies mouse events to the view. */
final class MouseBindings {
    /** What the names of keys that are mouse events begin with. */
    static final String PREFIX = "Mouse ";

    private static final long DOUBLE_CLICK_NANOS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final int WHEEL_ROWS = 3;

    /** Bits that are set if Shift, Alt or Ctrl is held. */
    private static final int MODIFIERS = 4 | 8 | 16;

    private static final int LEFT = 0;
    private static final int WHEEL_UP = 64;
    private static final int WHEEL_DOWN = 65;

    private String lastClick = "";
    private long lastNanos;

    /** Returns the name of an event: the button as in the terminal's report, and the position from 0. */
    static String event(int button, int x, int y) {
        return PREFIX + button + " " + x + " " + y;
    }

    /**
     * Applies an event.
     *
     * @param nanos when it happened, by System.nanoTime
     * @return the key that has the same effect, or an empty string if there is nothing else to do
     */
    String handle(ViewState view, String event, int width, int height, long nanos) {
        String[] parts = event.substring(PREFIX.length()).split(" ", -1);
        int button = Integer.parseInt(parts[0]) & ~MODIFIERS;
        if (view.prompt != ViewState.Prompt.NONE || view.agentOffer.isAsking()) return "";
        if (!view.ended) view.message = "";
        if (button == WHEEL_UP) return wheel(view, -1);
        if (button == WHEEL_DOWN) return wheel(view, 1);
        return button == LEFT
                ? click(view, width, height, Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), nanos)
                : "";
    }

    private static String wheel(ViewState view, int direction) {
        switch (view.page) {
            case TABLE -> {
                // The selected row moves along, because it is always visible.
                view.topRow += direction * WHEEL_ROWS;
                view.moveTo(view.selected + direction * WHEEL_ROWS);
            }
            case HELP, FINDINGS, STACKS, PROFILE -> view.scroll += direction * WHEEL_ROWS;
            case SORT, COLUMNS, JVMS, SECTIONS -> {
                return direction < 0 ? "Up" : "Down";
            }
        }
        return "";
    }

    private String click(ViewState view, int width, int height, int x, int y, long nanos) {
        if (y == height - 1) return ScreenRenderer.keyAt(view, width, height, x);
        int line = y - ScreenRenderer.pageTop(view, height);
        // The line above the titles shows the most severe finding and names this key.
        if (view.page == ViewState.Page.TABLE && line == -2 && !view.findings().isEmpty()) return "F2";
        if (view.page != ViewState.Page.TABLE) {
            int item = ScreenRenderer.itemAt(view, height, line);
            if (item < 0) return "";
            view.scroll = item;
            if (view.page == ViewState.Page.COLUMNS) return "Space";
            return isDouble(view.page + " " + item, nanos) ? "Enter" : "";
        }
        if (line == -1) {
            sortBy(view, ScreenRenderer.columnAt(view, width, x));
            return "";
        }
        int index = view.topRow + line;
        if (line < 0 || index >= view.rows.size()) return "";
        view.moveTo(index);
        TableModel.Row row = view.rows.get(index);
        boolean isDouble = isDouble(row.key(), nanos);
        if (ScreenRenderer.isMarker(view, width, row, x)) return isDouble ? "" : "Enter";
        return isDouble ? "Enter" : "";
    }

    private static void sortBy(ViewState view, ThreadColumn column) {
        if (!column.isSortable()) return;
        if (column == view.sort) {
            view.reversed = !view.reversed;
            view.rebuild();
        } else {
            KeyBindings.sortBy(view, column);
        }
    }

    /** Returns whether this click and the one before make a double click. */
    private boolean isDouble(String target, long nanos) {
        boolean isDouble = target.equals(lastClick) && nanos - lastNanos <= DOUBLE_CLICK_NANOS;
        lastClick = isDouble ? "" : target;
        lastNanos = nanos;
        return isDouble;
    }
}
