// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import com.google.gson.Gson;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.taskclock.monitor.attach.AgentReport;
import org.taskclock.monitor.attach.TargetJvm;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "status",
        description = {
            "Show the health of the agent in a running JVM.",
            "Lists its features and their problems, its memory, and how many virtual thread mounts, stack walks and"
                    + " failures it has counted."
        },
        footer = {
            "",
            "Exit codes: 0 healthy, 1 a feature is not working, a failure was caught, or there is no agent,"
                    + " 2 usage error, 4 no such process, 5 permission denied."
        })
final class StatusCommand implements Callable<Integer> {
    @Mixin
    private JvmOption jvm;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() throws IOException, CommandException {
        long pid = jvm.select();
        TargetJvm target = TargetJvm.of(pid);
        if (target.yieldMode() == null)
            throw new CommandException(Main.FAILED, "process " + pid + " has no agent: run taskclock attach " + pid);
        AgentReport report = target.report();
        AgentReport.Health health = report.health();
        if (json) Main.printUtf8(new Gson().toJson(health) + "\n");
        else Main.print(text(report));
        boolean isHealthy = health.failures() == 0 && health.features().stream().allMatch(f -> f.problem() == null);
        return isHealthy ? Main.OK : Main.FAILED;
    }

    static String text(AgentReport report) {
        AgentReport.Health health = report.health();
        StringBuilder text = new StringBuilder("agent " + report.version() + " in process " + report.pid() + "\n");
        for (AgentReport.Health.Feature feature : health.features()) {
            text.append(String.format(Locale.ROOT, "  %-14s %s", feature.name(), feature.state()));
            if (feature.problem() != null) text.append(": ").append(feature.problem());
            text.append('\n');
        }
        text.append(String.format(Locale.ROOT, "  %-14s %,d", "mounts", health.mounts()));
        if (health.mounts() > 0) {
            double thousands = health.mounts() / 1e3;
            text.append(String.format(
                    Locale.ROOT,
                    "; calls per 1,000: clock_gettime %.1f, getrusage %.1f",
                    health.mountClockCalls() / thousands,
                    health.mountUsageCalls() / thousands));
        }
        text.append('\n');
        text.append(String.format(Locale.ROOT, "  %-14s %,d%n", "stacks", health.stacks()));
        text.append(String.format(Locale.ROOT, "  %-14s %,d", "failures", health.failures()));
        if (health.lastFailure() != null) text.append(", last in ").append(health.lastFailure());
        text.append(String.format(Locale.ROOT, "%n  %-14s %,d bytes%n", "memory", health.memoryBytes()));
        return text.toString();
    }
}
