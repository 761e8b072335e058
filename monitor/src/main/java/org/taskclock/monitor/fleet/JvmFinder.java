// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.taskclock.metrics.Cgroup;
import org.taskclock.monitor.fleet.JvmDiscovery.JvmId;
import org.taskclock.monitor.proc.ContainerIdentity;
import org.taskclock.monitor.proc.JdkVersion;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.TargetText;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * Finds JVMs, their labels, and their versions. The kernel reads the command line and the environment from the memory
 * of a process, which may be a file that never answers. Each process is therefore asked on a thread of its own.
 *
 * <p>Confined to one thread, except for {@link #forget}.
 */
final class JvmFinder implements AutoCloseable {
    /** How long a search waits for the labels of new JVMs. JVMs that take longer appear in a later search. */
    private static final long PATIENCE_NANOS = 200_000_000;

    /** A JVM that takes longer is reported. */
    private static final long SILENT_NANOS = 5_000_000_000L;

    private static final int MAX_THREADS = 256;

    /** What is read of a new JVM before it is measured. */
    record Found(JvmLabels labels, int feature, Cgroup cgroup) {}

    private static final class Request {
        final Future<Optional<Found>> found;
        final long since = System.nanoTime();
        boolean isReported;

        Request(Future<Optional<Found>> found) {
            this.found = found;
        }

        boolean isSilent() {
            return !found.isDone() && System.nanoTime() - since > SILENT_NANOS;
        }
    }

    private final ServiceName service;
    private final String match;
    private final Consumer<String> log;
    private final JvmDiscovery discovery = new JvmDiscovery();
    private final Map<JvmId, Request> requests = new HashMap<>();
    private final Queue<Long> forgotten = new ConcurrentLinkedQueue<>();
    private final ThreadPoolExecutor workers = new ThreadPoolExecutor(
            0,
            MAX_THREADS,
            10,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> new DaemonThread(task, "taskclock-labels"));

    JvmFinder(FleetOptions options, Consumer<String> log) {
        service = new ServiceName(options.service());
        match = options.match() == null ? null : options.match().toLowerCase(Locale.ROOT);
        this.log = log;
    }

    /** Returns the JVMs that are running. */
    List<JvmId> refresh() {
        for (Long pid = forgotten.poll(); pid != null; pid = forgotten.poll()) discovery.forget(pid);
        List<JvmId> running = discovery.refresh();
        requests.keySet().retainAll(new HashSet<>(running));
        return running;
    }

    /** Forgets a JVM that has exited, because its id may already be reused. Thread-safe. */
    void forget(long pid) {
        forgotten.add(pid);
    }

    boolean isNewer(JvmId jvm) {
        return discovery.isNewer(jvm);
    }

    /** Returns what was read of new JVMs, apart from those that are not selected or have not answered yet. */
    Map<JvmId, Found> read(List<JvmId> jvms) {
        for (JvmId jvm : jvms) ask(jvm);
        long end = System.nanoTime() + PATIENCE_NANOS;
        Map<JvmId, Found> answers = new HashMap<>();
        for (JvmId jvm : jvms) {
            Request request = requests.get(jvm);
            if (request == null) continue;
            try {
                Optional<Found> answer = request.found.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                requests.remove(jvm);
                answer.ifPresent(found -> answers.put(jvm, found));
            } catch (TimeoutException e) {
                reportIfSilent(jvm, request);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return answers;
            } catch (ExecutionException e) {
                requests.remove(jvm);
                if (e.getCause() instanceof Error error) throw error;
                log.accept("process " + jvm.pid() + " cannot be read: " + e.getCause());
            }
        }
        return answers;
    }

    private void ask(JvmId jvm) {
        if (requests.containsKey(jvm)) return;
        try {
            requests.put(jvm, new Request(workers.submit(() -> read(jvm.pid()))));
        } catch (RejectedExecutionException e) {
            return; // the next search tries again
        }
    }

    private Optional<Found> read(long pid) {
        List<String> command = JvmProcesses.command(pid);
        if (match != null && !String.join(" ", command).toLowerCase(Locale.ROOT).contains(match))
            return Optional.empty();
        OtelService configured = OtelService.of(command, name -> JvmProcesses.environmentVariable(pid, name));
        String jdkVersion = JdkVersion.of(pid);
        ContainerIdentity container = ContainerIdentity.of(pid);
        JvmLabels labels = new JvmLabels(
                pid,
                service.of(pid, command, configured.name()),
                TargetText.sanitize(configured.version()),
                jdkVersion == null ? "" : TargetText.sanitize(jdkVersion),
                TargetText.sanitize(container.id()),
                TargetText.sanitize(container.podUid()));
        return Optional.of(new Found(labels, JvmProcesses.featureOf(pid), Cgroup.of(pid)));
    }

    private void reportIfSilent(JvmId jvm, Request request) {
        if (request.isReported || !request.isSilent()) return;
        request.isReported = true;
        log.accept("process " + jvm.pid() + " is not exported: reading its command line takes too long");
    }

    /** Returns the number of JVMs that do not respond. */
    int silent() {
        return (int) new ArrayList<>(requests.values())
                .stream().filter(Request::isSilent).count();
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }
}
