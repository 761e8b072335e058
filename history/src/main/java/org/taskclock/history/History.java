// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.List;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.ThreadSeries;

/**
 * The history of the CPU usage of a host's JVMs. Thread-safe. Methods that read answer from the file, which is up to
 * five seconds behind.
 */
public interface History extends AutoCloseable {
    /** Adds a sample, which is written within five seconds. Never waits or fails: see {@link #status}. */
    void add(HistorySample sample);

    /** Adds a mark, which is written within five seconds. Never waits or fails: see {@link #status}. */
    void add(Mark mark);

    /**
     * Adds a profile, which is written once the CPU time of its last minute has been. Never waits or fails: see
     * {@link #status}.
     */
    void add(HistoryProfile profile);

    /** Returns the state of the history. */
    HistoryStatus status();

    /** Returns the JVMs that were measured between the two times, most CPU time first. */
    List<JvmHistory> jvms(Instant from, Instant to) throws HistoryException;

    /**
     * Returns the usage of the pools of a JVM, most CPU time first.
     *
     * @param maxPoints the maximum number of steps. The step is a multiple of the finest resolution that is kept for
     *     the whole range. There are fewer steps if the result would take too much memory.
     */
    PoolSeries pools(String jvmId, Instant from, Instant to, int maxPoints) throws HistoryException;

    /** Returns the usage of the busiest threads of a JVM, like {@link #pools}. */
    ThreadSeries threads(String jvmId, Instant from, Instant to, int maxPoints, int maxThreads) throws HistoryException;

    /**
     * Returns the stacks in which a JVM used CPU time, from the profiles of the minutes that overlap a range.
     *
     * @param pool the pool whose stacks to return; null for all pools
     * @param maxStacks the number of stacks to return; the others of a pool are combined
     */
    StackHistory stacks(String jvmId, Instant from, Instant to, String pool, int maxStacks) throws HistoryException;

    /**
     * Returns the marks between the two times, the earliest first.
     *
     * @param jvmId the JVM whose marks to return in addition to those of the host; null for all JVMs
     */
    List<Mark> marks(String jvmId, Instant from, Instant to) throws HistoryException;

    /** Writes a JVM's history to a stream, which is not closed. */
    void export(String jvmId, Instant from, Instant to, ExportBy by, ExportFormat format, OutputStream out)
            throws IOException;

    /** Writes all pending data and closes the file. */
    @Override
    void close();
}
