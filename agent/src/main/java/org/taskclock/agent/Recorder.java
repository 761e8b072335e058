// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.HashMap;
import java.util.Map;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import jdk.jfr.SettingDefinition;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;

/**
 * Events for Flight Recorder. Off unless a recording enables them by name, as one event a second for each active thread would
 * push everything else out of a continuous recording. Nothing is done until the recorder is used.
 */
final class Recorder implements FlightRecorderListener {
    /** One thread, one period. */
    @Name("org.taskclock.ThreadCpu")
    @Label("Thread CPU Time")
    @Description("CPU time of a thread in one period, exact; threads that used none are left out")
    @Category("TaskClock")
    @Enabled(false)
    @Period("1 s")
    @StackTrace(false)
    static final class ThreadCpu extends Event {
        @Label("Thread Name")
        String threadName;

        @Label("Java Thread Id")
        @Description("-1 for a thread of the JVM's own")
        long javaThreadId;

        @Label("OS Thread Id")
        int osThreadId;

        @Label("CPU Time")
        @Description("User and system together")
        @Timespan
        long cpuTime;

        @Label("User Time")
        @Timespan
        long userTime;

        @Label("System Time")
        @Timespan
        long systemTime;

        @Label("Total CPU Time")
        @Description("Since the thread started")
        @Timespan
        long totalCpuTime;
    }

    /** One place that yields, one period. */
    @Name("org.taskclock.YieldSite")
    @Label("Yield Site")
    @Description("A place that calls Thread.yield, while the agent counts yields; from a sample of the yields")
    @Category("TaskClock")
    @Enabled(false)
    @Period("1 s")
    @StackTrace(false)
    static final class YieldSite extends Event {
        @Label("Site")
        @Description("Class, method and line that called Thread.yield")
        String site;

        @Label("Callers")
        @Description("The frames outwards from the site")
        String callers;

        @Label("Yields")
        @Description("How many came from here in one period")
        long yields;
    }

    /** One virtual thread, at its end. */
    @Name("org.taskclock.VirtualThreadCpu")
    @Label("Virtual Thread CPU Time")
    @Description("CPU time that a virtual thread used on all its carriers, when it ends")
    @Category("TaskClock")
    @Enabled(false)
    @StackTrace(false)
    static final class VirtualThreadCpu extends Event {
        @Label("Thread Name")
        String threadName;

        @Label("Java Thread Id")
        long javaThreadId;

        @Label("CPU Time")
        @Description("User and system together")
        @Timespan
        long cpuTime;

        @Label("User Time")
        @Timespan
        long userTime;

        @Label("System Time")
        @Timespan
        long systemTime;

        @Name("cpuThreshold")
        @Label("CPU Threshold")
        @Description("Virtual threads that used less are left out")
        @SettingDefinition
        boolean isWanted(CpuThreshold threshold) {
            return threshold.isReached(cpuTime);
        }
    }

    private final Yields yields;
    private final VirtualAccounts accounts;
    /** What the recorder calls; null until it is used. */
    private Runnable threadCpu;

    private Runnable yieldSites;
    // As of the last period; null before the first one of a recording, so that it covers no more than its period.
    private Map<Integer, ThreadTable.Row> lastRows;
    private Map<String, Long> lastYields;

    private final Hooks hooks;

    Recorder(Hooks hooks, Yields yields, VirtualAccounts accounts) {
        this.hooks = hooks;
        this.yields = yields;
        this.accounts = accounts;
    }

    void install() {
        FlightRecorder.addListener(this);
    }

    void remove() {
        FlightRecorder.removeListener(this);
        if (threadCpu == null) return;
        FlightRecorder.removePeriodicEvent(threadCpu);
        FlightRecorder.removePeriodicEvent(yieldSites);
        FlightRecorder.unregister(ThreadCpu.class);
        FlightRecorder.unregister(YieldSite.class);
        accounts.listen(null);
        FlightRecorder.unregister(VirtualThreadCpu.class);
    }

    /** Called once it is used, or at once if it already is. */
    @Override
    public void recorderInitialized(FlightRecorder recorder) {
        FlightRecorder.register(ThreadCpu.class);
        FlightRecorder.register(YieldSite.class);
        FlightRecorder.register(VirtualThreadCpu.class);
        accounts.listen(this::virtualThreadCpu);
        threadCpu = this::threadCpu;
        yieldSites = this::yieldSites;
        FlightRecorder.addPeriodicEvent(ThreadCpu.class, threadCpu);
        FlightRecorder.addPeriodicEvent(YieldSite.class, yieldSites);
    }

    /** The first period begins with a recording; once none runs, the next one begins anew. */
    @Override
    public synchronized void recordingStateChanged(Recording changed) {
        if (changed.getState() == RecordingState.RUNNING) {
            if (lastRows == null && EventType.getEventType(ThreadCpu.class).isEnabled()) threadCpu();
            if (lastYields == null && EventType.getEventType(YieldSite.class).isEnabled()) yieldSites();
            return;
        }
        for (Recording recording : FlightRecorder.getFlightRecorder().getRecordings()) {
            if (recording.getState() == RecordingState.RUNNING) return;
        }
        lastRows = null;
        lastYields = null;
    }

    private synchronized void threadCpu() {
        Map<Integer, ThreadTable.Row> rows = new HashMap<>();
        boolean isFirst = lastRows == null;
        ThreadTable.Row[] all = ThreadTable.read(hooks);
        if (all == null) return; // the next period covers this one too
        for (ThreadTable.Row row : all) {
            rows.put(row.getTid(), row);
            if (isFirst) continue;
            ThreadTable.Row last = lastRows.get(row.getTid());
            // The kernel reuses thread ids.
            if (last != null && (last.getId() != row.getId() || last.getCpuNanos() > row.getCpuNanos())) last = null;
            long cpu = row.getCpuNanos() - (last == null ? 0 : last.getCpuNanos());
            if (cpu == 0) continue;
            ThreadCpu event = new ThreadCpu();
            event.threadName = row.getName();
            event.javaThreadId = row.getId();
            event.osThreadId = row.getTid();
            event.cpuTime = cpu;
            event.userTime = row.getUserNanos() - (last == null ? 0 : last.getUserNanos());
            event.systemTime = row.getSystemNanos() - (last == null ? 0 : last.getSystemNanos());
            event.totalCpuTime = row.getCpuNanos();
            event.commit();
        }
        lastRows = rows;
    }

    private void virtualThreadCpu(Thread thread, long cpuNanos, long userNanos) {
        VirtualThreadCpu event = new VirtualThreadCpu();
        if (!event.isEnabled()) return;
        event.threadName = thread.getName();
        event.javaThreadId = hooks.threadId(thread);
        event.cpuTime = cpuNanos;
        event.userTime = userNanos;
        event.systemTime = cpuNanos - userNanos;
        event.commit();
    }

    private synchronized void yieldSites() {
        Map<String, Long> now = new HashMap<>();
        boolean isFirst = lastYields == null;
        for (YieldCounts.Site site : yields.counts().sites()) {
            String callers = site.callers();
            if (isFirst) {
                now.put(callers, site.yields());
                continue;
            }
            long since = site.yields() - lastYields.getOrDefault(callers, 0L);
            now.put(callers, site.yields());
            if (since == 0) continue;
            YieldSite event = new YieldSite();
            event.site = site.name();
            event.callers = callers;
            event.yields = since;
            event.commit();
        }
        lastYields = now;
    }
}
