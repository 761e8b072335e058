// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Tasks that block all workers of the common pool. */
public final class CommonPoolBlocked extends FindingKind {
    private static final int MIN_SAMPLES = 5;
    private static final long MIN_NANOS = 8 * ThreadHistory.SECOND;
    private static final double MAX_RUNNING_SHARE = 0.1;
    private static final String POOL = CommonPool.WORKER + "#";

    public CommonPoolBlocked() {
        super(
                "common-pool-blocked",
                32,
                Color.RED,
                Source.DUMPS,
                "Tasks that wait hold all threads of the common pool, so that no other task runs there, such as those of"
                        + " parallel streams and CompletableFuture.",
                "Give tasks that wait an executor of their own, for instance one of virtual threads. taskclock dump PID"
                        + " shows what they wait for.");
    }

    /** One is enough, because it takes the dumps of several seconds. */
    @Override
    public int minIntervals() {
        return 1;
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        if (observation.details() == null) return List.of();
        CommonPool pool = observation.details().commonPool();
        long nanos = pool.lastAt - pool.since;
        if (pool.samples < MIN_SAMPLES
                || nanos < MIN_NANOS
                || observation.usages().stream()
                        .anyMatch(usage -> usage.name().startsWith(CommonPool.WORKER)
                                && usage.cpuNanos() > MAX_RUNNING_SHARE * observation.intervalNanos()))
            return List.of();
        List<String> evidence = new ArrayList<>();
        evidence.add("all of them waited in a task in each of the last " + pool.samples + " thread dumps, over "
                + number(Math.rint(nanos / 1e9)) + " s");
        pool.sites.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .ifPresent(site -> evidence.add(
                        site.getValue() + " of " + pool.blocked + " were " + site.getKey() + " in the last one"));
        if (pool.waiting > 0)
            evidence.add(pool.waiting + (pool.waiting == 1 ? " thread waits" : " threads wait")
                    + " for the result of a task");
        String threads = pool.blocked == 1 ? "the only thread" : "all " + pool.blocked + " threads";
        String text = threads + " of pool \"" + POOL + "\" wait" + (pool.blocked == 1 ? "s" : "") + " in tasks";
        return List.of(new Finding(this, 0, text, evidence).lasting(nanos, observation.intervalNanos()));
    }
}
