// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import java.util.Arrays;

/**
 * The CPU time of one thread in the columns of a heatmap. Stores only the range of columns in which the thread ran.
 * When a recording gets longer, the columns get twice as wide; each instance follows when it is next used.
 */
final class ColumnSums {
    private long columnNanos;
    private int first;
    private int length;
    private float[] cpu = new float[0];
    /** NaN if the split is unknown. */
    private float[] user = new float[0];

    ColumnSums(long columnNanos) {
        this.columnNanos = columnNanos;
    }

    /** Adds a period, whose CPU time is divided among the columns it overlaps. */
    void add(long newColumnNanos, long startNanos, long endNanos, double cpuNanos, double userNanos) {
        widen(newColumnNanos);
        int from = (int) (startNanos / columnNanos);
        int to = (int) ((endNanos - 1) / columnNanos);
        include(from, to);
        for (int column = from; column <= to; column++) {
            long begin = Math.max(startNanos, column * columnNanos);
            long end = Math.min(endNanos, (column + 1) * columnNanos);
            double share = (double) (end - begin) / (endNanos - startNanos);
            cpu[column - first] += (float) (cpuNanos * share);
            user[column - first] += (float) (userNanos * share);
        }
    }

    private void include(int from, int to) {
        if (length == 0) first = from;
        if (from < first) { // the system's clock was set back
            int shift = first - from;
            cpu = shifted(cpu, shift);
            user = shifted(user, shift);
            first = from;
            length += shift;
        }
        length = Math.max(length, to - first + 1);
        if (length > cpu.length) {
            int capacity = length + length / 2;
            cpu = Arrays.copyOf(cpu, capacity);
            user = Arrays.copyOf(user, capacity);
        }
    }

    private static float[] shifted(float[] values, int shift) {
        float[] shifted = new float[values.length + shift];
        System.arraycopy(values, 0, shifted, shift, values.length);
        return shifted;
    }

    private void widen(long newColumnNanos) {
        while (columnNanos < newColumnNanos) {
            int offset = first % 2;
            int newLength = (offset + length + 1) / 2;
            for (int i = 0; i < newLength; i++) {
                cpu[i] = at(cpu, 2 * i - offset) + at(cpu, 2 * i + 1 - offset);
                user[i] = at(user, 2 * i - offset) + at(user, 2 * i + 1 - offset);
            }
            Arrays.fill(cpu, newLength, Math.max(length, newLength), 0);
            Arrays.fill(user, newLength, Math.max(length, newLength), 0);
            first /= 2;
            length = newLength;
            columnNanos *= 2;
        }
    }

    private float at(float[] values, int index) {
        return index >= 0 && index < length ? values[index] : 0;
    }

    double cpu(long newColumnNanos, int column) {
        widen(newColumnNanos);
        return at(cpu, column - first);
    }

    double user(long newColumnNanos, int column) {
        widen(newColumnNanos);
        return at(user, column - first);
    }
}
