// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.GsonBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.monitor.attach.TargetJvm;
import org.taskclock.monitor.attach.YieldCount;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
        name = "yields",
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
    @Spec
    private CommandSpec spec;

    @Mixin
    private JvmOption jvm;

    @Option(
            names = "--for",
            paramLabel = "TIME",
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

    @Override
    public Integer call() throws IOException, CommandException {
        OutputOptions.checkLimit(spec, limit);
        // From here on, Ctrl-C ends the count and restores the JVM.
        TerminationSignal termination = new TerminationSignal();
        long pid = jvm.select();
        return off ? turnOff(pid, TargetJvm.of(pid)) : count(pid, termination);
    }

    private static int turnOff(long pid, TargetJvm target) throws CommandException, IOException {
        boolean attached = target.yieldMode() != null;
        target.setYieldMode(attached ? "yield=off" : YieldCount.YIELD_ONLY + "off");
        Main.print("Thread.yield is now off in platform threads of process " + pid + "; to undo, run taskclock "
                + (attached ? "attach " + pid + " --yield pass" : "detach " + pid) + "\n");
        return Main.OK;
    }

    private int count(long pid, TerminationSignal termination) throws IOException {
        YieldCount count = YieldCount.of(pid, duration, termination::sleep);
        if (json)
            Main.printUtf8(new GsonBuilder().disableHtmlEscaping().create().toJson(count) + "\n");
        else Main.print(text(count, limit));
        return Main.OK;
    }

    /**
     * Formats the result as text.
     *
     * @param limit maximum number of call sites; 0 for all
     */
    static String text(YieldCount result, int limit) {
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
        for (YieldCount.CallSite callSite : result.callSites().subList(0, count)) {
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
