// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.exporter;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.taskclock.CpuTime;
import org.taskclock.monitor.ContainerIdentity;
import org.taskclock.monitor.JvmDiscovery;
import org.taskclock.monitor.JvmDiscovery.JvmId;
import org.taskclock.monitor.JvmProcesses;
import org.taskclock.monitor.MonitorException;
import org.taskclock.monitor.PoolSamplers;

/** The JVMs of this machine, as they start and end. Thread-safe. */
public final class JvmFleet implements AutoCloseable {
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** The pause after a JVM could not be read, which doubles with each further failure. */
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;

    private static final int MAX_DOUBLINGS = 7;

    /** The number of calls of {@link #sampleRecent} after which all threads of a JVM are read again. */
    private static final long FULL_READINGS = 10;

    /** Why a JVM is not read, and when it is tried again. */
    private record Refusal(JvmId id, int count, long retryAt) {}

    private final ExporterOptions options;
    private final ServiceName service;
    private final ExporterStatus status;
    private final Consumer<String> log;
    private final JvmDiscovery discovery = new JvmDiscovery();
    private final ExecutorService attacher;
    private final PoolSamplers samplers;
    private final Map<Long, MonitoredJvm> jvms = new HashMap<>();
    private final List<MonitoredJvm> ended = new ArrayList<>();
    private final Map<Long, Refusal> refused = new HashMap<>();

    /** JVMs that have ended since the last call of {@link #sampleRecent}; null if that is not used. */
    private List<MonitoredJvm> newlyEnded;

    private long recentSamples;

    /**
     * Creates a fleet without JVMs; {@link #refresh} finds them.
     *
     * @param log receives messages of one line, such as why a JVM cannot be read
     */
    public JvmFleet(ExporterOptions options, ExporterStatus status, Consumer<String> log) throws ExporterException {
        this.options = options;
        this.status = status;
        this.log = log;
        service = new ServiceName(options.service());
        attacher = options.attach()
                ? Executors.newSingleThreadExecutor(task -> {
                    Thread thread = new Thread(task, "taskclock-names");
                    thread.setDaemon(true);
                    return thread;
                })
                : null;
        samplers = new PoolSamplers(attacher);
    }

    /** Finds JVMs that have started, and forgets those that ended some time ago. */
    public synchronized void refresh() {
        long now = System.nanoTime();
        List<JvmId> running = discovery.refresh();
        for (JvmId id : running) {
            MonitoredJvm known = jvms.get(id.pid());
            if (known == null) {
                open(id, now);
            } else if (!known.id.equals(id)) {
                // The id was reused. Both would have the same labels.
                remove(known);
                open(id, now);
            }
        }
        refused.values().removeIf(refusal -> !running.contains(refusal.id));
        removeEnded(now);
        updateStatus();
    }

    private void remove(MonitoredJvm jvm) {
        jvm.end();
        jvms.remove(jvm.id.pid());
        if (newlyEnded != null) newlyEnded.add(jvm);
    }

    private void open(JvmId id, long now) {
        Refusal refusal = refused.get(id.pid());
        if (refusal != null && refusal.id.equals(id) && now - refusal.retryAt < 0) return;
        if (!isSelected(id.pid())) return;
        try {
            JvmLabels labels = labels(id.pid());
            ended.removeIf(jvm -> jvm.labels.equals(labels));
            jvms.put(
                    id.pid(),
                    new MonitoredJvm(id, labels, samplers.open(id.pid(), discovery.isNewer(id)), options.maxPools()));
            refused.remove(id.pid());
            status.addJvm();
        } catch (MonitorException e) {
            if (e.reason() == MonitorException.Reason.GONE) discovery.forget(id.pid());
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

    private boolean isSelected(long pid) {
        if (options.match() == null) return true;
        String command = String.join(" ", JvmProcesses.command(pid));
        return command.toLowerCase(Locale.ROOT).contains(options.match().toLowerCase(Locale.ROOT));
    }

    private JvmLabels labels(long pid) {
        ContainerIdentity container = ContainerIdentity.of(pid);
        return new JvmLabels(pid, service.of(pid), container.id(), container.podUid());
    }

    private void removeEnded(long now) {
        for (Iterator<MonitoredJvm> all = jvms.values().iterator(); all.hasNext(); ) {
            MonitoredJvm jvm = all.next();
            if (!jvm.hasEnded()) continue;
            ended.add(jvm);
            if (newlyEnded != null) newlyEnded.add(jvm);
            discovery.forget(jvm.id.pid());
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
        status.unreadable = refused.size();
        status.withoutNames = withoutNames;
    }

    /** Reads the threads that run often. */
    synchronized void sample() {
        long start = System.nanoTime();
        for (MonitoredJvm jvm : jvms.values()) jvm.sample();
        removeEnded(start);
        samplers.restoreInterrupt();
        status.addSample(System.nanoTime() - start);
    }

    /**
     * Reads the threads that run often, like {@link #sample}, and returns what each JVM used since the previous call.
     * What {@link #read} has read in between is included, and counted by both. A JVM that has ended is in one more
     * result. To be called by one thread.
     */
    public synchronized List<JvmSample> sampleRecent() {
        long start = System.nanoTime();
        if (newlyEnded == null) newlyEnded = new ArrayList<>();
        recentSamples++;
        List<JvmSample> samples = new ArrayList<>();
        for (MonitoredJvm jvm : jvms.values())
            if (!jvm.hasEnded()) jvm.sampleRecent((recentSamples + jvm.id.pid()) % FULL_READINGS == 0);
        removeEnded(start);
        for (MonitoredJvm jvm : jvms.values()) samples.add(jvm.takeRecent());
        for (MonitoredJvm jvm : newlyEnded) samples.add(jvm.takeRecent());
        newlyEnded.clear();
        samplers.restoreInterrupt();
        status.addSample(System.nanoTime() - start);
        return samples;
    }

    /** Returns the CPU time of all processes since the machine started; unknown if it cannot be read. */
    public synchronized CpuTime machineTime() {
        return samplers.machineTime();
    }

    public int processors() {
        return samplers.processors();
    }

    /** Reads all threads of all JVMs. The result also has the JVMs that ended recently. */
    public synchronized List<JvmSnapshot> read() {
        long start = System.nanoTime();
        List<JvmSnapshot> snapshots = new ArrayList<>();
        for (MonitoredJvm jvm : jvms.values()) jvm.askAgent();
        for (MonitoredJvm jvm : jvms.values()) snapshots.add(jvm.read());
        for (MonitoredJvm jvm : ended) snapshots.add(jvm.read());
        // Nothing is counted before the names of the threads are known.
        snapshots.removeIf(snapshot -> snapshot.usage().pools().isEmpty());
        removeEnded(start);
        samplers.restoreInterrupt();
        status.addReading(System.nanoTime() - start);
        return snapshots;
    }

    @Override
    public synchronized void close() {
        if (attacher != null) attacher.shutdownNow();
        for (MonitoredJvm jvm : jvms.values()) jvm.close();
        samplers.close();
    }
}
