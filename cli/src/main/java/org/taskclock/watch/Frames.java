// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/** Intervals of one JVM, of one that runs or out of a file. For one thread at a time. */
public interface Frames extends Closeable {
    /** A JVM that could be watched. */
    record Jvm(int pid, String name, double cpuPercent) {}

    /**
     * What was used since the last call, or since this was opened: the caller waits in between. Out of a file: the next one.
     *
     * @return null at the end of a file
     * @throws IOException if there is no more to come; its message says why, as "process 4711 has ended"
     */
    Frame next() throws IOException;

    /** Stacks of a row's threads as they are now, or were in the last interval: text in lines; says itself why there are none. */
    default String stacks(Row row) throws IOException {
        return "Stacks are not recorded.";
    }

    /** The JVMs to choose from, the busiest first. */
    default List<Jvm> jvms() throws IOException {
        return List.of();
    }

    /** Another JVM; this one stays open. */
    default Frames open(int pid) throws IOException {
        throw new IOException("process " + pid + ": cannot be watched from here");
    }

    /** True if {@link #step} works. */
    default boolean canStep() {
        return false;
    }

    /** Goes on or back by as many frames, as far as there are any, and gives the one that is there. */
    default Frame step(int frames) throws IOException {
        throw new UnsupportedOperationException();
    }

    @Override
    default void close() throws IOException {}
}
