// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "detach",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Takes the agent out of a JVM: ThreadMXBean and Thread.yield are the JVM's own again.",
            "Inert classes and two small libraries stay until the JVM ends."
        },
        footer = {"", "Exit codes: 0 done, 1 it failed, 2 wrong usage, 4 no such process, 5 not permitted."})
final class Detach implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "PID", description = "The JVM's process id; jcmd lists them.")
    private long pid;

    @Override
    public Integer call() throws IOException {
        try {
            return Main.report(Target.of(pid).tell("detach"));
        } catch (Target.Failure e) {
            return Main.complain(e.getMessage(), e.exitCode);
        }
    }
}
