// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.lab;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.taskclock.report.Result;

/**
 * Builds tables from columns that know how to compute their cells from a row. Cells that are NaN or infinite are empty.
 */
final class TableBuilder<R> {
    private record Column<R>(String name, String unit, Function<R, ?> cell) {}

    private final List<Column<R>> columns = new ArrayList<>();

    TableBuilder<R> column(String name, String unit, Function<R, ?> cell) {
        columns.add(new Column<>(name, unit, cell));
        return this;
    }

    /** Adds columns for a part of a row. Their cells are empty where the part is null. */
    <P> TableBuilder<R> columns(Function<R, P> part, TableBuilder<P> table) {
        for (Column<P> column : table.columns) {
            column(column.name, column.unit, row -> {
                P found = part.apply(row);
                return found == null ? null : column.cell.apply(found);
            });
        }
        return this;
    }

    Result.Table build(String title, String text, Collection<R> rows) {
        return new Result.Table(
                title,
                text,
                columns.stream()
                        .map(column -> new Result.Column(column.name, column.unit))
                        .toList(),
                rows.stream().map(this::cells).toList());
    }

    private List<Object> cells(R row) {
        List<Object> cells = new ArrayList<>();
        for (Column<R> column : columns) {
            Object cell = column.cell.apply(row);
            cells.add(cell instanceof Double value && !Double.isFinite(value) ? null : cell);
        }
        return cells;
    }
}
