// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.PoolKey;
import org.taskclock.monitor.finding.ThreadHistory.Moment;

/** A program that starts new threads all the time. */
public final class ThreadChurn extends FindingKind {
    /** Per second, on average, and in most intervals of a second. A JVM that starts has such seconds, but few. */
    private static final double MIN_STARTS = 20;

    private static final double MIN_STEADY_STARTS = 10;
    private static final double MIN_STEADY_SHARE = 0.7;

    public ThreadChurn() {
        super(
                "thread-churn",
                82,
                Color.YELLOW,
                Source.DUMPS,
                "Threads start and end all the time, which costs more than what many of them do.",
                "Use a thread pool, or virtual threads. Flight Recorder shows the stacks that start threads as"
                        + " jdk.ThreadStart.");
    }

    /** One is enough, because it takes ten seconds. */
    @Override
    public int minIntervals() {
        return 1;
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        if (observation.details() == null) return List.of();
        List<Moment> recent = observation.details().history().recent();
        if (recent.isEmpty()) return List.of();
        long started = 0;
        long nanos = 0;
        int steady = 0;
        long begin = 0;
        Map<PoolKey, Integer> fresh = new HashMap<>();
        for (Moment moment : recent) {
            if (moment.started() < 0) return List.of();
            started += moment.started();
            nanos += moment.nanos();
            if (moment.started() >= MIN_STEADY_STARTS * moment.nanos() / 1e9 && steady++ == 0)
                begin = moment.at() - moment.nanos();
            moment.fresh().forEach((pool, count) -> fresh.merge(pool, count, Integer::sum));
        }
        double perSecond = started * 1e9 / nanos;
        int growth = recent.get(recent.size() - 1).live() - recent.get(0).live();
        if (perSecond < MIN_STARTS || steady < MIN_STEADY_SHARE * recent.size() || growth > started / 2)
            return List.of();
        List<String> evidence = new ArrayList<>();
        evidence.add(started + " threads started in the last " + number(nanos / 1e9) + " s, and " + Math.max(0, growth)
                + " more threads are alive");
        fresh.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .ifPresent(pool -> evidence.add("most of those that were seen were named like \""
                        + pool.getKey().pool() + "\"; a thread has the name of its creator until it gets its own"));
        String text = number(Math.rint(perSecond)) + " threads start per second, and end soon after";
        return List.of(new Finding(this, 0, text, evidence)
                .lasting(observation.details().history().nanosSince(begin), observation.intervalNanos()));
    }
}
