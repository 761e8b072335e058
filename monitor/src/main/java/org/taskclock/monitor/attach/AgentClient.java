// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.taskclock.ProcessClock;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Reads the report of TaskClock's agent, if the agent is loaded: the CPU time of virtual threads, and yields. The agent
 * generates the report when a tool has created the request file and asks for the agent properties.
 */
public final class AgentClient {
    private static final long TIMEOUT_MILLIS = 2_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    /** The pause before the next attempt if there is no agent. */
    private static final long RETRY_NANOS = 15 * NANOS_PER_SECOND;
    /** The pause between two reports, as a multiple of the CPU time that a report takes. */
    private static final int PAUSE_FACTOR = 100;

    private static final int MAX_SITES = 3;
    private static final String SCHEDULING = "(scheduling of virtual threads)";

    /** Cumulative figures for a group of virtual threads, or for the carriers' scheduling. */
    private record Counters(long live, long cpuNanos, long userNanos) {}

    private final int pid;
    private final AttachClient jvm;
    private final boolean attachAllowed;
    private boolean isFirstAttempt = true;
    private long notBefore = System.nanoTime();

    private boolean present;
    private String problem;

    // Cumulative figures, as of the last report.
    private Map<String, Counters> groups = new HashMap<>();
    private Counters scheduling;
    private final AccountTotals accountTotals = new AccountTotals();
    private List<AgentReport.Section> openSections = List.of();
    private Map<String, Long> sites = new HashMap<>();
    private Map<Integer, Long> yielders = new HashMap<>();
    /** CPU time of the groups in the first report of the agent, and of scheduling. */
    private final Map<String, Long> watchedFrom = new HashMap<>();
    /** Yields of all threads; -1 while they are not counted. */
    private long yields = -1;

    private long virtualYields;
    private long mounts;

    /** As of the last report. */
    private VirtualThreadCounts virtualThreads = VirtualThreadCounts.UNKNOWN;

    private Set<Long> carriers = Set.of();

    private long reportedAt;

    /** The CPU time of the process when it was asked for the last report. */
    private long reportedAtNanos;

    // Figures for the last interval.
    private List<ThreadUsage> usages = List.of();
    private List<ThreadUsage> accountUsages = List.of();
    private List<String> intervalSites = List.of();
    private final Map<Integer, Double> yieldsPerSecond = new HashMap<>();
    private long intervalYields = -1;
    private long intervalVirtualYields;
    private long intervalMounts;

    public AgentClient(int pid, AttachClient jvm, boolean attachAllowed) {
        this.pid = pid;
        this.jvm = jvm;
        this.attachAllowed = attachAllowed;
    }

    public boolean isPresent() {
        return present;
    }

    /** Returns the usage of each group of virtual threads, and the CPU time that carriers spent on scheduling them. */
    public List<ThreadUsage> usages() {
        return usages;
    }

    /** Returns the usage of each named account, and of the rest of the process in each type of accounts. */
    public List<ThreadUsage> accounts() {
        return accountUsages;
    }

    /** Returns the sections of named accounts that were open at the last report. */
    public List<AgentReport.Section> openSections() {
        return openSections;
    }

    /** Returns the yields per second of a thread, or of the virtual threads that it carried; 0 if unknown. */
    public double yieldsPerSecond(int tid) {
        return yieldsPerSecond.getOrDefault(tid, 0.0);
    }

    /** Returns the call sites with the most yields, with their rates. */
    public List<String> sites() {
        return intervalSites;
    }

    /** Returns why the loaded agent's report cannot be used; null if there is no such problem. */
    public String problem() {
        return problem;
    }

    /** Returns the number of yields in the last interval; -1 if yields are not counted. */
    public long yields() {
        return intervalYields;
    }

    /** Returns the number of yields of virtual threads in the last interval; 0 if yields are not counted. */
    public long virtualYields() {
        return intervalVirtualYields;
    }

    /** Returns how often virtual threads were mounted in the last interval; 0 if unknown. */
    public long mounts() {
        return intervalMounts;
    }

    /** Returns the states of virtual threads as of the last report. */
    public VirtualThreadCounts virtualThreads() {
        return virtualThreads;
    }

    /** Returns the CPU time that carriers spent on scheduling in the last interval; 0 if unknown. */
    public long schedulingNanos() {
        long nanos = 0;
        for (ThreadUsage usage : usages) if (usage.name().equals(SCHEDULING)) nanos += usage.cpuNanos();
        return nanos;
    }

    /** Returns the ids of the threads that carry virtual threads, as the JVM sees them, as of the last report. */
    public Set<Long> carriers() {
        return carriers;
    }

    /** Requests a report at the next interval, even if there was no agent before. */
    public void readSoon() {
        notBefore = System.nanoTime();
    }

    /** Requests a report if one is due. */
    public void advance(long intervalNanos) {
        usages = List.of();
        accountUsages = List.of();
        intervalSites = List.of();
        yieldsPerSecond.clear();
        intervalYields = -1;
        intervalVirtualYields = 0;
        intervalMounts = 0;
        long start = System.nanoTime();
        if (!attachAllowed || start - notBefore < 0) return;
        // The agent of a JVM that has just started does not report yet.
        notBefore = start + (isFirstAttempt ? NANOS_PER_SECOND : RETRY_NANOS);
        isFirstAttempt = false;
        AgentReport report;
        ProcessClock process = ProcessClock.of(pid);
        long askedAtNanos = process.cpuNanos();
        try {
            report = AgentReport.request(jvm, TIMEOUT_MILLIS);
            if (report != null && present) checkVirtualThreads(report, process.cpuNanos());
            problem = null;
        } catch (AgentReport.AgentReportException e) {
            problem = e.getMessage();
            report = null;
        } catch (IOException e) {
            report = null;
        }
        boolean wasPresent = present;
        present = report != null;
        if (!present) {
            yields = -1;
            virtualThreads = VirtualThreadCounts.UNKNOWN;
            carriers = Set.of();
            openSections = List.of();
            return;
        }
        // The agent generated the report at some time during the request.
        long now = start + (System.nanoTime() - start) / 2;
        double share = reportedAt == 0 ? 1 : Math.min(1, (double) intervalNanos / (now - reportedAt));
        reportedAt = now;
        reportedAtNanos = askedAtNanos;
        notBefore = start;
        update(report, wasPresent, share, intervalNanos);
    }

    /** Like {@link AgentPools}, throws if virtual threads have used more than their process meanwhile. */
    private void checkVirtualThreads(AgentReport report, long processNanos) throws AgentReport.AgentReportException {
        if (processNanos < 0) return;
        long sum = 0;
        for (AgentReport.Group group : report.virtualThreads()) {
            Counters before = groups.getOrDefault(group.name(), new Counters(0, 0, 0));
            sum += Math.max(0, group.cpuNanos() - before.cpuNanos);
        }
        AgentReport.checkTotal("virtual threads since its last report", sum, processNanos - reportedAtNanos);
    }

    /** Updates the state. {@code share} is the interval's share of the time since the previous report. */
    private void update(AgentReport report, boolean wasPresent, double share, long intervalNanos) {
        // The first report takes longer, because the code that generates it is not yet compiled.
        if (wasPresent) notBefore += PAUSE_FACTOR * report.reportNanos();
        List<ThreadUsage> accounts = accountTotals.advance(pid, report.accounts());
        Map<String, Counters> newGroups = new HashMap<>();
        for (AgentReport.Group group : report.virtualThreads())
            newGroups.put(group.name(), new Counters(group.live(), group.cpuNanos(), group.userNanos()));
        Map<Integer, Long> newYielders = new HashMap<>();
        for (AgentReport.Yielder yielder : report.yielders()) newYielders.put(yielder.tid(), yielder.yields());
        Map<String, Long> newSites = new HashMap<>();
        for (AgentReport.Site site : report.yieldSites()) newSites.merge(site.name(), site.yields(), Long::sum);
        long newYields = report.yieldMode().equals("count") ? report.platformYields() + report.virtualYields() : -1;
        Counters newScheduling = report.carriers().isEmpty()
                ? null
                : new Counters(1, report.schedulingNanos(), report.schedulingUserNanos());
        if (!wasPresent) {
            watchedFrom.clear();
            newGroups.forEach((name, now) -> watchedFrom.put(name, now.cpuNanos));
            if (newScheduling != null) watchedFrom.put(SCHEDULING, newScheduling.cpuNanos);
        } else {
            List<ThreadUsage> found = new ArrayList<>();
            newGroups.forEach((name, now) -> {
                ThreadUsage usage = usage(name, now, groups.getOrDefault(name, new Counters(0, 0, 0)), share);
                if (usage.cpuNanos() > 0 || usage.threads() > 0) found.add(usage);
            });
            if (newScheduling != null && scheduling != null)
                found.add(usage(SCHEDULING, newScheduling, scheduling, share));
            usages = found;
            accountUsages =
                    accounts.stream().map(account -> scaled(account, share)).toList();
            intervalMounts = Math.round((report.health().mounts() - mounts) * share);
            if (newYields >= 0 && yields >= 0) {
                intervalYields = Math.round(Math.max(0, newYields - yields) * share);
                intervalVirtualYields = Math.round(Math.max(0, report.virtualYields() - virtualYields) * share);
                updateYields(newSites, newYielders, share * 1e9 / intervalNanos);
            }
        }
        groups = newGroups;
        openSections = report.openSections();
        scheduling = newScheduling;
        sites = newSites;
        yielders = newYielders;
        yields = newYields;
        virtualYields = report.virtualYields();
        virtualThreads = report.virtualThreadCounts();
        carriers = report.carrierTids();
        mounts = report.health().mounts();
    }

    private ThreadUsage usage(String name, Counters now, Counters before, double share) {
        long cpu = Math.round(Math.max(0, now.cpuNanos - before.cpuNanos) * share);
        long user = Math.round(Math.max(0, now.userNanos - before.userNanos) * share);
        return ThreadUsage.ofGroup(
                        pid, new PoolKey(name, ThreadKind.VIRTUAL), (int) Math.min(now.live, Integer.MAX_VALUE))
                .cpu(cpu, Math.min(cpu, user))
                .total(Math.max(0, now.cpuNanos), Math.max(0, now.cpuNanos - watchedFrom.getOrDefault(name, 0L)))
                .build();
    }

    private static ThreadUsage scaled(ThreadUsage used, double share) {
        return used.change()
                .cpu(Math.round(used.cpuNanos() * share), Math.round(used.userNanos() * share))
                .waited(used.waitNanos() < 0 ? -1 : Math.round(used.waitNanos() * share))
                .sections(used.sections().scaled(share))
                .build();
    }

    private void updateYields(Map<String, Long> newSites, Map<Integer, Long> newYielders, double perSecond) {
        newYielders.forEach((tid, count) ->
                yieldsPerSecond.put(tid, Math.max(0, count - yielders.getOrDefault(tid, 0L)) * perSecond));
        intervalSites = newSites.entrySet().stream()
                .map(e -> Map.entry(e.getKey(), e.getValue() - sites.getOrDefault(e.getKey(), 0L)))
                .filter(e -> e.getValue() > 0)
                .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                .limit(MAX_SITES)
                .map(e -> String.format(Locale.ROOT, "%,.0f per second from %s", e.getValue() * perSecond, e.getKey()))
                .toList();
    }
}
