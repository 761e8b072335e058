// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.List;

/**
 * The history of the CPU use of a host's JVMs. Thread-safe. Methods that read answer from the file, which is up to five
 * seconds behind.
 */
public interface History extends AutoCloseable {
    /** Adds a sample, to be written within five seconds. Returns at once, and never fails: see {@link #status}. */
    void add(HistorySample sample);

    /** Adds a mark, to be written within five seconds. Returns at once, and never fails: see {@link #status}. */
    void add(Mark mark);

    /** Returns the state of the history. */
    HistoryStatus status();

    /** Returns the JVMs that were measured between the two times, those that used most CPU time first. */
    List<JvmHistory> jvms(Instant from, Instant to) throws HistoryException;

    /**
     * Returns what the pools of a JVM used, the pool that used most first.
     *
     * @param maxPoints the largest number of steps. The step is a multiple of the finest resolution that is kept for
     *     the whole range. There are fewer steps if the result would take too much memory.
     */
    PoolSeries pools(String jvmId, Instant from, Instant to, int maxPoints) throws HistoryException;

    /** Returns what the busiest threads of a JVM used, as {@link #pools} does. */
    ThreadSeries threads(String jvmId, Instant from, Instant to, int maxPoints, int maxThreads) throws HistoryException;

    /**
     * Returns the marks between the two times, the earliest first.
     *
     * @param jvmId the JVM whose marks to return besides those of the host; null for those of all JVMs
     */
    List<Mark> marks(String jvmId, Instant from, Instant to) throws HistoryException;

    /** Writes a JVM's history to a stream, which is not closed. */
    void export(String jvmId, Instant from, Instant to, ExportBy by, ExportFormat format, OutputStream out)
            throws IOException;

    /** Writes what was added and closes the file. */
    @Override
    void close();
}
