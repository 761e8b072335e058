// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Comparator;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;

/** Of the table of threads, in the order in which they are shown. */
enum Column {
    PID("PID", 7, 4),
    TID("TID", 7, 3),
    STATE("S", 1, 8),
    CPU("CPU%", 5, 0),
    USER("USER%", 5, 1),
    SYSTEM("SYS%", 5, 2),
    LIMIT("LIM%", 5, 11),
    WAIT("WAIT%", 5, 5),
    VOLUNTARY("VOL/s", 5, 7),
    INVOLUNTARY("INV/s", 5, 6),
    TIME("TIME", 7, 10),
    BAR("", 8, 9),
    KIND("KIND", 7, 12),
    JAVA_ID("JAVA", 6, 13),
    POOL("POOL", 24, 14),
    NAME("NAME", 0, -1);

    final String title;
    final int width;

    /** In this order they are given up where the screen is narrow, the highest first. */
    final int rank;

    Column(String title, int width, int rank) {
        this.title = title;
        this.width = width;
        this.rank = rank;
    }

    boolean sortable() {
        return this != BAR;
    }

    private boolean isText() {
        return this == NAME || this == POOL || this == KIND;
    }

    /** A name for menus and help, and for --sort. */
    String word() {
        return switch (this) {
            case JAVA_ID -> "java";
            case LIMIT -> "limit";
            default -> name().toLowerCase(java.util.Locale.ROOT);
        };
    }

    static Column of(String word) {
        for (Column column : values()) if (column.word().equals(word)) return column;
        throw new IllegalArgumentException(word);
    }

    /** What the row has in this column; -1 where it is not known. */
    double value(Row row, Frame frame, double seconds) {
        double interval = frame.intervalNanos() / 1e9;
        return switch (this) {
            case PID -> row.pid();
            case TID -> row.tid();
            case JAVA_ID -> row.javaId();
            case STATE -> row.state() == 'R' ? 1 : 0;
            case CPU, BAR -> frame.percent(row.cpuNanos());
            case USER -> frame.percent(row.userNanos());
            case SYSTEM -> frame.percent(row.systemNanos());
            case LIMIT -> limit(row, frame);
            case WAIT -> frame.percent(row.waitNanos());
            case VOLUNTARY -> row.voluntary() < 0 ? -1 : row.voluntary() / interval;
            case INVOLUNTARY -> row.involuntary() < 0 ? -1 : row.involuntary() / interval;
            case TIME -> seconds;
            case KIND, POOL, NAME -> 0;
        };
    }

    /** Of all that the container may use; -1 if it has no limit. */
    private static double limit(Row row, Frame frame) {
        double cores = frame.totals().containerCores();
        return cores <= 0 || row.cpuNanos() < 0 ? -1 : frame.percent(row.cpuNanos()) / cores;
    }

    /** Numbers: the greatest first, but ids: the least; text: by the alphabet. Equal ones by CPU time. */
    Comparator<Table.Line> order() {
        Comparator<Table.Line> order;
        if (isText()) {
            order = Comparator.comparing(line -> text(line.row()), String.CASE_INSENSITIVE_ORDER);
        } else if (this == TID || this == PID || this == JAVA_ID) {
            order = Comparator.comparingDouble(line -> value(line.row(), line.frame(), line.seconds()));
        } else {
            order = Comparator.comparingDouble(line -> -value(line.row(), line.frame(), line.seconds()));
        }
        return order.thenComparingLong(line -> -line.row().cpuNanos());
    }

    String text(Row row) {
        return switch (this) {
            case KIND -> row.kind().name().toLowerCase(java.util.Locale.ROOT);
            case POOL -> row.pool();
            default -> row.name();
        };
    }
}
