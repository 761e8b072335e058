// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingTracker;
import org.taskclock.monitor.finding.Observation;
import org.taskclock.monitor.finding.PoolDominates;
import org.taskclock.monitor.usage.ThreadUsage;

/** Tracks the findings of all JVMs of this host, for their metrics. Confined to one thread. */
public final class FleetFindings {
    private final Map<MonitoredJvm, FindingTracker> trackers = new HashMap<>();

    /** Creates trackers of JVMs as they are found. */
    public FleetFindings() {}

    /** Adds the samples of all JVMs. */
    public void add(List<JvmSample> samples, Instant now) {
        PoolDominates.Host host = host(samples);
        Set<MonitoredJvm> seen = new HashSet<>();
        for (JvmSample sample : samples) {
            seen.add(sample.jvm());
            if (sample.intervalNanos() == 0) continue;
            FindingTracker tracker = trackers.computeIfAbsent(sample.jvm(), jvm -> new FindingTracker());
            tracker.add(of(sample, host), now.minusNanos(sample.intervalNanos()));
            sample.jvm().setFindings(tracker.kinds());
        }
        trackers.keySet().retainAll(seen);
    }

    /** Returns what the JVMs used together; null if that is unknown. */
    public static PoolDominates.Host host(List<JvmSample> samples) {
        List<ThreadUsage> pools = new ArrayList<>();
        long longest = 0;
        for (JvmSample sample : samples) {
            pools.addAll(sample.pools());
            longest = Math.max(longest, sample.intervalNanos());
        }
        return longest == 0 ? null : PoolDominates.Host.of(pools, longest);
    }

    /** Returns the findings in a sample. */
    public static List<Finding> of(JvmSample sample, PoolDominates.Host host) {
        return Observation.ofPools(
                        sample.poolsAndAccounts(),
                        sample.threads(),
                        sample.process().cpuNanos(),
                        sample.virtualThreads(),
                        sample.container(),
                        sample.intervalNanos(),
                        host)
                .findings();
    }
}
