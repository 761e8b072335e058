// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Builds a line of styled text. */
final class StyledLine {
    private final AttributedStringBuilder out = new AttributedStringBuilder();
    private final Styles styles;

    StyledLine(Styles styles) {
        this.styles = styles;
    }

    StyledLine add(String text) {
        return add(AttributedStyle.DEFAULT, text);
    }

    StyledLine add(AttributedStyle style, String text) {
        out.style(style);
        out.append(text);
        return this;
    }

    /** Appends a bar, including its brackets. The parts are fractions of 1. */
    StyledLine bar(double user, double system, int columns) {
        int inner = Math.max(0, columns - 2);
        add("[");
        blocks(user, system, inner);
        return add("]");
    }

    /** Appends a bar without brackets. A tenth of a block is rounded up to one. */
    StyledLine blocks(double user, double system, int columns) {
        double total = Math.max(0, user) + Math.max(0, system);
        int full = (int) Math.min(columns, Math.round(total * columns + 0.4));
        int systemBlocks = total <= 0 ? 0 : (int) Math.round(full * Math.max(0, system) / total);
        return add(styles.user(), "|".repeat(full - systemBlocks))
                .add(styles.system(), "#".repeat(systemBlocks))
                .add(" ".repeat(columns - full));
    }

    /** Returns the line without styles. */
    @Override
    public String toString() {
        return out.toString();
    }

    /** Returns the line, truncated to the width. */
    AttributedString toAttributed(int width) {
        String text = out.toString();
        if (CellFormat.width(text) <= width) return out.toAttributedString();
        String visible = CellFormat.truncate(text, width);
        return new AttributedStringBuilder()
                .append(out.toAttributedString().subSequence(0, visible.length() - 1))
                .append("~")
                .toAttributedString();
    }
}
