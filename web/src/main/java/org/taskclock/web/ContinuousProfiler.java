// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.time.Clock;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.history.HistoryProfile;
import org.taskclock.monitor.fleet.JvmSample;

/**
 * Profiles JVMs all the time, at little cost, for the history. Each JVM has a thread of its own, because a profile
 * takes a minute, and one that hangs must not hold up the others.
 */
final class ContinuousProfiler implements AutoCloseable {
    /** Further JVMs are not profiled. */
    static final int MAX_JVMS = 64;

    /** In all, after which the shutdown hooks of profiles end what is left. */
    private static final long CLOSE_MILLIS = 5_000;

    private final double share;
    private final Clock clock;
    private final Consumer<HistoryProfile> history;
    private final Consumer<String> log;
    private final Map<String, ProfiledJvm> jvms = new HashMap<>();
    private boolean isFull;

    /**
     * @param share how much of one core profiles may cost each JVM
     * @param history receives the profiles
     */
    ContinuousProfiler(double share, Clock clock, Consumer<HistoryProfile> history, Consumer<String> log) {
        this.share = share;
        this.clock = clock;
        this.history = history;
        this.log = log;
    }

    /** Called with the samples of all JVMs, always by the same thread. Returns at once. */
    void update(List<Overview.KeyedSample> samples) {
        Set<String> running = new HashSet<>();
        for (Overview.KeyedSample keyed : samples) {
            JvmSample sample = keyed.sample();
            if (sample.jvm().hasEnded()) continue;
            String id = keyed.key().id();
            running.add(id);
            ProfiledJvm jvm = jvms.get(id);
            if (jvm == null) jvm = start(keyed);
            if (jvm != null) jvm.add(sample);
        }
        jvms.values().removeIf(jvm -> {
            boolean hasEnded = !running.contains(jvm.id());
            if (hasEnded) jvm.end();
            return hasEnded;
        });
    }

    /** Returns null if there are too many. */
    private ProfiledJvm start(Overview.KeyedSample keyed) {
        if (jvms.size() >= MAX_JVMS) {
            if (!isFull) log.accept("profiles: only " + MAX_JVMS + " JVMs are profiled: use --match to choose them");
            isFull = true;
            return null;
        }
        ProfiledJvm jvm = new ProfiledJvm(keyed.key(), new ProfileBudget(share), clock, history, log);
        jvms.put(keyed.key().id(), jvm);
        jvm.start();
        return jvm;
    }

    /** Ends all profiles. Called when there are no more updates. */
    @Override
    public void close() {
        for (ProfiledJvm jvm : jvms.values()) jvm.end();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
        for (ProfiledJvm jvm : jvms.values())
            jvm.await(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
    }
}
