// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.taskclock.ProcessClock;
import org.taskclock.monitor.attach.AttachClient;
import org.taskclock.monitor.proc.ContainerId;
import org.taskclock.monitor.proc.JdkVersion;
import org.taskclock.monitor.proc.JvmProcesses;

/**
 * A running JVM as {@code taskclock list} shows it. Null means unknown, for example because the JVM belongs to another
 * user.
 *
 * @param container the first 12 digits of the container's id, or the name of an LXC container; null if there is none
 * @param jdk the version of the JDK
 * @param cpuPercent CPU usage during the sample, in percent of one core
 * @param threads number of kernel threads
 * @param agent whether TaskClock's agent is in the JVM
 */
public record JvmSummary(
        long pid,
        String name,
        String user,
        String container,
        String jdk,
        Double cpuPercent,
        Integer threads,
        AgentState agent) {
    /** Whether TaskClock's agent is in a JVM. */
    public enum AgentState {
        /** The agent is not loaded. */
        NONE,
        /** The agent is loaded and active. */
        ACTIVE,
        /** The agent is loaded, but was detached. */
        DETACHED
    }

    /** The system property in which the agent publishes its state. */
    private static final String STATE_PROPERTY = "taskclock.agent";

    private static final long ATTACH_TIMEOUT_MILLIS = 1_000;

    /**
     * Returns all JVMs of this machine that are visible, except this one, busiest first.
     *
     * @param sampleMillis how long to measure CPU usage
     * @param attach whether to ask JVMs that have loaded TaskClock's library for the state of the agent; no other JVM
     *     is asked
     */
    public static List<JvmSummary> all(long sampleMillis, boolean attach) throws InterruptedException {
        List<JvmProcesses.Jvm> jvms = JvmProcesses.all();
        long start = System.nanoTime();
        long[] before = jvms.stream().mapToLong(JvmSummary::cpuNanos).toArray();
        Thread.sleep(sampleMillis);
        long[] after = jvms.stream().mapToLong(JvmSummary::cpuNanos).toArray();
        double sampleNanos = System.nanoTime() - start;
        List<JvmSummary> summaries = new ArrayList<>();
        for (int i = 0; i < before.length; i++) {
            Integer threads = threads(jvms.get(i).pid());
            if (threads == null) continue; // it has exited
            Double percent = before[i] < 0 || after[i] < 0 ? null : 100 * (after[i] - before[i]) / sampleNanos;
            summaries.add(of(jvms.get(i), percent, threads, attach));
        }
        summaries.sort(
                Comparator.comparing(JvmSummary::cpuPercent, Comparator.nullsLast(Comparator.<Double>reverseOrder()))
                        .thenComparing(JvmSummary::pid));
        return summaries;
    }

    private static JvmSummary of(JvmProcesses.Jvm jvm, Double percent, Integer threads, boolean attach) {
        long pid = jvm.pid();
        return new JvmSummary(
                pid,
                jvm.name(),
                jvm.user().equals("?") ? null : jvm.user(),
                ContainerId.of(pid),
                JdkVersion.of(pid),
                percent,
                threads,
                agent(pid, attach));
    }

    private static long cpuNanos(JvmProcesses.Jvm jvm) {
        return ProcessClock.of(jvm.pid()).cpuNanos();
    }

    /** Returns the number of threads; null if the process has exited. */
    private static Integer threads(long pid) {
        String[] tasks = Path.of("/proc/" + pid + "/task").toFile().list();
        return tasks == null ? null : tasks.length;
    }

    private static AgentState agent(long pid, boolean attach) {
        try {
            if (!JvmProcesses.hasLibtaskclock(pid)) return AgentState.NONE;
            if (!attach) return null;
            String state = AttachClient.of(pid).property(ATTACH_TIMEOUT_MILLIS, "properties", STATE_PROPERTY);
            if (state == null || state.startsWith("failed: ")) return AgentState.NONE;
            return state.endsWith("detached") ? AgentState.DETACHED : AgentState.ACTIVE;
        } catch (IOException e) {
            return null;
        }
    }
}
