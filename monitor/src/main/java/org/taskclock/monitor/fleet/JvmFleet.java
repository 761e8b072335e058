// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.taskclock.CpuTime;
import org.taskclock.monitor.fleet.JvmDiscovery.JvmId;
import org.taskclock.monitor.proc.MonitorException;

/**
 * Tracks the JVMs of this machine. Thread-safe. A JVM that cannot be read, or that reports impossible values, is
 * skipped for a while, and does not affect the others.
 */
public final class JvmFleet implements AutoCloseable {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** The pause after a JVM could not be read, which doubles with each further failure. */
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;

    private static final int MAX_DOUBLINGS = 7;

    /** All threads of a JVM are read again after this many samples. */
    private static final long FULL_READINGS = 10;

    /** How long a reading waits for the agents of all JVMs together, which answer at the same time. */
    private static final long AGENT_NANOS = NANOS_PER_SECOND / 5;

    private static final long CLOSE_MILLIS = 500;

    /** How often reading a JVM has failed, and when to try again. Kept during the attempt, which may fail again. */
    private record Refusal(JvmId id, int count, long retryAt) {}

    private final FleetOptions options;
    private final FleetStatus status = new FleetStatus();
    private final Consumer<String> log;
    private final JvmFinder finder;

    /** Null outside of a Kubernetes cluster. */
    private final PodNames pods;

    private final SharedReading reading = new SharedReading(this::readAll);

    /** Guards the following fields. */
    private final ReentrantLock lock = new ReentrantLock();

    private final PoolSamplers samplers;
    private final Map<Long, MonitoredJvm> jvms = new HashMap<>();
    private final List<MonitoredJvm> ended = new ArrayList<>();
    private final Map<Long, Refusal> refused = new HashMap<>();

    /** JVMs that have ended since the last sample. */
    private final List<MonitoredJvm> newlyEnded = new ArrayList<>();

    private long sampleCount;

    /**
     * Creates a fleet without JVMs; {@link #refresh} finds them.
     *
     * @param log receives messages of one line, such as why a JVM cannot be read
     * @throws IllegalArgumentException if the options cannot be used; the message is the reason, in one line
     */
    public JvmFleet(FleetOptions options, Consumer<String> log) {
        this.options = options;
        this.log = log;
        finder = new JvmFinder(options, log);
        samplers = new PoolSamplers(options.attach(), options.accountsInterval());
        String node = options.kubernetesNode();
        pods = node == null ? null : new PodNames(KubernetesApi.ofPod(node), log);
    }

    public FleetStatus status() {
        return status;
    }

    /** Finds JVMs that have started, and forgets those that exited some time ago. Must be called by one thread only. */
    public void refresh() {
        List<JvmId> running = finder.refresh();
        List<JvmId> unknown = new ArrayList<>();
        lock.lock();
        try {
            for (JvmId id : running) if (isUnknown(id)) unknown.add(id);
        } finally {
            lock.unlock();
        }
        Map<JvmId, JvmFinder.Found> read = finder.read(unknown);
        lock.lock();
        try {
            long now = System.nanoTime();
            read.forEach((id, found) -> open(id, found, now));
            refused.values().removeIf(refusal -> !running.contains(refusal.id));
            removeEnded(now);
            updateStatus();
        } finally {
            lock.unlock();
        }
    }

    private boolean isUnknown(JvmId id) {
        MonitoredJvm known = jvms.get(id.pid());
        if (known != null) return !known.id.equals(id);
        Refusal refusal = refused.get(id.pid());
        return refusal == null || !refusal.id.equals(id) || System.nanoTime() - refusal.retryAt >= 0;
    }

    private void open(JvmId id, JvmFinder.Found found, long now) {
        MonitoredJvm known = jvms.get(id.pid());
        // The id was reused. Both would have the same labels.
        if (known != null) {
            known.end();
            jvms.remove(id.pid());
            newlyEnded.add(known);
        }
        Refusal refusal = refused.get(id.pid());
        try {
            ended.removeIf(jvm -> jvm.labels.equals(found.labels()));
            boolean fromStart = finder.isNewer(id);
            PoolSampler sampler = samplers.open(id.pid(), fromStart, found.feature());
            jvms.put(id.pid(), new MonitoredJvm(id, found, sampler, fromStart, options.maxPools(), pods));
            status.addJvm();
        } catch (MonitorException e) {
            if (e.reason() == MonitorException.Reason.GONE) finder.forget(id.pid());
            else refuse(id, refusal, e.getMessage(), now);
        } catch (RuntimeException e) {
            refuse(id, refusal, "process " + id.pid() + " cannot be read: " + e, now);
        }
    }

    private void refuse(JvmId id, Refusal last, String message, long now) {
        int count = last == null || !last.id.equals(id) ? 0 : last.count;
        if (count == 0) log.accept(message);
        long pause = RETRY_NANOS << Math.min(count, MAX_DOUBLINGS);
        refused.put(id.pid(), new Refusal(id, count + 1, now + pause));
    }

    /** Performs an action on each JVM of a collection, and gives up JVMs for which it fails. */
    void forEach(Collection<MonitoredJvm> all, Consumer<MonitoredJvm> action) {
        for (MonitoredJvm jvm : List.copyOf(all)) {
            try {
                action.accept(jvm);
                report(jvm, jvm.takeAgentProblem());
            } catch (RuntimeException e) {
                status.addJvmError();
                all.remove(jvm);
                jvm.close();
                String reason = e instanceof IllegalStateException ? e.getMessage() : e.toString();
                refuse(
                        jvm.id,
                        refused.get(jvm.id.pid()),
                        "process " + jvm.id.pid() + " (" + jvm.labels.service() + ") is not exported: " + reason,
                        System.nanoTime());
            }
        }
    }

    /** The JVM is then measured without what its agent counts. */
    private void report(MonitoredJvm jvm, String agentProblem) {
        if (agentProblem == null) return;
        status.addJvmError();
        if (!jvm.isAgentReported)
            log.accept("process " + jvm.id.pid() + " (" + jvm.labels.service()
                    + "): virtual threads and yields are not counted: " + agentProblem);
        jvm.isAgentReported = true;
    }

    private void removeEnded(long now) {
        for (Iterator<MonitoredJvm> all = jvms.values().iterator(); all.hasNext(); ) {
            MonitoredJvm jvm = all.next();
            if (!jvm.hasEnded()) continue;
            ended.add(jvm);
            newlyEnded.add(jvm);
            finder.forget(jvm.id.pid());
            all.remove();
        }
        long keptSince = now - options.keepEnded().toNanos();
        ended.removeIf(jvm -> jvm.hasEndedBefore(keptSince));
    }

    private void updateStatus() {
        int threads = 0;
        int withoutNames = 0;
        for (MonitoredJvm jvm : jvms.values()) {
            threads += jvm.threads();
            String failure = jvm.attachFailure();
            if (failure == null) continue;
            withoutNames++;
            if (jvm.isReported) continue;
            jvm.isReported = true;
            log.accept("process " + jvm.id.pid() + " (" + jvm.labels.service()
                    + "): thread names are truncated to 15 characters: " + failure);
        }
        status.jvms = jvms.size();
        status.threads = threads;
        long notRead =
                refused.keySet().stream().filter(pid -> !jvms.containsKey(pid)).count();
        status.unreadable = (int) notRead + finder.silent();
        status.withoutNames = withoutNames;
    }

    /**
     * Reads the threads that run often, and returns what each JVM used since the previous call. This includes what
     * {@link #read} has returned in between. A JVM that has exited appears in one more result. Must be called by one
     * thread only.
     */
    public List<JvmSample> sample() {
        lock.lock();
        try {
            long start = System.nanoTime();
            sampleCount++;
            List<JvmSample> samples = new ArrayList<>();
            forEach(jvms.values(), jvm -> {
                if (!jvm.hasEnded()) jvm.sample((sampleCount + jvm.id.pid()) % FULL_READINGS == 0);
            });
            removeEnded(start);
            forEach(jvms.values(), jvm -> samples.add(jvm.takeRecent()));
            forEach(newlyEnded, jvm -> samples.add(jvm.takeRecent()));
            newlyEnded.clear();
            samplers.restoreInterrupt();
            status.addSample(System.nanoTime() - start);
            return samples;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the CPU time of all processes since the machine started; unknown if it cannot be read. */
    public CpuTime machineTime() {
        lock.lock();
        try {
            return samplers.machineTime();
        } finally {
            lock.unlock();
        }
    }

    public int processors() {
        return samplers.processors();
    }

    /**
     * Reads all threads of all JVMs. The result also has the JVMs that ended recently. If that takes longer than a
     * scrape may, the result is that of the previous reading.
     */
    public List<JvmSnapshot> read() {
        return reading.get();
    }

    private List<JvmSnapshot> readAll() {
        lock.lock();
        try {
            long start = System.nanoTime();
            long agentUntil = start + AGENT_NANOS;
            List<JvmSnapshot> snapshots = new ArrayList<>();
            forEach(jvms.values(), MonitoredJvm::askAgent);
            forEach(jvms.values(), jvm -> snapshots.add(jvm.read(agentUntil)));
            forEach(ended, jvm -> snapshots.add(jvm.read(agentUntil)));
            // Nothing is counted before the names of the threads are known.
            snapshots.removeIf(snapshot -> snapshot.usage().pools().isEmpty());
            removeEnded(start);
            samplers.restoreInterrupt();
            status.addReading(System.nanoTime() - start);
            return snapshots;
        } finally {
            lock.unlock();
        }
    }

    /** Does not wait for JVMs that do not respond. */
    @Override
    public void close() {
        finder.close();
        reading.close();
        if (pods != null) pods.close();
        try {
            if (!lock.tryLock(CLOSE_MILLIS, TimeUnit.MILLISECONDS)) return;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return;
        }
        try {
            for (MonitoredJvm jvm : jvms.values()) jvm.close();
            samplers.close();
        } finally {
            lock.unlock();
        }
    }
}
