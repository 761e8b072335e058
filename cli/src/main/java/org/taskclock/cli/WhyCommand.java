// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.taskclock.monitor.attach.CodeCache;
import org.taskclock.monitor.sampling.Explanation;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.Sampler;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "why",
        description = {
            "Explain where the CPU time of a JVM goes.",
            "Watches for some seconds, and says in five lines how much CPU time the JVM uses, which threads use it, which"
                    + " ones wait and why, what problem there is, and which command to run next."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock why 4711",
            "  taskclock why orders --for 1m",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process (or it exited), 5 permission denied."
        })
final class WhyCommand implements Callable<Integer> {
    private static final Duration INTERVAL = Duration.ofSeconds(1);

    @Mixin
    private SamplerOptions target;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            defaultValue = "10s",
            description = "How long to watch (default: ${DEFAULT-VALUE}). Ctrl-C ends earlier.")
    private Duration duration;

    @Override
    public Integer call() throws IOException, CommandException {
        TerminationSignal termination = new TerminationSignal();
        long pid = target.jvm().select();
        Explanation explanation = new Explanation();
        try (Sampler sampler = target.open(pid)) {
            sampler.watchJavaStatus(true);
            sampler.next();
            Duration left = duration;
            do {
                termination.sleep(left.compareTo(INTERVAL) < 0 ? left : INTERVAL);
                left = left.minus(INTERVAL);
                Interval interval = sampler.next();
                explanation.add(interval);
                addDump(explanation, sampler, interval);
            } while (left.compareTo(Duration.ZERO) > 0 && !termination.isReceived());
        }
        return print(explanation, pid);
    }

    private void addDump(Explanation explanation, Sampler sampler, Interval interval) {
        if (target.isAttachDisabled()) return;
        try {
            explanation.add(interval, sampler.dump());
        } catch (IOException e) {
            // Without a dump, the explanation names no method.
        }
    }

    private int print(Explanation explanation, long pid) throws IOException {
        StringBuilder text = new StringBuilder();
        for (String line : explanation.lines(problem -> TopText.TIME.format(problem.begin())))
            text.append(CellFormat.sanitize(line)).append('\n');
        String codeCache = target.isAttachDisabled() ? "" : CodeCache.problem(pid);
        if (!codeCache.isEmpty()) text.append(codeCache).append('\n');
        Main.print(text.toString());
        return Main.OK;
    }
}
