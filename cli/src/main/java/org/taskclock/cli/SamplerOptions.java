// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.taskclock.monitor.MonitorException;
import org.taskclock.monitor.Sampler;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The options shared by {@code check} and {@code record}: the JVM to sample, and how to sample it. */
final class SamplerOptions {
    @Parameters(index = "0", paramLabel = "PID|NAME", description = "Process id, or part of a program's name.")
    private String pidOrName;

    @Option(names = "--no-attach", description = "Do not attach to the JVM: names are truncated to 15 characters.")
    private boolean noAttach;

    boolean isAttachDisabled() {
        return noAttach;
    }

    /** Returns the process id of the only JVM that matches. */
    long selectPid() throws CommandException, InterruptedException {
        return JvmSelector.select(pidOrName, true);
    }

    Sampler open(long pid) throws MonitorException {
        return noAttach ? Sampler.withoutAttach(pid) : Sampler.of(pid);
    }
}
