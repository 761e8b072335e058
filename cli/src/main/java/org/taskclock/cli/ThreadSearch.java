// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import java.util.regex.Pattern;

/** Finds threads and pools by name, including threads in collapsed pools. */
final class ThreadSearch {
    private ThreadSearch() {}

    /**
     * Selects the first match from the selected row on, wrapping around, and follows it. Expands its pool. Returns
     * whether there is a match.
     *
     * @param next whether to start after the selected row
     */
    static boolean find(ViewState view, boolean next) {
        Pattern pattern = TableModel.pattern(view.search);
        List<TableModel.Row> all = TableModel.rows(view.intervals, view, pool -> true);
        TableModel.Row selected = view.selected();
        int start = (selected == null ? 0 : Math.max(0, indexOf(all, selected.key()))) + (next ? 1 : 0);
        for (int i = 0; i < all.size(); i++) {
            int index = Math.floorMod(start + i, all.size());
            if (matches(all.get(index), pattern) && show(view, all, index)) return true;
        }
        return false;
    }

    /** Matches threads in a pool by their own names only, because the pool is in a row of its own. */
    private static boolean matches(TableModel.Row row, Pattern pattern) {
        return row.inPool()
                ? pattern.matcher(row.thread().name()).find()
                        || pattern.matcher(Integer.toString(row.thread().tid())).matches()
                : TableModel.matches(row.thread(), pattern);
    }

    /** Returns false if the row is beyond the maximum number of rows. */
    private static boolean show(ViewState view, List<TableModel.Row> all, int index) {
        int pool = index;
        while (all.get(pool).inPool()) pool--;
        String poolKey = pool == index ? "" : all.get(pool).key();
        // A pool that only an earlier character of the same search has opened is closed again.
        String opened = view.openedBySearch;
        if (!opened.isEmpty() && !opened.equals(poolKey)) {
            view.setExpanded(opened, false);
            view.openedBySearch = "";
        }
        if (!poolKey.isEmpty() && !view.isExpanded(poolKey)) {
            view.setExpanded(poolKey, true);
            view.openedBySearch = poolKey;
        }
        String key = all.get(index).key();
        if (indexOf(view.rows, key) >= 0) {
            view.follow(key);
            return true;
        }
        if (!view.openedBySearch.isEmpty()) view.setExpanded(view.openedBySearch, false);
        view.openedBySearch = "";
        return false;
    }

    private static int indexOf(List<TableModel.Row> rows, String key) {
        for (int i = 0; i < rows.size(); i++) if (rows.get(i).key().equals(key)) return i;
        return -1;
    }
}
