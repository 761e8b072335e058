// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.util.HashMap;
import java.util.List;
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
import org.taskclock.AccountEvents;
import org.taskclock.AccountReading;
import org.taskclock.AccountUsage;
import org.taskclock.CpuAccounts;
import org.taskclock.internal.CpuThresholdSetting;

/**
 * The agent's Flight Recorder events. A recording must enable them by name, because one event a second for each active
 * thread would push everything else out of a continuous recording. They are registered when the recorder is first used.
 */
final class FlightRecorderEvents implements FlightRecorderListener {
    /** The part that the events with CPU times have in common. */
    abstract static class CpuTimes extends Event {
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

        final void setTimes(long cpuNanos, long userNanos) {
            cpuTime = cpuNanos;
            userTime = userNanos;
            systemTime = cpuNanos - userNanos;
        }
    }

    /** The CPU time of one thread in one period. */
    @Name("org.taskclock.ThreadCpu")
    @Label("Thread CPU Time")
    @Description("Exact CPU time of a thread in one period; threads that used none are omitted")
    @Category("TaskClock")
    @Enabled(false)
    @Period("1 s")
    @StackTrace(false)
    static final class ThreadCpu extends CpuTimes {
        @Label("Thread Name")
        String threadName;

        @Label("Java Thread Id")
        @Description("-1 for threads of the JVM itself")
        long javaThreadId;

        @Label("OS Thread Id")
        int osThreadId;

        @Label("Total CPU Time")
        @Description("Since the thread started")
        @Timespan
        long totalCpuTime;
    }

    /** The CPU time of one named account in one period. */
    @Name("org.taskclock.AccountCpu")
    @Label("Account CPU Time")
    @Description("CPU time of a named account in one period; accounts that used none are omitted")
    @Category("TaskClock")
    @Enabled(false)
    @Period("1 s")
    @StackTrace(false)
    static final class AccountCpu extends CpuTimes {
        @Label("Account Type")
        String accountType;

        @Label("Account Name")
        String accountName;
    }

    /** The yields at one call site of Thread.yield in one period. */
    @Name("org.taskclock.YieldSite")
    @Label("Yield Site")
    @Description("Yields by call site, extrapolated from samples, while the agent counts yields")
    @Category("TaskClock")
    @Enabled(false)
    @Period("1 s")
    @StackTrace(false)
    static final class YieldSite extends Event {
        @Label("Site")
        @Description("Class, method, and line that called Thread.yield")
        String site;

        @Label("Callers")
        @Description("Stack, starting at the call site")
        String callers;

        @Label("Yields")
        @Description("Yields at this site in one period")
        long yields;
    }

    /** The CPU time of one virtual thread that ended. */
    @Name("org.taskclock.VirtualThreadCpu")
    @Label("Virtual Thread CPU Time")
    @Description("CPU time of a virtual thread on all its carriers while it was accounted for, recorded when it ends")
    @Category("TaskClock")
    @Enabled(false)
    @StackTrace(false)
    static final class VirtualThreadCpu extends CpuTimes {
        @Label("Thread Name")
        String threadName;

        @Label("Java Thread Id")
        long javaThreadId;

        @Label("Partial")
        @Description("Whether the thread also ran while it was not accounted for")
        boolean partial;

        @Name("cpuThreshold")
        @Label("CPU Threshold")
        @Description("Omit virtual threads that used less CPU time")
        @SettingDefinition
        boolean exceeds(CpuThresholdSetting.OfThread threshold) {
            return threshold.isReached(cpuTime);
        }
    }

    private final TaskClockHooks hooks;
    private final YieldControl yields;
    private final VirtualAccounts accounts;

    // Called by the recorder once per period. Null until the recorder is used.
    private Runnable threadCpuTask;
    private Runnable yieldSiteTask;
    private Runnable accountCpuTask;

    /** Events about sections. Null unless installed. */
    private AccountEvents sections;

    // Values at the end of the last period. Null while nothing is recorded, so that the first period does not begin
    // before the recording.
    private Map<Integer, ThreadTable.Row> lastRows;
    private Map<String, Long> lastYields;
    /** By type and name. */
    private Map<List<String>, AccountUsage> lastAccounts;

    FlightRecorderEvents(TaskClockHooks hooks, YieldControl yields, VirtualAccounts accounts) {
        this.hooks = hooks;
        this.yields = yields;
        this.accounts = accounts;
    }

    void install() {
        FlightRecorder.addListener(this);
        sections = AccountEvents.start();
    }

    void remove() {
        FlightRecorder.removeListener(this);
        sections.close();
        if (threadCpuTask == null) return;
        FlightRecorder.removePeriodicEvent(threadCpuTask);
        FlightRecorder.removePeriodicEvent(yieldSiteTask);
        FlightRecorder.removePeriodicEvent(accountCpuTask);
        FlightRecorder.unregister(ThreadCpu.class);
        FlightRecorder.unregister(YieldSite.class);
        FlightRecorder.unregister(AccountCpu.class);
        accounts.setEndListener(null);
        FlightRecorder.unregister(VirtualThreadCpu.class);
    }

    /** Called when the recorder is first used, or at once if it is already in use. */
    @Override
    public void recorderInitialized(FlightRecorder recorder) {
        FlightRecorder.register(ThreadCpu.class);
        FlightRecorder.register(YieldSite.class);
        FlightRecorder.register(AccountCpu.class);
        FlightRecorder.register(VirtualThreadCpu.class);
        accounts.setEndListener(this::commitVirtualThreadCpu);
        threadCpuTask = this::commitThreadCpu;
        yieldSiteTask = this::commitYieldSites;
        accountCpuTask = this::commitAccountCpu;
        FlightRecorder.addPeriodicEvent(ThreadCpu.class, threadCpuTask);
        FlightRecorder.addPeriodicEvent(YieldSite.class, yieldSiteTask);
        FlightRecorder.addPeriodicEvent(AccountCpu.class, accountCpuTask);
    }

    /** Begins the first period with the first recording, and discards the last values after the last recording. */
    @Override
    public synchronized void recordingStateChanged(Recording changed) {
        if (changed.getState() == RecordingState.RUNNING) {
            if (lastRows == null && EventType.getEventType(ThreadCpu.class).isEnabled()) commitThreadCpu();
            if (lastYields == null && EventType.getEventType(YieldSite.class).isEnabled()) commitYieldSites();
            if (lastAccounts == null && EventType.getEventType(AccountCpu.class).isEnabled()) commitAccountCpu();
            return;
        }
        for (Recording recording : FlightRecorder.getFlightRecorder().getRecordings()) {
            if (recording.getState() == RecordingState.RUNNING) return;
        }
        lastRows = null;
        lastYields = null;
        lastAccounts = null;
    }

    private synchronized void commitThreadCpu() {
        Map<Integer, ThreadTable.Row> rows = new HashMap<>();
        boolean isFirst = lastRows == null;
        ThreadTable.Row[] all = ThreadTable.read(hooks);
        if (all == null) return; // the next period covers this one, too
        for (ThreadTable.Row row : all) {
            if (row.getCpuNanos() < 0) continue; // it ended during the reading
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
            event.setTimes(cpu, row.getUserNanos() - (last == null ? 0 : last.getUserNanos()));
            event.totalCpuTime = row.getCpuNanos();
            event.commit();
        }
        lastRows = rows;
    }

    private void commitVirtualThreadCpu(Thread thread, long cpuNanos, long userNanos, boolean isPartial) {
        VirtualThreadCpu event = new VirtualThreadCpu();
        if (!event.isEnabled()) return;
        event.threadName = thread.getName();
        event.javaThreadId = hooks.threadId(thread);
        event.partial = isPartial;
        event.setTimes(cpuNanos, userNanos);
        event.commit();
    }

    private synchronized void commitYieldSites() {
        Map<String, Long> now = new HashMap<>();
        boolean isFirst = lastYields == null;
        for (YieldCounts.Site site : yields.counts().sites()) {
            String callers = String.join("\n", site.getStack());
            if (isFirst) {
                now.put(callers, site.getYields());
                continue;
            }
            long since = site.getYields() - lastYields.getOrDefault(callers, 0L);
            now.put(callers, site.getYields());
            if (since == 0) continue;
            YieldSite event = new YieldSite();
            event.site = site.getSite();
            event.callers = callers;
            event.yields = since;
            event.commit();
        }
        lastYields = now;
    }

    private synchronized void commitAccountCpu() {
        boolean isFirst = lastAccounts == null;
        // Accounts that have no row now may get it back.
        if (isFirst) lastAccounts = new HashMap<>();
        for (AccountReading reading : CpuAccounts.read()) {
            for (AccountUsage account : reading.rows()) {
                AccountUsage last = lastAccounts.put(List.of(account.type(), account.name()), account);
                if (last == null) last = account.baseline();
                long cpu = account.cpuNanos() - last.cpuNanos();
                if (isFirst || cpu == 0) continue;
                AccountCpu event = new AccountCpu();
                event.accountType = account.type();
                event.accountName = account.name();
                event.setTimes(cpu, account.userNanos() - last.userNanos());
                event.commit();
            }
        }
    }
}
