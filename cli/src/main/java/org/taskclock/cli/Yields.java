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
import org.taskclock.watch.AgentReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "yields",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Counts what calls Thread.yield in a JVM that runs, from where, and what it costs.",
            "The agent is loaded for that, and afterwards everything is as it was before."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock yields 4711 --for 10s  who yields?",
            "  taskclock yields 4711 --off      silence Thread.yield in platform threads, to see what changes",
            "  taskclock detach 4711            takes that back",
            "",
            "Exit codes: 0 done, 1 it failed, 2 wrong usage, 4 no such process, 5 not permitted."
        })
final class Yields implements Callable<Integer> {
    /** What this needs, and no more of the agent. */
    private static final String ALONE = "threadmxbean=off,bean=off,jfr=off,yield=";

    @Parameters(index = "0", paramLabel = "PID|NAME", description = "The JVM.")
    private String jvm;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = Amounts.Time.class,
            defaultValue = "5s",
            description = "Default: ${DEFAULT-VALUE}.")
    private Duration duration;

    @Option(
            names = "--off",
            description =
                    "Silence Thread.yield in platform threads from now on. A program that waits by yielding will spin.")
    private boolean off;

    @Option(
            names = "--top",
            paramLabel = "N",
            defaultValue = "10",
            description = "So many places. Default: ${DEFAULT-VALUE}.")
    private int top;

    @Option(names = "--json", description = "One object, for programs; all places.")
    private boolean json;

    /**
     * One place. Its cost is its part of what all yields cost of the same sort of thread.
     *
     * @param cpuNanosPerSecond -1 if it is not known
     */
    record Place(
            String site, double perSecond, double virtualPerSecond, double cpuNanosPerSecond, List<String> stack) {}

    /**
     * What --json prints. Rates are by second of the time that was counted.
     *
     * @param schedulingPercent of one core: what carriers used besides running virtual threads
     */
    record Counted(
            long pid,
            double seconds,
            double platformPerSecond,
            double virtualPerSecond,
            double platformPercent,
            double schedulingPercent,
            boolean overflown,
            List<Place> places) {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        // From here on Ctrl-C leaves nothing behind.
        Stop stop = new Stop();
        try {
            long pid = Choice.of(jvm, true);
            Target target = Target.of(pid);
            return off ? silence(pid, target) : count(pid, target, stop);
        } catch (Target.Failure e) {
            return Main.complain(e.getMessage(), e.exitCode);
        }
    }

    private static int silence(long pid, Target target) throws Target.Failure, IOException {
        boolean attached = target.yieldMode() != null;
        told(target, attached ? "yield=off" : ALONE + "off");
        Main.print("Thread.yield now does nothing in platform threads of process " + pid + "; to undo: taskclock "
                + (attached ? "attach " + pid + " yield=pass" : "detach " + pid) + "\n");
        return Main.OK;
    }

    private int count(long pid, Target target, Stop stop) throws Target.Failure, IOException {
        String before = target.yieldMode();
        if ("off".equals(before)) {
            return Main.complain(
                    "yields: process " + pid + ": Thread.yield is off: taskclock attach " + pid + " yield=pass",
                    Main.FAILED);
        }
        AgentReport first;
        AgentReport second;
        try {
            told(target, before == null ? ALONE + "count" : "yield=count");
            first = target.report();
            stop.sleep(duration);
            second = target.report();
        } finally {
            target.tell(before == null ? "detach" : "yield=" + before);
        }
        Counted counted = between(pid, first, second);
        Main.print(json ? new GsonBuilder().disableHtmlEscaping().create().toJson(counted) + "\n" : text(counted));
        return Main.OK;
    }

    private static String told(Target target, String options) throws Target.Failure {
        String state = target.tell(options);
        if (state.startsWith("failed: ") || state.contains("left out: yield"))
            throw new Target.Failure(Main.FAILED, "agent: " + state);
        return state;
    }

    private static Counted between(long pid, AgentReport first, AgentReport second) {
        double seconds = (second.elapsedNanos() - first.elapsedNanos()) / 1e9;
        double platform = second.platformYields() - first.platformYields();
        double virtual = second.virtualYields() - first.virtualYields();
        double platformNanos = second.platformYieldNanos() - first.platformYieldNanos();
        double scheduling = second.schedulingNanos() - first.schedulingNanos();
        double eachPlatform = platform > 0 ? platformNanos / platform : 0;
        Map<List<String>, AgentReport.Site> earlier = new HashMap<>();
        for (AgentReport.Site site : first.yieldSites()) earlier.put(site.stack(), site);
        List<Place> places = new ArrayList<>();
        for (AgentReport.Site site : second.yieldSites()) {
            AgentReport.Site base = earlier.getOrDefault(site.stack(), new AgentReport.Site(0, 0, List.of()));
            double yields = site.yields() - base.yields();
            double virtualYields = site.virtualYields() - base.virtualYields();
            if (yields <= 0) continue;
            double nanos = virtualYields == 0 ? (yields - virtualYields) * eachPlatform / seconds : -1;
            places.add(new Place(site.name(), yields / seconds, virtualYields / seconds, nanos, site.stack()));
        }
        places.sort(Comparator.comparingDouble(Place::perSecond).reversed());
        return new Counted(
                pid,
                seconds,
                platform / seconds,
                virtual / seconds,
                platformNanos / seconds / 1e7,
                Math.max(0, scheduling) / seconds / 1e7,
                second.overflown(),
                places);
    }

    private String text(Counted counted) {
        StringBuilder text = new StringBuilder();
        line(text, "process %d, %.1f s", counted.pid(), counted.seconds());
        line(
                text,
                "%,14.0f yields/s of platform threads, which take %.1f %% of a core",
                counted.platformPerSecond(),
                counted.platformPercent());
        line(
                text,
                "%,14.0f yields/s of virtual threads, whose scheduling, for these and other reasons, takes %.1f %%",
                counted.virtualPerSecond(),
                counted.schedulingPercent());
        if (counted.overflown()) line(text, "There were more places than are kept: the rest is (other).");
        if (counted.places().isEmpty()) {
            line(text, "Nothing called Thread.yield.");
            return text.toString();
        }
        line(text, "");
        line(text, "%14s %6s  %s", "yields/s", "cpu %", "from");
        for (Place place :
                counted.places().subList(0, Math.min(top, counted.places().size()))) {
            String cost = place.cpuNanosPerSecond() < 0
                    ? "-"
                    : String.format(Locale.ROOT, "%.1f", place.cpuNanosPerSecond() / 1e7);
            line(
                    text,
                    "%,14.0f %6s  %s%s",
                    place.perSecond(),
                    cost,
                    place.site(),
                    place.virtualPerSecond() > 0 ? " (virtual)" : "");
            for (int i = 1; i < place.stack().size(); i++)
                line(text, "%14s %6s    %s", "", "", place.stack().get(i));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
