// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.io.IOException;
import java.util.List;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.sampling.Sampler;
import org.taskclock.monitor.usage.ThreadUsage;

/** The intervals of a running JVM. */
public final class LiveJvm implements IntervalSource {
    private final Sampler sampler;
    private final boolean attach;
    private final JvmLoads loads = new JvmLoads();

    private LiveJvm(Sampler sampler, boolean attach) throws MonitorException {
        this.sampler = sampler;
        this.attach = attach;
        try {
            sampler.next();
        } catch (MonitorException e) {
            sampler.close();
            throw e;
        }
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

    /** Returns a thread dump of the interval, as {@link Sampler#dumpIfCheap} does. */
    public ThreadDump dumpIfCheap(Interval interval) {
        return sampler.dumpIfCheap(interval.intervalNanos());
    }

    @Override
    public void watchJavaStatus(boolean on) {
        sampler.watchJavaStatus(on);
    }

    @Override
    public List<AgentReport.Section> openSections() {
        return sampler.openSections();
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
    public void checkProfile() throws IOException {
        if (!attach) throw new IOException("attaching is switched off (--no-attach)");
    }

    @Override
    public List<Jvm> jvms() {
        return loads.update(JvmProcesses.all());
    }

    @Override
    public IntervalSource open(int pid) throws MonitorException {
        return of(pid, attach);
    }

    @Override
    public boolean canLoadAgent() {
        return sampler.canAttach();
    }

    @Override
    public void agentLoaded() {
        sampler.agentLoaded();
    }

    @Override
    public void close() {
        sampler.close();
    }
}
