// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.sampling.Sampler;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options shared by {@code check} and {@code record}: the JVM to sample, and how to sample it. */
final class SamplerOptions {
    @Mixin
    private JvmOption jvm;

    @Option(names = "--no-attach", description = "Do not attach to the JVM: names are truncated to 15 characters.")
    private boolean noAttach;

    boolean isAttachDisabled() {
        return noAttach;
    }

    JvmOption jvm() {
        return jvm;
    }

    Sampler open(long pid) throws MonitorException {
        return noAttach ? Sampler.withoutAttach(pid) : Sampler.of(pid);
    }
}
