// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What one thread has used for one account since it last added its usage to the account. Only that thread writes it;
 * readers on other threads never wait for it. Starts with the {@link AccountCounters}, of which CPU is that of closed
 * sections.
 */
final class AccountCell {
    /**
     * The CPU time of closed sections minus the thread's CPU time when the cell was opened, shifted left by a bit that
     * is set; 0 while the cell is closed. Adding the thread's CPU time gives that of all sections. A single value, so
     * that a reader never sees half of a change.
     */
    private static final int OPEN = AccountCounters.COUNT;

    /** The CPU time that the last reader has seen while the cell was open. */
    static final int SEEN = OPEN + 1;

    static final int LENGTH = SEEN + 1;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(long[].class);

    private AccountCell() {}

    /** Opens the cell, which must be closed. */
    static void open(long[] cell, long now) {
        ELEMENT.setRelease(cell, OPEN, (cell[AccountCounters.CPU] - now) << 1 | 1);
    }

    /** Closes the cell. Returns false if it is closed, because an error prevented it from being opened. */
    static boolean close(long[] cell, long nanos, long userNanos) {
        if (cell[OPEN] == 0) return false;
        add(cell, AccountCounters.CPU, nanos);
        add(cell, AccountCounters.USER, userNanos);
        // Released, so that a reader that finds the cell closed sees its total.
        ELEMENT.setRelease(cell, OPEN, 0L);
        return true;
    }

    static void add(long[] cell, int counter, long more) {
        ELEMENT.setOpaque(cell, counter, cell[counter] + more);
    }

    /** Reads what the thread may be writing. */
    static long read(long[] numbers, int index) {
        return (long) ELEMENT.getOpaque(numbers, index);
    }

    /** Returns a counter and sets it to 0. Readers must be locked out. */
    static long take(long[] cell, int counter) {
        long value = cell[counter];
        cell[counter] = 0;
        return value;
    }

    /** Returns a value to pass to {@link #total} after reading the thread's CPU time; 0 if the cell is closed. */
    static long state(long[] cell) {
        return (long) ELEMENT.getAcquire(cell, OPEN);
    }

    /**
     * Returns the CPU time of all sections.
     *
     * @param stateBefore the state before the thread's CPU time was read
     * @param clock the thread's CPU time; -1 if it is unknown
     */
    static long total(long[] cell, long stateBefore, long clock) {
        // If the thread has since closed the cell, or opened it again, its total at that close is recent enough.
        boolean isRunning = stateBefore != 0 && clock >= 0 && state(cell) == stateBefore;
        long closed = read(cell, AccountCounters.CPU);
        return isRunning ? Math.max(closed, (stateBefore >> 1) + clock) : closed;
    }
}
