// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.jline.utils.AttributedStyle;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** The text styles of the terminal interface. PLAIN uses only bold and inverse, which NO_COLOR permits. */
enum Styles {
    COLOR,
    PLAIN;

    AttributedStyle user() {
        return color(AttributedStyle.GREEN);
    }

    AttributedStyle system() {
        return color(AttributedStyle.RED);
    }

    AttributedStyle head() {
        return AttributedStyle.BOLD;
    }

    AttributedStyle title() {
        return color(AttributedStyle.CYAN).bold();
    }

    AttributedStyle titles() {
        return AttributedStyle.INVERSE;
    }

    AttributedStyle sorted() {
        return this == COLOR
                ? AttributedStyle.INVERSE.bold().foreground(AttributedStyle.CYAN)
                : AttributedStyle.INVERSE.bold();
    }

    AttributedStyle alarm() {
        return color(AttributedStyle.RED).bold();
    }

    AttributedStyle faint() {
        return this == COLOR ? AttributedStyle.DEFAULT.faint() : AttributedStyle.DEFAULT;
    }

    AttributedStyle tagged() {
        return color(AttributedStyle.YELLOW).bold();
    }

    AttributedStyle selected() {
        return AttributedStyle.INVERSE;
    }

    AttributedStyle finding(FindingKind kind) {
        return switch (kind.color()) {
            case RED -> alarm();
            case YELLOW -> color(AttributedStyle.YELLOW).bold();
            case BLUE -> color(AttributedStyle.BLUE).bold();
            case MAGENTA -> color(AttributedStyle.MAGENTA).bold();
            case CYAN -> color(AttributedStyle.CYAN).bold();
        };
    }

    /** Returns the style of a name. */
    AttributedStyle of(ThreadUsage usage) {
        return switch (usage.kind()) {
            case JAVA -> AttributedStyle.DEFAULT;
            case CARRIER -> color(AttributedStyle.MAGENTA);
            case VIRTUAL -> color(AttributedStyle.BLUE);
            case ACCOUNT -> AccountRows.isRest(usage) ? faint() : AttributedStyle.DEFAULT;
            case GC -> color(AttributedStyle.YELLOW);
            case JIT -> color(AttributedStyle.CYAN);
            case VM, NATIVE -> faint();
        };
    }

    private AttributedStyle color(int color) {
        return this == COLOR ? AttributedStyle.DEFAULT.foreground(color) : AttributedStyle.DEFAULT;
    }
}
