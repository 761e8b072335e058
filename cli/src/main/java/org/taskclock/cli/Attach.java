// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "attach",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Loads the agent into a JVM that runs, or changes the options of the one that is there.",
            "From then on the program's ThreadMXBean is answered by the clock."
        },
        footer = {
            "",
            "Options of the agent, in one word, with commas between:",
            "  threadmxbean=on|off   whether ThreadMXBean answers from the clock",
            "  yield=pass|count|off  what Thread.yield does",
            "  mxbean=on|off         whether org.taskclock:type=TaskClock is registered",
            "  jfr=on|off            whether there are events for Flight Recorder",
            "",
            "Example: taskclock attach 4711 yield=count",
            "",
            "Exit codes: 0 done, 1 it failed, 2 wrong usage, 4 no such process, 5 not permitted."
        })
final class Attach implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "PID", description = "The JVM's process id; jcmd lists them.")
    private long pid;

    @Parameters(index = "1", arity = "0..1", paramLabel = "OPTIONS", defaultValue = "", description = "See below.")
    private String options;

    @Override
    public Integer call() throws IOException {
        try {
            if (options.trim().equals("detach")) {
                throw new Target.Failure(Main.USAGE, "attach: to detach, run taskclock detach " + pid);
            }
            Target target = Target.of(pid);
            Main.print("attaching to " + pid
                    + "; from JDK 21 on the JVM prints a warning to its standard error, as for every"
                    + " agent that is loaded so\n");
            return Main.report(target.tell(options));
        } catch (Target.Failure e) {
            return Main.complain(e.getMessage(), e.exitCode);
        }
    }
}
