// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.monitor.finding.ThreadHistory.Lone;

/** A pool of which one thread has more to do than it can, while the others do nothing. */
public final class PoolImbalance extends FindingKind {
    static final int MIN_THREADS = 4;
    private static final int MIN_SECONDS = 30;

    /** The name that Java gives to threads: these have nothing in common. */
    private static final String UNNAMED = "Thread-#";

    public PoolImbalance() {
        super(
                "pool-imbalance",
                86,
                Color.YELLOW,
                Source.DUMPS,
                "One thread of a pool does all the work, and cannot do more, while the others do nothing.",
                "Split its work into smaller tasks, or spread connections and keys over all threads of the pool.");
    }

    /** One is enough, because it takes half a minute. */
    @Override
    public int minIntervals() {
        return 1;
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        if (observation.details() == null) return List.of();
        ThreadHistory history = observation.details().history();
        return history.lone().stream()
                .filter(lone -> history.secondsSince(lone.since()) >= MIN_SECONDS
                        && !lone.thread().pool().equals(UNNAMED))
                .map(lone -> finding(lone, history, observation))
                .toList();
    }

    private Finding finding(Lone lone, ThreadHistory history, Observation observation) {
        return new Finding(
                        this,
                        lone.thread().tid(),
                        "thread \"" + lone.thread().name() + "\" does all the work of its pool of " + lone.poolSize()
                                + " threads",
                        List.of(
                                "it has run, or waited for a processor, all the time for "
                                        + history.secondsSince(lone.since()) + " s",
                                percent(lone.thread().cpuNanos(), observation.intervalNanos())
                                        + " of a core in the last interval; the others together used at most a tenth of that"))
                .lasting(history.nanosSince(lone.since()), observation.intervalNanos());
    }
}
