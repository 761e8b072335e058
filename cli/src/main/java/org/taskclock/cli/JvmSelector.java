// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.taskclock.monitor.proc.JvmProcesses;
import org.taskclock.monitor.proc.MonitorException;

/** Selects the JVM to watch if the user does not name one, and reports JVMs that cannot be watched. */
final class JvmSelector {
    private static final int SAMPLE_MILLIS = 200;

    private JvmSelector() {}

    /** Returns the process id of the busiest JVM. */
    static long busiest() throws CommandException, InterruptedException {
        JvmProcesses.Jvm jvm = JvmProcesses.busiest(JvmProcesses.all(), SAMPLE_MILLIS);
        if (jvm != null) return jvm.pid();
        throw new CommandException(
                Main.NO_PROCESS, "no JVM is running: start one, or watch a demo program with taskclock top --demo");
    }

    /** Prints the error and returns the exit code for its reason. */
    static int fail(MonitorException e) {
        return Main.fail(
                e.getMessage(),
                switch (e.reason()) {
                    case GONE -> Main.NO_PROCESS;
                    case NOT_PERMITTED -> Main.NOT_PERMITTED;
                    case NOT_A_JVM, FAILED -> Main.FAILED;
                });
    }
}
