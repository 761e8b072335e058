// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.usage.ThreadUsage;

/** A sequence of intervals of one JVM, live or recorded. Confined to one thread. */
public interface IntervalSource extends Closeable {
    /** A JVM that can be opened. */
    record Jvm(int pid, String name, double cpuPercent) {}

    /**
     * Returns the next interval. For a live JVM, this is the interval since the previous call, or since the source was
     * opened; the caller decides how long to wait between calls.
     *
     * @return null at the end of a recording
     * @throws IOException if there are no more intervals; the message is the reason, such as "process 4711 has exited"
     */
    Interval next() throws IOException;

    /** Sets whether {@link ThreadUsage#java} is needed in each interval, which costs a live JVM some time. */
    default void watchJavaStatus(boolean on) {}

    /** Returns the sections of named accounts that are open at the end of the last interval; none in a recording. */
    default List<AgentReport.Section> openSections() {
        return List.of();
    }

    /** Returns the current stacks of the thread, or of the group's threads, as lines of text, or why there are none. */
    default String stacks(ThreadUsage thread) throws IOException {
        return "Stacks are not recorded.";
    }

    /**
     * Checks whether threads of the JVM can be profiled. May be called on any thread.
     *
     * @throws IOException if not; the message is the reason
     */
    default void checkProfile() throws IOException {
        throw new IOException("stacks are not recorded");
    }

    /** Returns the JVMs to choose from, busiest first. */
    default List<Jvm> jvms() throws IOException {
        return List.of();
    }

    /** Opens another JVM; this source stays open. */
    default IntervalSource open(int pid) throws IOException {
        throw new IOException("process " + pid + ": a recording cannot switch to another process");
    }

    /** Returns whether the agent can probably be loaded into the JVM. May be called on any thread. */
    default boolean canLoadAgent() {
        return false;
    }

    /** Reads the agent's report from the next interval on, because the agent was just loaded. */
    default void agentLoaded() {}

    @Override
    default void close() throws IOException {}
}
