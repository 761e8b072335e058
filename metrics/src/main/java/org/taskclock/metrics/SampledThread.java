// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.nio.ByteBuffer;

/**
 * A platform thread of a JVM and its counters. How they are read depends on whether it is a thread of this process or
 * of another one.
 */
public abstract class SampledThread extends CumulativeCounters {
    /**
     * Details are read only after a thread has used this much CPU time, because reading them takes 10 us, more than
     * everything else.
     */
    private static final long DETAIL_NANOS = 1_000_000;

    /** They are also read if a thread runs and they were last read this many readings ago. */
    private static final int DETAIL_READINGS = 20;

    private static final byte[] VOLUNTARY = ProcText.key("voluntary_ctxt_switches");
    private static final byte[] INVOLUNTARY = ProcText.key("nonvoluntary_ctxt_switches");

    /** The kernel's id; the Java id if the kernel's is unknown. */
    public final long id;

    /** The System.nanoTime at which the thread was found. */
    public final long foundAt = System.nanoTime();

    /** What was counted since this was last cleared. */
    public final Counters usage = new Counters();

    private PoolSum pool;
    private boolean isGuessed;

    /** The CPU time and the number of the reading when the details were read. */
    private long detailNanos;

    private long detailReading;

    private boolean isNew;

    /** The number of the last reading that found this thread. */
    long lastSeen;

    /**
     * Creates a thread that has not been read yet.
     *
     * @param id the kernel's id; the Java id if the kernel's is unknown
     */
    protected SampledThread(long id) {
        this.id = id;
    }

    /**
     * Reads the CPU time, and what else takes no longer. If it has changed, the user time becomes unknown, unless that
     * is read, too.
     *
     * @param row the position among the ids of the reading; -1 if only some threads are read
     * @return false if the thread has ended, or the id now belongs to another one
     */
    protected abstract boolean read(int row);

    /**
     * Reads everything else.
     *
     * @return false if the thread has ended
     */
    protected abstract boolean readDetails();

    /** Reads what must be known before anything is counted. Returns false if the thread has ended. */
    protected boolean readFirst() {
        // The kernel gives a thread its name only after it has started.
        isNew = true;
        return readDetails();
    }

    /** Closes files. The thread can still be read. */
    protected void close() {}

    /** Returns the pool; null if it is unknown. */
    public final PoolKey pool() {
        return pool == null ? null : pool.key();
    }

    final PoolSum poolSum() {
        return pool;
    }

    /** Returns whether the kind of the thread is known from its name only. */
    public final boolean isGuessed() {
        return isGuessed;
    }

    final void setPool(PoolSum newPool, boolean isGuess) {
        pool = newPool;
        isGuessed = isGuess;
    }

    /** Makes the pool unknown, because what determines it has changed. */
    public final void clearPool() {
        pool = null;
    }

    /** Returns the CPU time since the details were read. */
    final long nanosSinceDetails() {
        return total.cpuNanos - detailNanos;
    }

    final boolean isDue(long reading) {
        long since = nanosSinceDetails();
        if (hasUncounted() && (isNew || since >= DETAIL_NANOS)) return true;
        return since > 0 && reading - detailReading >= DETAIL_READINGS;
    }

    final boolean start(int row, long reading, boolean countsAll) {
        detailReading = reading;
        if (!read(row) || !readFirst()) return false;
        if (countsAll) return true;
        exclude();
        detailNanos = total.cpuNanos;
        return true;
    }

    final void readDetails(long reading) {
        detailNanos = total.cpuNanos;
        detailReading = reading;
        isNew = false;
        readDetails();
    }

    /** Returns whether there may be something to count. */
    final boolean isChanged(long reading) {
        return hasUncounted() || detailReading == reading;
    }

    /**
     * Takes the CPU time and the time spent runnable from a schedstat file. Returns false if the thread has ended, or
     * if the file is that of a later thread with the same id.
     */
    protected final boolean setTimes(ByteBuffer schedstat) {
        long ran = ProcText.number(schedstat);
        return setTimes(ran, ProcText.number(schedstat));
    }

    /** Sets the CPU time and the time spent runnable, like {@link #setTimes(ByteBuffer)}. */
    protected final boolean setTimes(long cpuNanos, long waitNanos) {
        if (cpuNanos < total.cpuNanos) return false;
        if (cpuNanos > total.cpuNanos) total.userNanos = -1;
        total.cpuNanos = cpuNanos;
        total.waitNanos = waitNanos;
        return true;
    }

    /** Takes the context switches from a status file. */
    protected final void setSwitches(byte[] status, int length) {
        total.voluntary = ProcText.field(status, length, VOLUNTARY);
        total.involuntary = ProcText.field(status, length, INVOLUNTARY);
    }
}
