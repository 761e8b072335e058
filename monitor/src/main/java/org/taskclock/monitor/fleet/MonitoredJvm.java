// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.taskclock.AccountUsage;
import org.taskclock.CpuTime;
import org.taskclock.metrics.Cgroup;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.JvmUsage.FindingStatus;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.fleet.JvmDiscovery.JvmId;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.usage.ThreadUsage;

/** A JVM and its counters, which are kept for a while after it has exited. */
public final class MonitoredJvm {
    /** USER_HZ, the unit of start times in /proc. */
    private static final long NANOS_PER_TICK = 10_000_000;

    final JvmId id;
    final JvmLabels labels;

    /** The System.nanoTime at which its counters were 0. */
    final long startNanos;

    private final PoolSampler sampler;
    private final PoolCounters counters;

    private final Cgroup cgroup;

    /** Null outside of a Kubernetes cluster. */
    private final PodNames pods;

    private JvmUsage usage;
    private volatile List<FindingStatus> findings = List.of();

    /** Usage that has not yet been added to the counters, and to the next sample; used only after {@link #sample}. */
    private final UsageSums uncounted = new UsageSums();

    private final RecentUsage recent = new RecentUsage();

    /** As of System.nanoTime. */
    private long endedAt;

    private boolean hasEnded;

    /** Whether it was reported that the names of its threads are incomplete. */
    boolean isReported;

    /** Whether it was reported that its agent's report cannot be used. */
    boolean isAgentReported;

    /**
     * Creates counters.
     *
     * @param fromStart whether the sampler counts from the start of the JVM
     * @param pods null outside of a Kubernetes cluster
     */
    MonitoredJvm(JvmId id, JvmFinder.Found found, PoolSampler sampler, boolean fromStart, int maxPools, PodNames pods) {
        this.id = id;
        labels = found.labels();
        this.sampler = sampler;
        startNanos = System.nanoTime() - (fromStart ? ageNanos(id) : 0);
        counters = new PoolCounters(maxPools);
        cgroup = found.cgroup();
        this.pods = pods;
        usage = new JvmUsage(counters.pools(), new CpuTime(0, 0, 0), VirtualThreadCounts.UNKNOWN, List.of(), null);
    }

    /** Returns the time since a JVM started; 0 if it cannot be known, as in a container with an uptime of its own. */
    private static long ageNanos(JvmId id) {
        try {
            String uptime = Files.readString(Path.of("/proc/uptime")).split(" ", 2)[0];
            return Math.max(0, (long) (1e9 * Double.parseDouble(uptime)) - id.startTicks() * NANOS_PER_TICK);
        } catch (IOException | RuntimeException e) {
            return 0;
        }
    }

    public JvmId id() {
        return id;
    }

    public JvmLabels labels() {
        return labels;
    }

    /** Returns the names of its pod and container, as far as they are known now. */
    public Workload workload() {
        return pods == null ? Workload.UNKNOWN : pods.of(labels.containerId(), labels.podUid());
    }

    /** Returns whether the JVM has exited. Its last sample may still have used CPU time. */
    public boolean hasEnded() {
        return hasEnded;
    }

    boolean hasEndedBefore(long time) {
        return hasEnded && endedAt - time < 0;
    }

    /** Returns the number of threads in the last reading; 0 if the JVM has exited. */
    public int threads() {
        return hasEnded ? 0 : sampler.threads();
    }

    /** Returns why the names of threads are incomplete; null if they are not, or if none is asked for. */
    String attachFailure() {
        return hasEnded ? null : sampler.attachFailure();
    }

    /** Returns why the report of its agent was not used since the last call; null if there is no reason. */
    String takeAgentProblem() {
        return hasEnded ? null : sampler.takeAgentProblem();
    }

    VirtualThreadCounts virtualThreads() {
        return hasEnded ? VirtualThreadCounts.UNKNOWN : sampler.virtualThreads();
    }

    /** Sets the kinds of problems that it has or had. Thread-safe. */
    public void setFindings(List<FindingStatus> findings) {
        this.findings = findings;
    }

    /** Returns the findings; those of a JVM that has exited are over. */
    private List<FindingStatus> findings() {
        if (!hasEnded) return findings;
        return findings.stream()
                .map(finding -> new FindingStatus(finding.kind(), false, finding.startMillis()))
                .toList();
    }

    /** Asks the agent, if there is one, for the next reading. */
    void askAgent() {
        if (!hasEnded) sampler.askAgent();
    }

    /**
     * Reads all threads.
     *
     * @param agentUntil the System.nanoTime until which to wait for the agent
     */
    JvmSnapshot read(long agentUntil) {
        if (!hasEnded) {
            try {
                add(sampler.read(agentUntil));
            } catch (MonitorException e) {
                end();
            }
        }
        return new JvmSnapshot(this, usage, JvmSeries.of(usage), startNanos);
    }

    /**
     * Reads the threads that run often, or all. The counters are updated only by {@link #read}, because only that asks
     * the agent, which splits the CPU time of carriers.
     */
    void sample(boolean readsAll) {
        try {
            PoolReading reading = sampler.readRecent(readsAll);
            uncounted.add(withoutVirtual(reading).pools());
            recent.add(reading, System.nanoTime());
        } catch (MonitorException e) {
            end();
        }
    }

    /**
     * Returns a reading without virtual threads and accounts, because {@link PoolSampler#read} and
     * {@link PoolSampler#readRecent} each return all their usage.
     */
    private static PoolReading withoutVirtual(PoolReading reading) {
        List<ThreadUsage> pools = reading.pools().stream()
                .filter(usage -> usage.kind() != ThreadKind.VIRTUAL && usage.kind() != ThreadKind.ACCOUNT)
                .toList();
        return new PoolReading(pools, reading.yields(), reading.process(), reading.threads());
    }

    /** Returns what was used since the previous call. */
    JvmSample takeRecent() {
        return recent.take(this, hasEnded ? null : cgroup.usage());
    }

    /** Stops reading, because the process has exited. */
    void end() {
        if (hasEnded) return;
        hasEnded = true;
        endedAt = System.nanoTime();
        add(sampler.end());
    }

    private void add(PoolReading reading) {
        if (recent.isUsed()) recent.add(withoutVirtual(reading), System.nanoTime());
        counters.add((uncounted.isEmpty() ? reading : uncounted.takeWith(reading)).usages());
        // The control group of a process that has exited may be gone.
        JvmUsage.ContainerUsage container = hasEnded ? usage.container() : cgroup.usage();
        List<AccountUsage> accounts = hasEnded ? usage.accounts() : sampler.accounts();
        usage = new JvmUsage(counters.pools(), reading.process(), virtualThreads(), accounts, container, findings());
    }

    void close() {
        if (!hasEnded) sampler.close();
    }
}
