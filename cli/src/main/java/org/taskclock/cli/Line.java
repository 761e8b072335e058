// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** A line that is being written. */
final class Line {
    private final AttributedStringBuilder out = new AttributedStringBuilder();
    private final Styles styles;

    Line(Styles styles) {
        this.styles = styles;
    }

    Line add(String text) {
        return add(AttributedStyle.DEFAULT, text);
    }

    Line add(AttributedStyle style, String text) {
        out.style(style);
        out.append(text);
        return this;
    }

    /** A bar of so many columns with its brackets; the parts are of 1. */
    Line bar(double user, double system, int columns) {
        int room = Math.max(0, columns - 2);
        add("[");
        blocks(user, system, room);
        return add("]");
    }

    /** The same without brackets. What there is of it at all has a block, if it is a tenth of one. */
    Line blocks(double user, double system, int columns) {
        double total = Math.max(0, user) + Math.max(0, system);
        int full = (int) Math.min(columns, Math.round(total * columns + 0.4));
        int systemBlocks = total <= 0 ? 0 : (int) Math.round(full * Math.max(0, system) / total);
        return add(styles.user(), "|".repeat(full - systemBlocks))
                .add(styles.system(), "#".repeat(systemBlocks))
                .add(" ".repeat(columns - full));
    }

    /** Cut at the width. */
    AttributedString toAttributed(int width) {
        String text = out.toString();
        if (Cells.width(text) <= width) return out.toAttributedString();
        String cut = Cells.cut(text, width);
        return new AttributedStringBuilder()
                .append(out.toAttributedString().subSequence(0, cut.length() - 1))
                .append("~")
                .toAttributedString();
    }
}
