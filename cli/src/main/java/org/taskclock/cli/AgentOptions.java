// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Option;

/** The options of the agent, as options of the command line. */
final class AgentOptions {
    enum Switch {
        on,
        off
    }

    enum YieldMode {
        pass,
        count,
        off
    }

    enum VirtualMode {
        spec,
        mxbean
    }

    enum BeanMode {
        on,
        read,
        off
    }

    @Option(
            names = "--threadmxbean",
            paramLabel = "MODE",
            description = "ThreadMXBean reads TaskClock: ${COMPLETION-CANDIDATES} (default: on).")
    private Switch threadmxbean;

    @Option(
            names = "--vthreads",
            paramLabel = "MODE",
            description = "CPU time of virtual threads, from JDK 21 on: ${COMPLETION-CANDIDATES} (default: on).")
    private Switch vthreads;

    @Option(
            names = "--virtual",
            paramLabel = "MODE",
            description = "What ThreadMXBean returns for virtual threads: ${COMPLETION-CANDIDATES} (default: spec,"
                    + " which is -1; mxbean: their CPU time).")
    private VirtualMode virtual;

    @Option(
            names = "--yield",
            paramLabel = "MODE",
            description = "Thread.yield in platform threads: ${COMPLETION-CANDIDATES} (default: pass; off makes it do"
                    + " nothing).")
    private YieldMode yield;

    @Option(
            names = "--virtual-yield",
            paramLabel = "MODE",
            description =
                    "Thread.yield in virtual threads: ${COMPLETION-CANDIDATES} (default: count if --yield is count,"
                            + " otherwise pass). With off, a thread that yields to wait for another may hang.")
    private YieldMode virtualYield;

    @Option(
            names = "--bean",
            paramLabel = "MODE",
            description = "TaskClock MXBean: ${COMPLETION-CANDIDATES} (default: on; read makes it read-only).")
    private BeanMode bean;

    @Option(
            names = "--jfr",
            paramLabel = "MODE",
            description = "Flight Recorder events: ${COMPLETION-CANDIDATES} (default: on).")
    private Switch jfr;

    @Option(
            names = "--summary",
            paramLabel = "DIR",
            description = "Write a summary to this directory, as the JVM sees it, when the JVM exits (default: none).")
    private String summary;

    /** Returns these options, after {@code text}, in the form that the agent takes: name=value,... */
    String appendTo(String text) {
        List<String> options = new ArrayList<>();
        if (!text.isBlank()) options.add(text);
        add(options, "threadmxbean", threadmxbean);
        add(options, "vthreads", vthreads);
        add(options, "virtual", virtual);
        add(options, "yield", yield);
        add(options, "virtual-yield", virtualYield);
        add(options, "bean", bean);
        add(options, "jfr", jfr);
        add(options, "summary", summary);
        return String.join(",", options);
    }

    private static void add(List<String> options, String name, Object value) {
        if (value != null) options.add(String.format(Locale.ROOT, "%s=%s", name, value));
    }
}
