// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * The names of the pods of this node. They are requested only when a JVM is in a container that is not known yet, so
 * that thousands of nodes do not keep the API server busy. Thread-safe.
 */
final class PodNames implements AutoCloseable {
    /** Between two requests. After failures, the pause doubles, up to the maximum. */
    private static final long PAUSE_MILLIS = 10_000;

    private static final long MAX_PAUSE_MILLIS = 300_000;

    /** How often to look for a container that is not in the list, because it may have just started. */
    private static final int MAX_MISSES = 6;

    /** More containers that no list has are forgotten. */
    private static final int MAX_UNKNOWN = 10_000;

    private static final long CLOSE_MILLIS = 500;

    private final KubernetesApi api;
    private final Consumer<String> log;
    private final long pauseMillis;
    private final Semaphore wanted = new Semaphore(0);
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-pods");

    /** The containers that were not known when they were asked for, and in how many lists they have been missing. */
    private final Map<String, Integer> misses = new HashMap<>();

    private final Set<String> missing = new HashSet<>();

    private Map<String, Workload> names = Map.of();

    /** Containers that have ended are shown for a while. */
    private Map<String, Workload> previous = Map.of();

    /** Starts a thread. */
    PodNames(KubernetesApi api, Consumer<String> log) {
        this(api, log, PAUSE_MILLIS);
    }

    PodNames(KubernetesApi api, Consumer<String> log, long pauseMillis) {
        this.api = api;
        this.log = log;
        this.pauseMillis = pauseMillis;
        thread.start();
    }

    /** Returns what is known of a container now. If nothing is, its names may be there in a few seconds. */
    synchronized Workload of(String containerId, String podUid) {
        if (podUid.isEmpty()) return Workload.UNKNOWN;
        String id = containerId.isEmpty() ? podUid : containerId;
        Workload found = find(id);
        if (found != null) return found;
        if (misses.getOrDefault(id, 0) < MAX_MISSES && missing.add(id)) wanted.release();
        found = find(podUid); // the pod may be known before its container
        return found == null ? Workload.UNKNOWN : found;
    }

    private Workload find(String id) {
        return names.getOrDefault(id, previous.get(id));
    }

    private void run() {
        int failures = 0;
        try {
            while (true) {
                wanted.acquire();
                wanted.drainPermits();
                failures = refresh(failures) ? 0 : failures + 1;
                long pause = Math.min(MAX_PAUSE_MILLIS, pauseMillis << Math.min(failures, Long.SIZE / 2));
                // So that not all nodes ask at the same time after an outage.
                Thread.sleep(pause + ThreadLocalRandom.current().nextLong(pause / 4 + 1));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    /** Returns whether the names could be read. */
    private boolean refresh(int failures) throws InterruptedException {
        String problem;
        try {
            Map<String, Workload> current = api.names();
            update(current);
            if (failures > 0) log.accept("Kubernetes: the names of pods can be read again");
            return true;
        } catch (IOException | RuntimeException e) {
            problem = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
        }
        forgetMissing();
        if (failures == 0)
            log.accept("Kubernetes: the names of pods cannot be read, so JVMs are shown with the ids: " + problem);
        return false;
    }

    private synchronized void update(Map<String, Workload> current) {
        previous = names;
        names = current;
        if (misses.size() > MAX_UNKNOWN) misses.clear();
        for (String id : missing) if (!current.containsKey(id)) misses.merge(id, 1, Integer::sum);
        missing.clear();
    }

    /** So that they are asked for again. */
    private synchronized void forgetMissing() {
        missing.clear();
    }

    @Override
    public void close() {
        thread.end(CLOSE_MILLIS);
    }
}
