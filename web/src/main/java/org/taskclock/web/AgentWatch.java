// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import java.io.IOException;
import java.time.Clock;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.taskclock.history.JvmKey;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.usage.DaemonThread;
import org.taskclock.web.http.InternalErrors;

/** Checks periodically whether the agent is loaded in each JVM, because other tools may attach and detach it. */
final class AgentWatch implements AutoCloseable {
    private static final long PAUSE_MILLIS = 60_000;

    /** For JVMs that have not loaded the library, as only their memory map is read. */
    private static final long SHORT_PAUSE_MILLIS = 15_000;

    /** The pause between two JVMs, so that checking many JVMs does not cause a burst of CPU usage. */
    private static final long PAUSE_BETWEEN_MILLIS = 50;

    private final boolean attach;
    private final Overview overview;
    private final HistoryStore history;
    private final Clock clock;
    private final Consumer<String> log;
    private final DaemonThread thread = new DaemonThread(this::run, "taskclock-agents");

    AgentWatch(boolean attach, Overview overview, HistoryStore history, Clock clock, Consumer<String> log) {
        this.attach = attach;
        this.overview = overview;
        this.history = history;
        this.clock = clock;
        this.log = log;
    }

    void start() {
        thread.start();
    }

    private void run() {
        Set<String> looked = new HashSet<>();
        Map<String, Long> dueAt = new HashMap<>();
        try {
            while (true) {
                try {
                    look(looked, dueAt);
                } catch (RuntimeException | Error e) {
                    log.accept("agents: " + InternalErrors.describe(e));
                    Thread.sleep(PAUSE_MILLIS);
                }
                Thread.sleep(1_000);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void look(Set<String> looked, Map<String, Long> dueAt) throws InterruptedException {
        Map<JvmKey, Boolean> jvms = overview.agents();
        for (Map.Entry<JvmKey, Boolean> jvm : jvms.entrySet()) {
            String id = jvm.getKey().id();
            long now = System.nanoTime();
            if (dueAt.containsKey(id) && now - dueAt.get(id) < 0) continue;
            Thread.sleep(PAUSE_BETWEEN_MILLIS);
            boolean isShort = attach && !look(jvm.getKey(), jvm.getValue(), looked.add(id));
            dueAt.put(id, now + TimeUnit.MILLISECONDS.toNanos(isShort ? SHORT_PAUSE_MILLIS : PAUSE_MILLIS));
        }
        Set<String> running = new HashSet<>();
        for (JvmKey key : jvms.keySet()) running.add(key.id());
        looked.retainAll(running);
        dueAt.keySet().retainAll(running);
    }

    /** Returns whether the JVM has loaded the library, or cannot be asked. */
    private boolean look(JvmKey jvm, boolean hadAgent, boolean isFirst) {
        boolean hasLibrary;
        boolean hasAgent;
        try {
            hasLibrary = JvmProcesses.hasLibtaskclock(jvm.pid());
            hasAgent = hasLibrary && TargetJvm.of(jvm.pid()).yieldMode() != null;
        } catch (IOException e) {
            return true; // it has exited, or access is denied
        }
        if (hasAgent == hadAgent) return hasLibrary;
        overview.setAgent(jvm.id(), hasAgent);
        if (!isFirst)
            history.add(new Mark(
                    clock.instant(),
                    jvm.id(),
                    hasAgent ? "attach" : "detach",
                    "agent " + (hasAgent ? "attached to " : "detached from ") + jvm.service()));
        return hasLibrary;
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
