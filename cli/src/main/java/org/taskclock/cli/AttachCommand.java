// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.taskclock.internal.JdkVersions;
import org.taskclock.monitor.attach.TargetJvm;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "attach",
        description = {
            "Attach the agent to a running JVM, or change its options.",
            "The JVM's ThreadMXBean then reads TaskClock."
        },
        footer = {
            "",
            "The defaults apply when the agent is loaded. If it is already loaded, options that are omitted keep their"
                    + " values.",
            "",
            "Examples:",
            "  taskclock attach 4711",
            "  taskclock attach orders --yield count --bean read",
            "  taskclock attach 4711 yield=count,bean=read  the same as OPTIONS",
            "",
            "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process, 5 permission denied."
        })
final class AttachCommand implements Callable<Integer> {
    @Mixin
    private JvmOption jvm;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "OPTIONS",
            description =
                    "Options in the form that -javaagent takes: name=value, separated by commas. The names are those"
                            + " of the options below.")
    private String text;

    @Mixin
    private AgentOptions options;

    @Option(names = "--dry-run", description = "List the changes to the JVM without making them.")
    private boolean dryRun;

    @Override
    public Integer call() throws IOException, CommandException {
        List<String> texts = jvm.arguments(text == null ? List.of() : List.of(text));
        if (texts.size() > 1) throw new CommandException(Main.USAGE, "attach: unexpected argument: " + texts.get(1));
        return run(jvm.selectBeforeArguments(), options.appendTo(texts.isEmpty() ? "" : texts.get(0)), dryRun);
    }

    static int run(long pid, String options, boolean dryRun) throws IOException, CommandException {
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
                    + "; JDK " + JdkVersions.ATTACH_WARNING
                    + " and later print a warning to the JVM's standard error when an agent is attached"
                    + " dynamically\n");
            return Main.printAgentState(target.configureAgent(options));
        } catch (IllegalArgumentException e) {
            return Main.fail("attach: " + e.getMessage() + ": see taskclock attach --help", Main.USAGE);
        }
    }
}
