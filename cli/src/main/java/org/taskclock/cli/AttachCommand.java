// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.Map;
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
            "The JVM's ThreadMXBean then reads TaskClock."
        },
        footer = {
            "",
            "Agent options, comma-separated (the first value is the default):",
            "  threadmxbean=on|off           ThreadMXBean reads TaskClock",
            "  vthreads=on|off               CPU time of virtual threads (JDK 21 and later)",
            "  virtual=spec|mxbean           mxbean: ThreadMXBean supports virtual threads",
            "  yield=pass|count|off          Thread.yield in platform threads (off: no-op)",
            "  virtual-yield=pass|count|off  the same in virtual threads; with off, a thread",
            "                                that yields to wait for another may hang",
            "  bean=on|read|off              TaskClock MXBean; read makes it read-only",
            "  jfr=on|off                    JFR events",
            "",
            "Example: taskclock attach 4711 yield=count",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process, 5 permission denied."
        })
final class AttachCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "PID", description = "Process id of the JVM (see jcmd).")
    private long pid;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "OPTIONS",
            defaultValue = "",
            description = "Agent options (see below).")
    private String options;

    @Option(names = "--dry-run", description = "List the changes to the JVM without making them.")
    private boolean dryRun;

    @Override
    public Integer call() throws IOException {
        return run(pid, options, dryRun);
    }

    static int run(long pid, String options, boolean dryRun) throws IOException {
        try {
            if (options.trim().equals("detach")) {
                throw new CommandException(Main.USAGE, "attach: detach is not an option: run taskclock detach " + pid);
            }
            if (dryRun) {
                Map<String, String> parsed = AttachPlan.parse(options);
                int feature = TargetJvm.of(pid).feature();
                Main.print(AttachPlan.of(pid, feature, parsed).text());
                return Main.OK;
            }
            TargetJvm target = TargetJvm.of(pid);
            Main.print("attaching to " + pid
                    + "; JDK 21 and later print a warning to the JVM's standard error when an agent is attached"
                    + " dynamically\n");
            return Main.printAgentState(target.configureAgent(options));
        } catch (IllegalArgumentException e) {
            return Main.fail("attach: " + e.getMessage() + ": see taskclock attach --help", Main.USAGE);
        } catch (CommandException e) {
            return Main.fail(e.getMessage(), e.exitCode);
        }
    }
}
