// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

/**
 * The states of the virtual threads of a JVM at one moment, as TaskClock's agent reports them. The numbers are read one
 * after the other, so they may contradict each other slightly.
 *
 * @param live how many have started and not ended
 * @param mounted how many run on a carrier
 * @param queued how many the JDK's scheduler could run but has no carrier for; -1 if unknown
 * @param parallelism how many the JDK's scheduler runs at the same time; 0 if unknown
 */
public record VirtualThreadCounts(long live, long mounted, long queued, int parallelism) {
    /** No agent has reported. */
    public static final VirtualThreadCounts UNKNOWN = new VirtualThreadCounts(-1, -1, -1, 0);

    /** Returns whether an agent has reported. */
    public boolean isKnown() {
        return live >= 0;
    }

    /** Returns how many wait for something other than a carrier, or for one of a custom scheduler; -1 if unknown. */
    public long waiting() {
        return queued < 0 ? -1 : Math.max(0, live - mounted - queued);
    }
}
