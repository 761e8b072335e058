// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The intervals of a running JVM. */
public final class LiveJvm implements IntervalSource {
    private final Sampler sampler;
    private final boolean attach;

    // As of the last call of jvms().
    private final Map<Long, Long> cpuNanosByPid = new HashMap<>();
    private long listedAt;

    private LiveJvm(Sampler sampler, boolean attach) throws MonitorException {
        this.sampler = sampler;
        this.attach = attach;
        sampler.next();
    }

    /**
     * Opens a JVM and starts the first interval. {@code attach} allows attaching to the JVM for names, stacks, and the
     * agent's report.
     */
    public static LiveJvm of(long pid, boolean attach) throws MonitorException {
        return new LiveJvm(attach ? Sampler.of(pid) : Sampler.withoutAttach(pid), attach);
    }

    @Override
    public Interval next() throws MonitorException {
        return sampler.next();
    }

    @Override
    public void watchJavaStatus(boolean on) {
        sampler.watchJavaStatus(on);
    }

    @Override
    public String stacks(ThreadUsage thread) {
        if (thread.tid() == 0) return thread.name() + ": a group has no stack";
        try {
            return sampler.stacks(thread.tid());
        } catch (IOException e) {
            return "No stack: " + e.getMessage();
        }
    }

    @Override
    public List<Jvm> jvms() {
        long now = System.nanoTime();
        List<Jvm> found = new ArrayList<>();
        for (JvmProcesses.Jvm jvm : JvmProcesses.all()) {
            Long before = cpuNanosByPid.put(jvm.pid(), jvm.cpuNanos());
            double percent = before == null ? 0 : 100.0 * (jvm.cpuNanos() - before) / Math.max(1, now - listedAt);
            found.add(new Jvm((int) jvm.pid(), jvm.name(), percent));
        }
        found.sort((a, b) -> Double.compare(b.cpuPercent(), a.cpuPercent()));
        listedAt = now;
        return found;
    }

    @Override
    public IntervalSource open(int pid) throws MonitorException {
        return of(pid, attach);
    }

    @Override
    public void close() {
        sampler.close();
    }
}
