// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import java.time.Instant;
import java.util.List;

/**
 * The stacks that were sampled in one JVM in a time for which the history is to tell which methods used the CPU time.
 *
 * @param from the start of the first minute
 * @param to the end of the last minute
 */
public record HistoryProfile(JvmKey jvm, Instant from, Instant to, List<Stack> stacks) {
    /** Stands for stacks that used little CPU time. */
    public static final String OTHER = "[other]";

    /** Stands for the CPU time of a pool that was not sampled, such as that of the garbage collector. */
    public static final String NOT_SAMPLED = "[not sampled]";

    /**
     * Equal stacks of a pool. There may be several of the same frames.
     *
     * @param pool the pool of the thread; if it is a virtual one, the name of its group
     * @param frames outermost first; {@code _[k]} at the end of a name stands for the kernel
     * @param weight the share of the CPU time of the pool, in any unit
     */
    public record Stack(String pool, boolean isVirtual, List<String> frames, long samples, long weight) {}
}
