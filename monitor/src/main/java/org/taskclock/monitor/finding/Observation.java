// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.attach.AgentClient;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * What is known about a JVM in an interval.
 *
 * @param suspects threads that may have a problem
 * @param usages of threads or pools, and of accounts; those of one kind add up to what the kind used
 * @param limit the CPU limit of the container; 0 if there is none
 * @param throttledNanos the part of the interval in which that limit was used up; -1 if unknown
 * @param hasCollected whether the JVM reports that it has paused for a garbage collection
 * @param unsampled why a suspect may have no stack samples
 * @param repeatedlyMounted the id of a virtual thread that was mounted in more than one sample; 0 if there is none
 * @param host what all JVMs of the host used; null if unknown
 * @param details what only a reading of all threads shows; null if only pools are known
 */
public record Observation(
        long intervalNanos,
        List<Suspect> suspects,
        List<ThreadUsage> usages,
        long processNanos,
        double limit,
        long throttledNanos,
        boolean hasCollected,
        String unsampled,
        long repeatedlyMounted,
        AgentFigures agent,
        LockConvoys convoys,
        PoolDominates.Host host,
        Details details) {
    private static final int MAX_PER_KIND = 5;

    /**
     * What only a reading of all threads shows.
     *
     * @param counters what the JVM counted in the interval
     */
    public record Details(ProcessUsage totals, JvmCounters counters, ThreadHistory history, CommonPool commonPool) {}

    /**
     * The figures of the agent.
     *
     * @param yields -1 if they are not counted
     * @param mounts how often virtual threads were mounted; -1 if unknown
     * @param schedulingNanos CPU time that carriers spent on scheduling; 0 if unknown
     * @param sites the call sites with the most yields
     * @param virtualThreads as of the agent's last report
     */
    record AgentFigures(
            long yields,
            long virtualYields,
            long mounts,
            long schedulingNanos,
            List<String> sites,
            VirtualThreadCounts virtualThreads) {}

    /**
     * Returns what a sampler of threads knows. Counters alone cannot prove a yield storm or a monopolized carrier, so
     * this samples the stacks of suspicious threads, as often as that is allowed.
     */
    public static Observation ofThreads(
            List<ThreadUsage> threads,
            Details details,
            long intervalNanos,
            StackSamples samples,
            AgentClient agent,
            LockConvoys convoys) {
        ProcessUsage totals = details.totals();
        boolean mayBePinned =
                samples.mayBePinnedAgain(CarrierPinned.isPossible(threads, totals.virtualThreads(), intervalNanos));
        List<ThreadUsage> suspicious = threads.stream()
                .filter(thread -> Suspect.isSuspicious(thread, intervalNanos)
                        || (mayBePinned && CarrierPinned.isIdleCarrier(thread, intervalNanos)))
                .toList();
        samples.update(suspicious, intervalNanos);
        List<Suspect> suspects = new ArrayList<>();
        for (ThreadUsage thread : suspicious)
            suspects.add(new Suspect(
                    List.of(thread), "", samples.of(thread.tid()), agent.yieldsPerSecond(thread.tid()), intervalNanos));
        List<ThreadUsage> usages = new ArrayList<>(threads);
        usages.addAll(agent.accounts());
        return new Observation(
                intervalNanos,
                suspects,
                usages,
                totals.processNanos(),
                totals.containerCores(),
                totals.throttledNanos(),
                totals.heap() != null && totals.heap().gcPauses() > 0,
                "no stack sample, because " + samples.failure(),
                samples.repeatedlyMounted(),
                new AgentFigures(
                        agent.yields(),
                        agent.virtualYields(),
                        agent.mounts(),
                        agent.schedulingNanos(),
                        agent.sites(),
                        totals.virtualThreads()),
                convoys,
                null,
                details);
    }

    /**
     * Returns what is known without thread dumps. The threads of a pool are one suspect.
     *
     * @param pools with the accounts
     * @param virtualThreads as of the agent's last report
     * @param container null if there is none
     */
    public static Observation ofPools(
            List<ThreadUsage> pools,
            Collection<ThreadUsage> threads,
            long processNanos,
            VirtualThreadCounts virtualThreads,
            ContainerUsage container,
            long intervalNanos,
            PoolDominates.Host host) {
        Map<PoolKey, List<ThreadUsage>> suspicious = new LinkedHashMap<>();
        for (ThreadUsage thread : threads)
            if (Suspect.isSuspicious(thread, intervalNanos) && Suspect.isSystemHeavy(thread))
                suspicious
                        .computeIfAbsent(new PoolKey(thread.pool(), thread.kind()), key -> new ArrayList<>())
                        .add(thread);
        List<Suspect> suspects = new ArrayList<>();
        suspicious.forEach((key, found) ->
                suspects.add(new Suspect(found, key.pool(), new StackSamples.Stacks(), 0, intervalNanos)));
        return new Observation(
                intervalNanos,
                suspects,
                pools,
                processNanos,
                container == null ? 0 : container.limit(),
                container == null ? -1 : container.throttledNanos(),
                false,
                "no stack was sampled",
                0,
                new AgentFigures(-1, 0, -1, scheduling(pools), List.of(), virtualThreads),
                new LockConvoys(),
                host,
                null);
    }

    /** Returns the CPU time of carriers that is not that of their virtual threads, if the agent reports the latter. */
    private static long scheduling(List<ThreadUsage> pools) {
        long virtual = sum(pools, ThreadKind.VIRTUAL);
        return virtual == 0 ? 0 : Math.max(0, sum(pools, ThreadKind.CARRIER) - virtual);
    }

    private static long sum(List<ThreadUsage> usages, ThreadKind kind) {
        return usages.stream()
                .filter(usage -> usage.kind() == kind)
                .mapToLong(ThreadUsage::cpuNanos)
                .sum();
    }

    long nanosOf(ThreadKind kind) {
        return sum(usages, kind);
    }

    /** Returns the time for which threads of a kind ran or waited for a processor. */
    long runnableNanosOf(ThreadKind kind) {
        long waited = usages.stream()
                .filter(usage -> usage.kind() == kind)
                .mapToLong(usage -> Math.max(0, usage.waitNanos()))
                .sum();
        return nanosOf(kind) + waited;
    }

    int pid() {
        return usages.isEmpty() ? 0 : usages.get(0).pid();
    }

    /** Returns the findings, the most severe first. A suspect has at most one. */
    public List<Finding> findings() {
        List<Finding> all = new ArrayList<>();
        for (Suspect suspect : suspects) {
            for (FindingKind kind : FindingKinds.ALL) {
                Finding found = kind.find(suspect, this);
                if (found == null) continue;
                if (all.stream().filter(other -> other.kind().equals(kind)).count() < MAX_PER_KIND) all.add(found);
                break;
            }
        }
        for (FindingKind kind : FindingKinds.ALL) all.addAll(kind.find(this, all));
        all.sort((a, b) -> FindingKinds.BY_SEVERITY.compare(a.kind(), b.kind()));
        return all;
    }
}
