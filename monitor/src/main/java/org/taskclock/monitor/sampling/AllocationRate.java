// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

/**
 * The allocation rate of a thread, from the totals in thread dumps. The JVM rounds these totals down to whole K, M, or
 * G from 100 of each on (os::proper_unit_for_byte_size), so the rate is the average between two changes of the total.
 */
final class AllocationRate {
    private static final String KEY = " allocated=";

    private long total = -1;
    /** The System.nanoTime of the dump in which the total was seen to change, or of the first dump. */
    private long changedAt;

    private double bytesPerSecond = -1;

    /** Adds the total in a header line of a dump that was taken at {@code nanos}. */
    void add(String header, long nanos) {
        int at = header.lastIndexOf(KEY);
        if (at < 0) return;
        long value = 0;
        int i = at + KEY.length();
        while (i < header.length() && Character.isDigit(header.charAt(i)))
            value = value * 10 + (header.charAt(i++) - '0');
        long unit = i < header.length() ? unit(header.charAt(i)) : 1;
        add(value * unit, unit, nanos);
    }

    private static long unit(char suffix) {
        return switch (suffix) {
            case 'K' -> 1L << 10;
            case 'M' -> 1L << 20;
            case 'G' -> 1L << 30;
            case 'T' -> 1L << 40;
            default -> 1;
        };
    }

    private void add(long now, long unit, long nanos) {
        if (total < 0 || now < total) {
            total = now;
            changedAt = nanos;
            return;
        }
        double seconds = Math.max(1, nanos - changedAt) / 1e9;
        if (now > total) {
            bytesPerSecond = (now - total) / seconds;
            total = now;
            changedAt = nanos;
        } else if (unit == 1) {
            bytesPerSecond = 0;
            changedAt = nanos;
        } else {
            // The thread has allocated less than one unit since the last change.
            double limit = unit / seconds;
            bytesPerSecond = bytesPerSecond < 0 ? -1 : Math.min(bytesPerSecond, limit);
        }
    }

    /** Returns -1 until two dumps show a rate. */
    double bytesPerSecond() {
        return bytesPerSecond;
    }
}
