// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "attach",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Attach the agent to a running JVM, or change its options.",
            "The program's ThreadMXBean then answers from the clock."
        },
        footer = {
            "",
            "Agent options, comma-separated (the first value is the default):",
            "  threadmxbean=on|off           ThreadMXBean answers from the clock",
            "  vthreads=on|off               CPU time of virtual threads (JDK 21 and later)",
            "  virtual=spec|mxbean           ThreadMXBean answers for virtual threads too",
            "  yield=pass|count|off          what Thread.yield does in platform threads",
            "  virtual-yield=pass|count|off  what it does in virtual threads; with off, a virtual",
            "                                thread that waits for another by yielding may hang",
            "  bean=on|read|off              the MXBean org.taskclock:type=TaskClock; read: no changes",
            "  jfr=on|off                    events for Flight Recorder",
            "",
            "Example: taskclock attach 4711 yield=count",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process, 5 permission denied."
        })
final class Attach implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "PID", description = "Process id of the JVM; jcmd lists them.")
    private long pid;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "OPTIONS",
            defaultValue = "",
            description = "Agent options, see below.")
    private String options;

    @Option(names = "--dry-run", description = "List what would be changed in the JVM, and change nothing.")
    private boolean dryRun;

    @Override
    public Integer call() throws IOException {
        return run(pid, options, dryRun);
    }

    static int run(long pid, String options, boolean dryRun) throws IOException {
        try {
            if (options.trim().equals("detach")) {
                throw new Target.Failure(Main.USAGE, "attach: to detach, run taskclock detach " + pid);
            }
            Target target = Target.of(pid);
            if (dryRun) {
                Main.print(AttachPlan.of(pid, target.feature(), options).text());
                return Main.OK;
            }
            Main.print("attaching to " + pid
                    + "; JDK 21 and later print a warning to the standard error of the program when an agent is"
                    + " attached dynamically\n");
            return Main.report(target.tell(options));
        } catch (IllegalArgumentException e) {
            return Main.complain("attach: " + e.getMessage() + ": see taskclock attach --help", Main.USAGE);
        } catch (Target.Failure e) {
            return Main.complain(e.getMessage(), e.exitCode);
        }
    }
}
