// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;
import org.taskclock.monitor.AgentReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "yields",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Count Thread.yield calls by call site, with their CPU cost.",
            "Loads the agent for the duration if necessary and restores the JVM afterward."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock yields 4711 --for 10s  find callers of Thread.yield",
            "  taskclock yields 4711 --off      turn off Thread.yield in platform threads",
            "  taskclock detach 4711            undo that",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process, 5 permission denied."
        })
final class YieldsCommand implements Callable<Integer> {
    /** Options that disable the features of the agent that are not needed here. */
    private static final String YIELD_ONLY = "threadmxbean=off,bean=off,jfr=off,yield=";

    @Spec
    private CommandSpec spec;

    @Mixin
    private JvmOption jvm;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = UnitConverters.DurationConverter.class,
            defaultValue = "5s",
            description = "How long to count (default: ${DEFAULT-VALUE}).")
    private Duration duration;

    @Option(
            names = "--off",
            description = "Turn off Thread.yield in platform threads from now on. A program that waits by yielding will"
                    + " spin.")
    private boolean off;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "10",
            description = "Show at most N call sites (default: ${DEFAULT-VALUE}; 0 for all).")
    private int limit;

    @Option(names = "--json", description = "Print one JSON object with all call sites.")
    private boolean json;

    /**
     * A call site.
     *
     * @param cpuNanosPerSecond CPU time of the yields of platform threads, divided among call sites by number of
     *     yields; -1 if unknown
     */
    record CallSite(
            String site, double perSecond, double virtualPerSecond, double cpuNanosPerSecond, List<String> stack) {}

    /**
     * The yields that were counted, as --json prints them.
     *
     * @param platformPercent CPU time of the yields of platform threads, in percent of one core
     * @param schedulingPercent CPU time of carriers outside virtual threads, in percent of one core
     */
    record Result(
            long pid,
            double seconds,
            double platformPerSecond,
            double virtualPerSecond,
            double platformPercent,
            double schedulingPercent,
            boolean truncated,
            List<CallSite> callSites) {}

    @Override
    public Integer call() throws IOException {
        OutputOptions.checkLimit(spec, limit);
        // From here on, Ctrl-C ends the count and restores the JVM.
        TerminationSignal termination = new TerminationSignal();
        try {
            long pid = jvm.select();
            TargetJvm target = TargetJvm.of(pid);
            return off ? turnOff(pid, target) : count(pid, target, termination);
        } catch (CommandException e) {
            return Main.fail(e.getMessage(), e.exitCode);
        }
    }

    private static int turnOff(long pid, TargetJvm target) throws CommandException, IOException {
        boolean attached = target.yieldMode() != null;
        target.setYieldMode(attached ? "yield=off" : YIELD_ONLY + "off");
        Main.print("Thread.yield is now off in platform threads of process " + pid + "; to undo, run taskclock "
                + (attached ? "attach " + pid + " --yield pass" : "detach " + pid) + "\n");
        return Main.OK;
    }

    private int count(long pid, TargetJvm target, TerminationSignal termination) throws CommandException, IOException {
        String previousMode = target.yieldMode();
        if ("off".equals(previousMode)) {
            return Main.fail(
                    "yields: process " + pid + ": Thread.yield is off: run taskclock attach " + pid + " --yield pass",
                    Main.FAILED);
        }
        AgentReport start;
        AgentReport end;
        try {
            target.setYieldMode(previousMode == null ? YIELD_ONLY + "count" : "yield=count");
            start = target.report();
            termination.sleep(duration);
            end = target.report();
        } finally {
            target.configureAgent(previousMode == null ? "detach" : "yield=" + previousMode);
        }
        Result result = difference(pid, start, end);
        if (json)
            Main.printUtf8(new GsonBuilder().disableHtmlEscaping().create().toJson(result) + "\n");
        else Main.print(text(result, limit));
        return Main.OK;
    }

    static Result difference(long pid, AgentReport start, AgentReport end) {
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
        return new Result(
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

    /**
     * Formats the result as text.
     *
     * @param limit maximum number of call sites; 0 for all
     */
    static String text(Result result, int limit) {
        StringBuilder text = new StringBuilder();
        line(text, "process %d, %.1f s", result.pid(), result.seconds());
        line(
                text,
                "%,14.0f yields/s in platform threads, using %.1f %% of one core",
                result.platformPerSecond(),
                result.platformPercent());
        line(
                text,
                "%,14.0f yields/s in virtual threads;"
                        + " scheduling virtual threads, for any reason, uses %.1f %% of one core",
                result.virtualPerSecond(),
                result.schedulingPercent());
        if (result.truncated()) line(text, "Too many call sites: the rest are in (other).");
        if (result.callSites().isEmpty()) {
            line(text, "No calls of Thread.yield.");
            return text.toString();
        }
        line(text, "");
        line(text, "%14s %6s  %s", "yields/s", "cpu %", "call site");
        int count = limit == 0
                ? result.callSites().size()
                : Math.min(limit, result.callSites().size());
        for (CallSite callSite : result.callSites().subList(0, count)) {
            String cost = callSite.cpuNanosPerSecond() < 0
                    ? "-"
                    : String.format(Locale.ROOT, "%.1f", callSite.cpuNanosPerSecond() / 1e7);
            line(
                    text,
                    "%,14.0f %6s  %s%s",
                    callSite.perSecond(),
                    cost,
                    callSite.site(),
                    callSite.virtualPerSecond() > 0 ? " (virtual)" : "");
            for (int i = 1; i < callSite.stack().size(); i++)
                line(text, "%14s %6s    %s", "", "", callSite.stack().get(i));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
