// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.taskclock.history.HistoryException;
import org.taskclock.monitor.profile.Profile;
import org.taskclock.monitor.profile.ProfileException;
import org.taskclock.monitor.profile.ProfileSelection;
import org.taskclock.monitor.profile.ProfileSource;
import org.taskclock.monitor.profile.Profiler;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

@Command(
        name = "profile",
        description = {
            "Show the methods in which the threads of a running JVM spend their CPU time.",
            "Samples stacks for a few seconds with async-profiler if it is installed, otherwise with Flight Recorder or"
                    + " thread dumps, and scales the stacks of each thread to the CPU time that it used. Afterward,"
                    + " sampling has stopped, and no files remain."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock profile 4711                              hot methods of all threads",
            "  taskclock profile orders --thread orders-worker-1   hot methods of one thread",
            "  taskclock profile 4711 --pool http --flame          flame graph of a pool",
            "  taskclock profile 4711 --for 30s -o flame.html      flame graph for a browser",
            "  taskclock profile 4711 --pool http --lines          hot lines of a pool",
            "  taskclock profile 4711 -o orders.pb.gz              for go tool pprof and others",
            "  taskclock profile orders --from 2h --against 2026-11-24T09:00",
            "                                                      what changed since then, by method",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process (or it exited), 5 permission denied."
        })
final class ProfileCommand implements Callable<Integer> {
    private static final Duration MIN_DURATION = Duration.ofMillis(100);
    private static final Duration MAX_DURATION = Duration.ofHours(1);
    private static final Duration MIN_PERIOD = Duration.ofMillis(1);
    private static final Duration MAX_PERIOD = Duration.ofSeconds(1);

    private static final class Threads {
        @Option(
                names = "--thread",
                paramLabel = "NAME|TID",
                description = "Profile only this thread: its name, part of its name, or its id in top.")
        private String thread;

        @Option(
                names = "--pool",
                paramLabel = "NAME",
                description = "Profile only the threads of this pool: its name in top, part of it, or one of its"
                        + " threads.")
        private String pool;
    }

    @Spec
    private CommandSpec spec;

    @Mixin
    private JvmOption jvm;

    @Mixin
    private ProfileHistory history;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            defaultValue = "10s",
            description = "How long to sample (default: ${DEFAULT-VALUE}). Ctrl-C ends earlier.")
    private Duration duration;

    @ArgGroup
    private Threads threads;

    @Option(
            names = "--source",
            paramLabel = "SOURCE",
            defaultValue = "auto",
            description = "How to sample: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}, the best one that"
                    + " works).")
    private ProfileSource source;

    @Option(
            names = "--async-profiler",
            paramLabel = "PATH",
            description = "async-profiler's library, or the folder that contains it (default: ASPROF_LIB in the"
                    + " environment, then the usual folders).")
    private Path library;

    @Option(
            names = "--every",
            paramLabel = "TIME",
            defaultValue = "10ms",
            description = "CPU time between two samples (default: ${DEFAULT-VALUE}). Thread dumps ignore it.")
    private Duration period;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "20",
            description = "Show at most N methods (default: ${DEFAULT-VALUE}; 0 for all).")
    private int limit;

    @Option(names = "--lines", description = "Show the line in each method, as METHOD:LINE.")
    private boolean lines;

    @Option(names = "--flame", description = "Print a flame graph as text instead of the table.")
    private boolean flame;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = {
                "Write a file, whose suffix chooses its format:",
                ".html: a self-contained page with a flame graph, with - to standard output",
                ".collapsed, .txt: stacks with their CPU time in microseconds",
                ".pb.gz, .pprof: pprof",
                ".json: what --json prints"
            })
    private Path output;

    @Option(
            names = "--otlp",
            paramLabel = "URL",
            description = "Send the profile to this OpenTelemetry receiver, such as http://localhost:4318.")
    private String otlp;

    @Option(
            names = "--otlp-headers-file",
            paramLabel = "FILE",
            description = "File with a line NAME=VALUE for each header to send with it, such as a token.")
    private Path otlpHeaders;

    @Option(names = "--json", description = "Print one JSON object with all methods and stacks.")
    private boolean json;

    @Override
    public Integer call() throws IOException, CommandException {
        check("--for", duration, MIN_DURATION, MAX_DURATION, "100ms to 1h");
        check("--every", period, MIN_PERIOD, MAX_PERIOD, "1ms to 1s");
        OutputOptions.checkLimit(spec, limit);
        if (flame && json) throw new ParameterException(spec.commandLine(), "--flame and --json cannot be combined");
        history.check();
        if (lines && history.isUsed())
            throw new ParameterException(spec.commandLine(), "--lines: the history has profiles by method only");
        ProfileFormat format = output == null ? null : ProfileFormat.of(output);
        if (output != null && format == null)
            throw new ParameterException(
                    spec.commandLine(), "-o " + output + ": must end in " + ProfileFormat.SUFFIXES);
        OtlpClient receiver = otlp == null ? null : new OtlpClient(otlp, otlpHeaders);
        if (history.isUsed()) return printHistory(format, receiver);
        // From here on, Ctrl-C ends the profile and prints what was sampled.
        TerminationSignal termination = new TerminationSignal();
        try {
            long pid = jvm.select();
            Profiler.Settings settings =
                    new Profiler.Settings(selection(), source, library, duration, period.toNanos(), lines);
            return show(Profiler.run(pid, settings, termination::sleep), format, receiver);
        } catch (ProfileException e) {
            return Main.fail(e.getMessage(), Main.FAILED);
        }
    }

    private int printHistory(ProfileFormat format, OtlpClient receiver) throws IOException, CommandException {
        if (threads != null && threads.thread != null)
            throw new CommandException(Main.USAGE, "--thread: the history has profiles of pools: use --pool");
        if (history.isComparison() && (flame || output != null || otlp != null))
            throw new CommandException(Main.USAGE, "--against cannot be combined with --flame, -o, or --otlp");
        try {
            List<ProfileHistory.Part> parts = history.read(jvm.name(), threads == null ? null : threads.pool);
            if (!history.isComparison()) return show(parts.get(0).profile(), format, receiver);
            if (json) Main.printUtf8(MethodChanges.json(parts.get(0), parts.get(1)));
            else Main.print(MethodChanges.text(parts.get(0), parts.get(1), limit));
            return Main.OK;
        } catch (HistoryException e) {
            return Main.fail(e.getMessage(), Main.FAILED);
        }
    }

    private int show(Profile profile, ProfileFormat format, OtlpClient receiver) throws IOException, CommandException {
        print(profile, format);
        if (receiver != null) receiver.send(profile);
        return Main.OK;
    }

    private void check(String option, Duration value, Duration min, Duration max, String range) {
        if (value.compareTo(min) >= 0 && value.compareTo(max) <= 0) return;
        throw new ParameterException(
                spec.commandLine(), option + " " + UnitConverters.formatDuration(value) + ": must be from " + range);
    }

    private ProfileSelection selection() {
        if (threads == null) return ProfileSelection.all();
        return threads.thread != null ? ProfileSelection.thread(threads.thread) : ProfileSelection.pool(threads.pool);
    }

    private void print(Profile profile, ProfileFormat format) throws IOException {
        byte[] file = format == null
                ? new byte[0]
                : format.format(profile, spec.commandLine().getParseResult().originalArgs());
        if (format != null && output.toString().equals("-")) {
            Main.printUtf8(new String(file, StandardCharsets.UTF_8));
            return;
        }
        // First, because the file may turn out not to be writable.
        if (json) Main.printUtf8(ProfileJson.of(profile));
        else Main.print(ProfileText.of(profile, flame, limit, ProfileText.WIDTH));
        if (format != null) {
            ReportCommand.write(output, file);
            System.err.println("taskclock: " + output + ": " + format.hint());
        }
    }
}
