// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;
import org.taskclock.monitor.proc.MonitorException;

/**
 * The calls of Thread.yield in a JVM that were counted for a time.
 *
 * @param platformPercent CPU time of the yields of platform threads, in percent of one core
 * @param schedulingPercent CPU time of carriers outside virtual threads, in percent of one core
 */
public record YieldCount(
        long pid,
        double seconds,
        double platformPerSecond,
        double virtualPerSecond,
        double platformPercent,
        double schedulingPercent,
        boolean truncated,
        List<CallSite> callSites) {
    /** Options that disable the features of the agent that are not needed to count yields, and start that of yields. */
    public static final String YIELD_ONLY = "threadmxbean=off,bean=off,jfr=off,yield=";

    /**
     * A call site.
     *
     * @param cpuNanosPerSecond CPU time of the yields of platform threads, divided among call sites by number of
     *     yields; -1 if unknown
     */
    public record CallSite(
            String site, double perSecond, double virtualPerSecond, double cpuNanosPerSecond, List<String> stack) {}

    /**
     * Counts the yields. Loads the agent for the duration if necessary, and restores the JVM afterward.
     *
     * @param sleep waits for the given time, or less if the count should end
     * @throws MonitorException if that is not possible; the message is the reason
     */
    public static YieldCount of(long pid, Duration duration, Consumer<Duration> sleep) throws IOException {
        AgentReport start;
        AgentReport end;
        try (TemporaryAgent agent = TemporaryAgent.countingYields(pid)) {
            start = agent.target().report();
            sleep.accept(duration);
            end = agent.target().report();
        }
        return difference(pid, start, end);
    }

    /** Returns what was counted between two reports. */
    public static YieldCount difference(long pid, AgentReport start, AgentReport end) {
        double seconds = (end.elapsedNanos() - start.elapsedNanos()) / 1e9;
        double platform = end.platformYields() - start.platformYields();
        double virtual = end.virtualYields() - start.virtualYields();
        double platformNanos = platformNanos(start, end);
        double scheduling = end.schedulingNanos() - start.schedulingNanos();
        double nanosPerYield = platform > 0 ? platformNanos / platform : 0;
        List<AgentReport.Site> sites = newYields(start.yieldSites(), end.yieldSites());
        // The first sample of a thread also stands for yields before the start.
        double platformPart = part(platform, sites, site -> site.yields() - site.virtualYields());
        double virtualPart = part(virtual, sites, AgentReport.Site::virtualYields);
        List<CallSite> callSites = new ArrayList<>();
        for (AgentReport.Site site : sites) {
            double platformYields = (site.yields() - site.virtualYields()) * platformPart;
            double virtualYields = site.virtualYields() * virtualPart;
            double nanos = site.virtualYields() == 0 ? platformYields * nanosPerYield / seconds : -1;
            double perSecond = (platformYields + virtualYields) / seconds;
            callSites.add(new CallSite(site.name(), perSecond, virtualYields / seconds, nanos, site.stack()));
        }
        callSites.sort(Comparator.comparingDouble(CallSite::perSecond).reversed());
        return new YieldCount(
                pid,
                seconds,
                platform / seconds,
                virtual / seconds,
                platformNanos / seconds / 1e7,
                Math.max(0, scheduling) / seconds / 1e7,
                end.truncated(),
                callSites);
    }

    /** Returns the CPU time of the yields of platform threads, at most what the threads' clocks show. */
    private static long platformNanos(AgentReport start, AgentReport end) {
        Map<Integer, AgentReport.Yielder> earlier = new HashMap<>();
        for (AgentReport.Yielder thread : start.yielders()) earlier.put(thread.tid(), thread);
        long nanos = end.platformYieldNanos() - start.platformYieldNanos();
        for (AgentReport.Yielder thread : end.yielders()) {
            AgentReport.Yielder base =
                    earlier.getOrDefault(thread.tid(), new AgentReport.Yielder(thread.tid(), 0, 0, 0));
            if (thread.cpuNanos() < 0 || base.cpuNanos() < 0) continue; // it has ended
            long excess = (thread.yieldNanos() - base.yieldNanos()) - (thread.cpuNanos() - base.cpuNanos());
            nanos -= Math.max(0, excess);
        }
        return Math.max(0, nanos);
    }

    /** Returns the yields at each call site since the earlier report. */
    private static List<AgentReport.Site> newYields(List<AgentReport.Site> start, List<AgentReport.Site> end) {
        Map<List<String>, AgentReport.Site> earlier = new HashMap<>();
        for (AgentReport.Site site : start) earlier.put(site.stack(), site);
        List<AgentReport.Site> sites = new ArrayList<>();
        for (AgentReport.Site site : end) {
            AgentReport.Site base = earlier.getOrDefault(site.stack(), new AgentReport.Site(0, 0, List.of()));
            long yields = site.yields() - base.yields();
            if (yields > 0)
                sites.add(new AgentReport.Site(yields, site.virtualYields() - base.virtualYields(), site.stack()));
        }
        return sites;
    }

    /** Returns the factor by which the yields at all call sites add up to no more than the total. */
    private static double part(double total, List<AgentReport.Site> sites, ToLongFunction<AgentReport.Site> yields) {
        double sum = sites.stream().mapToLong(yields).sum();
        return sum > total ? total / sum : 1;
    }
}
