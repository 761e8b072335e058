// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.List;
import java.util.stream.Collectors;
import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.JvmProcesses.Jvm;

/**
 * What the user typed to select a JVM.
 *
 * @param text a process id, part of a program's name, or part of a command line
 * @param byCommand whether it is part of a command line
 */
record JvmQuery(String text, boolean byCommand) {
    private static final int SAMPLE_MILLIS = 200;

    /** Returns the query for an argument PID|NAME. */
    static JvmQuery of(String pidOrName) {
        return new JvmQuery(pidOrName, false);
    }

    /** Returns the process id of the busiest JVM. */
    static long busiest() throws CommandException, InterruptedException {
        Jvm jvm = JvmProcesses.busiest(JvmProcesses.all(), SAMPLE_MILLIS);
        if (jvm != null) return jvm.pid();
        throw new CommandException(
                Main.NO_PROCESS, "no JVM is running: start one, or watch a demo program with taskclock top --demo");
    }

    private boolean isPid() {
        return !byCommand && text.matches("[0-9]{1,10}");
    }

    /** Returns the JVMs that match a text that is not a process id. */
    List<Jvm> matches() {
        return byCommand ? JvmProcesses.withCommand(text) : JvmProcesses.named(text);
    }

    /** Returns whether the user has to choose between several JVMs. */
    boolean isAmbiguous() {
        return !isPid() && matches().size() > 1;
    }

    /** Returns the process id, or that of the only JVM that matches. */
    long select() throws CommandException {
        if (isPid()) return Long.parseLong(text);
        List<Jvm> matches = matches();
        if (matches.size() == 1) return matches.get(0).pid();
        if (!matches.isEmpty()) {
            throw new CommandException(
                    Main.USAGE,
                    '"' + text + "\" matches " + matches.size() + " JVMs: " + list(matches)
                            + ": specify a process id"
                            + (byCommand ? "" : ", or part of the command line with --match"));
        }
        List<Jvm> all = JvmProcesses.all();
        throw new CommandException(
                Main.NO_PROCESS,
                "no JVM has \"" + text + "\" in its " + (byCommand ? "command line: " : "name: ")
                        + (all.isEmpty() ? "no JVM is running" : "running JVMs: " + list(all)));
    }

    private static String list(List<Jvm> jvms) {
        return jvms.stream()
                .map(jvm -> jvm.pid() + " " + CellFormat.sanitize(jvm.name()) + " (" + jvm.user() + ")")
                .collect(Collectors.joining(", "));
    }
}
