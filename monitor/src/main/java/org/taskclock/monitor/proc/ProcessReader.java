// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.proc;

import java.io.File;
import org.taskclock.CpuTime;
import org.taskclock.ProcStat;
import org.taskclock.ProcessClock;
import org.taskclock.metrics.Cgroup;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.monitor.usage.ProcessUsage;

/** Reads everything about a JVM except its threads: its process, its control group, and the machine. */
public final class ProcessReader implements AutoCloseable {
    /** A reading. The units are those of {@link ProcessUsage}; the values are totals, not those of an interval. */
    public record Reading(
            long nanos, long process, long processUser, ContainerUsage container, CpuTime machine, long own) {}

    private final long pid;
    private final byte[] text;
    private final File tasks;
    private final ProcFile stat;
    private final HostCpu machine;
    private final Cgroup cgroup;
    private final ProcessClock clock;
    private final ProcessClock own = ProcessClock.current();

    public ProcessReader(long pid, ProcFile.Budget budget, byte[] text) {
        this.pid = pid;
        this.text = text;
        tasks = new File("/proc/" + pid + "/task");
        stat = new ProcFile("/proc/" + pid + "/stat", budget);
        machine = new HostCpu(budget);
        cgroup = Cgroup.of(pid);
        clock = ProcessClock.of(pid);
    }

    /** Takes a reading. {@code nanos} is the System.nanoTime at which it starts. */
    public Reading read(long nanos) throws MonitorException {
        CpuTime time = clock.now();
        if (!time.isKnown()) {
            ProcStat now = readStat();
            if (now == null) throw exited();
            time = new CpuTime(now.userNanos() + now.systemNanos(), now.userNanos(), now.systemNanos());
        }
        return new Reading(nanos, time.cpuNanos(), time.userNanos(), cgroup.known(), machine.now(), own.cpuNanos());
    }

    /** Returns the CPU time of the process. */
    public long cpuNanos() throws MonitorException {
        long now = clock.cpuNanos();
        if (now >= 0) return now;
        ProcStat read = readStat();
        if (read == null) throw exited();
        return read.userNanos() + read.systemNanos();
    }

    /** Returns the state of the main thread, as in /proc; ? if unknown. */
    public char state() throws MonitorException {
        ProcStat now = readStat();
        char state = now == null ? '?' : now.state();
        if (state != 'Z' && state != 'X') return state;
        // The state is the same if only the main thread has ended and others are still running.
        long[] tids = tids();
        if (tids != null && tids.length <= 1) throw exited();
        return state;
    }

    /** Returns null if the file cannot be opened, because this process has too many open files. */
    private ProcStat readStat() throws MonitorException {
        int length = stat.read(text);
        if (stat.hasEnded()) throw exited();
        return length <= 0 ? null : ProcStat.parse(text, length);
    }

    /** Returns the ids of all threads; null if they cannot be listed, because this process has too many open files. */
    public long[] tids() throws MonitorException {
        String[] found = tasks.list();
        if (found == null && tasks.isDirectory()) return null;
        if (found == null || found.length == 0) throw exited();
        long[] tids = new long[found.length];
        for (int i = 0; i < tids.length; i++) tids[i] = Long.parseLong(found[i]);
        return tids;
    }

    private MonitorException exited() {
        return new MonitorException(MonitorException.Reason.GONE, "process " + pid + " has exited");
    }

    public int processors() {
        return machine.processors();
    }

    /** Returns the CPU limit of the control group, in processors; 0 if there is none. */
    public double cpuLimit() {
        return cgroup.cpuLimit();
    }

    @Override
    public void close() {
        stat.close();
        machine.close();
    }
}
