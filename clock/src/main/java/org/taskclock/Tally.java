// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How far a counter of one thread moved on in sections. One thread writes; any number may look at it, one at a time.
 *
 * <p>The state is one word, so that it never is half of one thing and half of another: closed, what was used; open, what was
 * used less the counter at the start, which with the counter's value now makes what was used by now.
 */
class Tally extends Spacing {
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Tally.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** In sections that are closed. */
    private long used;
    /** The lowest bit is set while it is open. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private long state;
    /** The highest that was ever told: the other thread's clock as the kernel gives it may be a moment ahead of its own. */
    private long told;

    /** By the one thread that writes, as the next two. A release costs no more than a plain store here. */
    final void open(long counter) {
        STATE.setRelease(this, (used - counter) << 1 | 1);
    }

    final void close(long counter) {
        long now = Math.max(used, at((long) STATE.get(this), counter));
        used = now;
        STATE.setRelease(this, now << 1);
    }

    /** As if it had not been opened. */
    final void forget() {
        STATE.setRelease(this, used << 1);
    }

    /** In sections that are closed; by the one thread that writes. */
    final long used() {
        return used;
    }

    /** To be given back with the counter read meanwhile. */
    final long state() {
        return (long) STATE.getVolatile(this);
    }

    static boolean isOpen(long state) {
        return (state & 1) != 0;
    }

    private static long at(long state, long counter) {
        return (state >> 1) + counter;
    }

    /**
     * What was used by now.
     *
     * @param before the state
     * @param counter the thread's counter, read after that; only asked for if the state was open; -1 if it could not be read
     */
    final long tell(long before, long counter) {
        // Where the thread closed or even opened it meanwhile, what it had used by then is as good: that was just now.
        boolean isRunning = isOpen(before) && counter >= 0 && before == (long) STATE.getVolatile(this);
        long now = isRunning ? Math.max(used, at(before, counter)) : used;
        told = Math.max(told, now);
        return told;
    }
}
