// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Sums how far a counter of one thread advances within sections. One thread opens and closes them; any number of
 * threads may read the total, one at a time.
 *
 * <p>The state is a single 64-bit value, so a reader never sees half of an update. While closed, it is the total. While
 * open, it is the total minus the counter at the start of the section; adding the current counter gives the current
 * total.
 */
class SectionCounter extends CacheLinePadding {
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(SectionCounter.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The total of closed sections. */
    private long used;
    /** The lowest bit is set while a section is open. */
    @SuppressWarnings("UnusedVariable") // accessed through its handle
    private long state;
    /**
     * The highest total returned so far. Totals must not decrease, but other threads may read a slightly later time
     * than the thread itself.
     */
    private long lastTotal;

    /**
     * Opens a section. Only the owning thread may open, close, or discard one. A release store costs no more than a
     * plain one here.
     */
    final void open(long counter) {
        STATE.setRelease(this, (used - counter) << 1 | 1);
    }

    final void close(long counter) {
        long now = Math.max(used, totalAt((long) STATE.get(this), counter));
        used = now;
        STATE.setRelease(this, now << 1);
    }

    /** Closes the section without counting it. Called by the owning thread only. */
    final void discard() {
        STATE.setRelease(this, used << 1);
    }

    /** Returns the total of closed sections. Called by the owning thread only. */
    final long used() {
        return used;
    }

    /** Returns the state to pass to {@link #total} after reading the counter. */
    final long state() {
        return (long) STATE.getVolatile(this);
    }

    static boolean isOpen(long state) {
        return (state & 1) != 0;
    }

    private static long totalAt(long state, long counter) {
        return (state >> 1) + counter;
    }

    /**
     * Returns the current total.
     *
     * @param stateBefore the state before the counter was read
     * @param counter the thread's counter, or -1 if it is unknown; used only if a section was open in that state
     */
    final long total(long stateBefore, long counter) {
        // If the thread has since closed the section, or opened another, its total at that close is recent enough.
        boolean isRunning = isOpen(stateBefore) && counter >= 0 && stateBefore == (long) STATE.getVolatile(this);
        long now = isRunning ? Math.max(used, totalAt(stateBefore, counter)) : used;
        lastTotal = Math.max(lastTotal, now);
        return lastTotal;
    }
}
