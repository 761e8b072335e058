// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.taskclock.monitor.attach.TargetJvm;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
        name = "detach",
        description = {
            "Detach the agent from a JVM and restore the original behavior.",
            "Unused classes and two small native libraries remain loaded until the JVM exits."
        },
        footer = {"", "Exit codes: 0 success, 1 failure, 2 usage error, 4 no such process, 5 permission denied."})
final class DetachCommand implements Callable<Integer> {
    @Mixin
    private JvmOption jvm;

    @Override
    public Integer call() throws IOException, CommandException {
        return run(jvm.select());
    }

    static int run(long pid) throws IOException {
        return Main.printAgentState(TargetJvm.of(pid).configureAgent("detach"));
    }
}
