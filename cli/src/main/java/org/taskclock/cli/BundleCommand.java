// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "bundle",
        description = {
            "Write a file with all that a colleague needs to see where the CPU time of a JVM goes.",
            "It contains the output of why, a recording, a thread dump with figures, a profile, the state of the agent,"
                    + " the JVM's version and command line, and a report about this machine."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock bundle 4711",
            "  taskclock bundle orders --for 30s --redact -o orders.zip",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process (or it exited), 5 permission denied."
        })
final class BundleCommand implements Callable<Integer> {
    @Mixin
    private JvmOption jvm;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            defaultValue = "10s",
            description = "How long to record (default: ${DEFAULT-VALUE}). The profile takes 5 s more.")
    private Duration duration;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Output file (default: taskclock-PID-TIME.zip). Only its owner may read it.")
    private Path file;

    @Option(
            names = "--redact",
            description = "Replace the names of the program, its threads, and its accounts, and leave out its command"
                    + " line and the name of the host. The names of classes and methods stay.")
    private boolean redact;

    @Override
    public Integer call() throws IOException, CommandException {
        TerminationSignal termination = new TerminationSignal();
        long pid = jvm.select();
        if (file == null) file = Path.of(RecordCommand.defaultName(pid, ".zip"));
        Bundle bundle =
                new Bundle(pid, duration, redact, termination::sleep, line -> System.err.println("taskclock: " + line));
        for (String reason : bundle.write(file)) System.err.println("taskclock: without " + reason);
        System.err.println("taskclock: " + file + ": " + UnitConverters.formatSize(Files.size(file)));
        return Main.OK;
    }
}
