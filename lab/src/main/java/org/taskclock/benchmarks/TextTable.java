// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.benchmarks;

import java.util.ArrayList;
import java.util.List;

/** A table, formatted as aligned text or as Markdown. All columns but the first are right-aligned. */
public final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    public TextTable(String... headings) {
        rows.add(List.of(headings));
    }

    public void add(List<String> cells) {
        if (cells.size() != rows.get(0).size()) throw new IllegalArgumentException("cells " + cells);
        rows.add(List.copyOf(cells));
    }

    /** Formats the table as Markdown or as aligned text. */
    public String text(boolean markdown) {
        return markdown ? markdown() : aligned();
    }

    public String markdown() {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            text.append("| ").append(String.join(" | ", row)).append(" |\n");
            if (row == rows.get(0))
                text.append("|---").append("|---:".repeat(row.size() - 1)).append("|\n");
        }
        return text.toString();
    }

    public String aligned() {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String cell = row.get(column);
                String padding = " ".repeat(width(column) - cell.length());
                line.append(column == 0 ? cell + padding : "  " + padding + cell);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }
}
