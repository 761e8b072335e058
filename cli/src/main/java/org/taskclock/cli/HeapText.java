// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.HeapUsage;

/** Formats the heap and the pauses of garbage collection. */
final class HeapText {
    private HeapText() {}

    static String format(Interval interval, HeapUsage heap) {
        String pauses = heap.gcPauses() == 1 ? " GC pause" : " GC pauses";
        String text = bytes(heap.usedBytes()) + " used, " + bytes(heap.committedBytes()) + " committed, "
                + bytes(heap.maxBytes()) + " max  " + heap.gcPauses() + pauses;
        if (heap.gcPauses() == 0) return text;
        return text + ", " + CellFormat.number(heap.gcPauseNanos() / 1e6) + " ms ("
                + CellFormat.number(interval.percent(heap.gcPauseNanos())) + " %)";
    }

    /** Formats a number of bytes in units of 1024, such as 12.3M; "-" if it is unknown (negative). */
    static String bytes(long bytes) {
        if (bytes < 0) return "-";
        String suffixes = "BKMGTP";
        int unit = 0;
        double value = (double) bytes;
        while (value >= 999.95 && unit < suffixes.length() - 1) {
            value /= 1024;
            unit++;
        }
        return (unit == 0 ? Long.toString(Math.round(value)) : CellFormat.number(value)) + suffixes.charAt(unit);
    }
}
