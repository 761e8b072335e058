// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.Comparator;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ThreadUsage;

/** The columns of the thread table, in display order. */
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
    ALLOCATION("ALLOC/s", 7, 13),
    TIME("TIME", 7, 10),
    WATCHED("+TIME", 7, 12),
    BAR("", 8, 9),
    RECENT("RECENT", 6, 8),
    RISE("RISE", 6, 2),
    JAVA_STATE("JSTATE", 8, 11),
    BLOCKED("~BLK%", 5, 12),
    BLOCKED_BY("BLOCKED BY", 16, 11),
    KIND("KIND", 7, 12),
    JAVA_ID("JAVA", 6, 13),
    POOL("POOL", 24, 14),
    NAME("NAME", 0, -1);

    final String title;
    final int width;

    /** Columns with the highest rank are dropped first on a narrow screen. */
    final int rank;

    Column(String title, int width, int rank) {
        this.title = title;
        this.width = width;
        this.rank = rank;
    }

    /** Returns whether this column shows {@link ThreadUsage#java}. */
    boolean isJavaStatus() {
        return this == ALLOCATION || this == JAVA_STATE || this == BLOCKED || this == BLOCKED_BY;
    }

    /** Returns whether cells are text that starts at the left. */
    boolean isLeftAligned() {
        return this == KIND || this == POOL || this == JAVA_STATE || this == BLOCKED_BY;
    }

    boolean isSortable() {
        return this != BAR && this != RECENT;
    }

    /** Returns whether the lowest value comes first unless the order is reversed. */
    boolean isAscending() {
        return isText() || this == TID || this == PID || this == JAVA_ID;
    }

    private boolean isText() {
        return this == NAME || this == POOL || this == KIND || this == JAVA_STATE || this == BLOCKED_BY;
    }

    /** Returns the name for menus, messages and --sort. */
    String label() {
        return switch (this) {
            case JAVA_ID -> "java";
            case LIMIT -> "limit";
            case JAVA_STATE -> "jstate";
            case BLOCKED_BY -> "blocked-by";
            default -> name().toLowerCase(java.util.Locale.ROOT);
        };
    }

    static Column of(String label) {
        for (Column column : values()) if (column.label().equals(label)) return column;
        throw new IllegalArgumentException(label);
    }

    /** Returns the value of this column, or -1 if it is unknown. */
    double value(ThreadUsage thread, Interval interval) {
        double intervalSeconds = interval.intervalNanos() / 1e9;
        return switch (this) {
            case PID -> thread.pid();
            case TID -> thread.tid();
            case JAVA_ID -> thread.javaId();
            case STATE -> thread.state() == 'R' ? 1 : 0;
            case CPU, BAR -> interval.percent(thread.cpuNanos());
            case USER -> interval.percent(thread.userNanos());
            case SYSTEM -> interval.percent(thread.systemNanos());
            case LIMIT -> limit(thread, interval);
            case WAIT -> interval.percent(thread.waitNanos());
            case VOLUNTARY -> thread.voluntary() < 0 ? -1 : thread.voluntary() / intervalSeconds;
            case INVOLUNTARY -> thread.involuntary() < 0 ? -1 : thread.involuntary() / intervalSeconds;
            case ALLOCATION ->
                thread.java().allocatedBytes() < 0 ? -1 : thread.java().allocatedBytes() / intervalSeconds;
            case TIME -> seconds(thread.totalNanos());
            case WATCHED -> seconds(thread.watchedNanos());
            case BLOCKED -> interval.percent(thread.java().blockedNanos());
            case RECENT, RISE -> Double.NaN; // History has them
            case KIND, POOL, NAME, JAVA_STATE, BLOCKED_BY -> 0;
        };
    }

    private static double seconds(long nanos) {
        return nanos < 0 ? -1 : nanos / 1e9;
    }

    /** Returns CPU usage in percent of the container's limit, or -1 if there is no limit. */
    private static double limit(ThreadUsage thread, Interval interval) {
        double cores = interval.totals().containerCores();
        return cores <= 0 || thread.cpuNanos() < 0 ? -1 : interval.percent(thread.cpuNanos()) / cores;
    }

    /**
     * Returns the order of rows: values from high to low, ids from low to high, text alphabetically. Ties are ordered
     * by CPU time.
     */
    Comparator<TableModel.Row> order() {
        Comparator<TableModel.Row> order;
        if (this == JAVA_STATE || this == BLOCKED_BY) {
            order = Comparator.<TableModel.Row, Boolean>comparing(
                            row -> !row.thread().java().contended())
                    .thenComparing(row -> text(row.thread()), String.CASE_INSENSITIVE_ORDER);
        } else if (isText()) {
            order = Comparator.comparing(row -> text(row.thread()), String.CASE_INSENSITIVE_ORDER);
        } else if (isAscending()) {
            order = Comparator.comparingDouble(row -> value(row.thread(), row.interval()));
        } else {
            order = Comparator.comparingDouble(row -> -value(row.thread(), row.interval()));
        }
        return order.thenComparingLong(row -> -row.thread().cpuNanos());
    }

    String text(ThreadUsage thread) {
        return switch (this) {
            case KIND -> thread.kindLabel();
            case POOL -> thread.pool();
            case JAVA_STATE -> JavaStatusText.state(thread.java());
            case BLOCKED_BY -> JavaStatusText.blockedBy(thread.java());
            default -> thread.name();
        };
    }
}
