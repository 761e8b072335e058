// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import java.util.stream.Collectors;
import org.taskclock.monitor.JvmProcesses;
import org.taskclock.monitor.MonitorException;

/** Selects the JVM that a command-line argument refers to. */
final class JvmSelector {
    private static final int SAMPLE_MILLIS = 200;

    private JvmSelector() {}

    /**
     * Returns the process id of a JVM.
     *
     * @param pidOrName a process id, or part of a program's name
     * @param unique whether more than one match is an error; otherwise the busiest match is selected
     */
    static long select(String pidOrName, boolean unique) throws CommandException, InterruptedException {
        if (pidOrName.matches("[0-9]{1,10}")) return Long.parseLong(pidOrName);
        List<JvmProcesses.Jvm> matches = JvmProcesses.named(pidOrName);
        if (matches.isEmpty()) {
            throw new CommandException(
                    Main.NO_PROCESS, "no JVM has \"" + pidOrName + "\" in its name: " + list(JvmProcesses.all()));
        }
        if (unique && matches.size() > 1) {
            throw new CommandException(
                    Main.USAGE, "more than one JVM has \"" + pidOrName + "\" in its name: " + list(matches));
        }
        return JvmProcesses.busiest(matches, SAMPLE_MILLIS).pid();
    }

    /** Returns the process id of the busiest JVM, or -1 if there is none. */
    static long busiest() throws InterruptedException {
        JvmProcesses.Jvm jvm = JvmProcesses.busiest(JvmProcesses.all(), SAMPLE_MILLIS);
        return jvm == null ? -1 : jvm.pid();
    }

    private static String list(List<JvmProcesses.Jvm> jvms) {
        return jvms.isEmpty()
                ? "no JVM is running"
                : "running JVMs: "
                        + jvms.stream().map(j -> j.pid() + " " + j.name()).collect(Collectors.joining(", "));
    }

    /** Prints the error and returns the exit code for its reason. */
    static int fail(MonitorException e) {
        return Main.fail(
                e.getMessage(),
                switch (e.reason()) {
                    case GONE -> Main.NO_PROCESS;
                    case NOT_PERMITTED -> Main.NOT_PERMITTED;
                    case NOT_A_JVM -> Main.FAILED;
                });
    }
}
