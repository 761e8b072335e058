// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.taskclock.monitor.sampling.MeasuredDump;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
        name = "dump",
        description = {
            "Print a thread dump in which the header of each thread says what it has just used.",
            "The format is that of jstack, with more fields in each header: used (CPU time), user, system, waited"
                    + " (without a processor), and allocated_in, all for the interval before the dump."
        },
        footer = {
            "",
            "Examples:",
            "  taskclock dump 4711                     with what each thread used in one second",
            "  taskclock dump orders --for 10s -o dump.txt",
            "  taskclock dump 4711 | grep -oP '^\".*?\"|used=\\S+'",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process (or it exited), 5 permission denied."
        })
final class DumpCommand implements Callable<Integer> {
    @Mixin
    private JvmOption jvm;

    @Option(
            names = "--for",
            paramLabel = "TIME",
            defaultValue = "1s",
            description = "How long to measure before the dump (default: ${DEFAULT-VALUE}). Ctrl-C ends earlier.")
    private Duration duration;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            description = "Write the dump to this file.")
    private Path output;

    @Override
    public Integer call() throws IOException, CommandException {
        TerminationSignal termination = new TerminationSignal();
        long pid = jvm.select();
        String dump = MeasuredDump.take(pid, duration, termination::sleep);
        if (output == null) Main.printUtf8(dump);
        else ReportCommand.write(output, dump);
        return Main.OK;
    }
}
