// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.taskclock.internal.JdkVersions;
import picocli.CommandLine.Option;

/**
 * The options of the agent, as options of the command line. Those with the same label have the same values: the
 * completion script has one list of values for each label.
 */
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

    enum FoundAccounts {
        endpoint,
        topic,
        group,
        off
    }

    @Option(
            names = "--threadmxbean",
            paramLabel = "on|off",
            description = "Whether ThreadMXBean reads TaskClock (default: on).")
    private Switch threadmxbean;

    @Option(
            names = "--vthreads",
            paramLabel = "on|off",
            description = "Whether virtual threads are accounted for, from JDK " + JdkVersions.VIRTUAL_THREADS
                    + " on (default: on).")
    private Switch vthreads;

    @Option(
            names = "--virtual",
            paramLabel = "spec|mxbean",
            description = "What ThreadMXBean returns for virtual threads: -1, as specified, or their CPU time"
                    + " (default: spec).")
    private VirtualMode virtual;

    @Option(
            names = "--yield",
            paramLabel = "pass|count|off",
            description = "Pass on, count, or ignore Thread.yield in platform threads (default: pass).")
    private YieldMode yield;

    @Option(
            names = "--virtual-yield",
            paramLabel = "pass|count|off",
            description =
                    "Pass on, count, or ignore Thread.yield in virtual threads (default: count if --yield is count,"
                            + " otherwise pass). With off, a thread that yields to wait for another may hang.")
    private YieldMode virtualYield;

    @Option(
            names = "--bean",
            paramLabel = "on|read|off",
            description = "TaskClock MXBean: on, read-only, or off (default: on).")
    private BeanMode bean;

    @Option(
            names = "--rseq-take",
            paramLabel = "on|off",
            description = "Whether the clock may replace the C library's restartable-sequences areas, to read without"
                    + " system calls on Linux 7.0 and later (default: off; see how-it-works.md).")
    private Switch rseqTake;

    @Option(
            names = "--accounts",
            paramLabel = "endpoint|topic|group|off",
            split = "\\+",
            hideParamSyntax = true,
            description =
                    "Accounts to find in the program, or several joined by +: endpoints of servlets, Spring MVC, and"
                            + " gRPC; topics of Spring Kafka; groups of virtual threads by name (default: off).")
    private FoundAccounts[] accounts;

    @Option(names = "--jfr", paramLabel = "on|off", description = "Flight Recorder events (default: on).")
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
        add(options, "rseq-take", rseqTake);
        add(options, "accounts", accounts == null ? null : joined(accounts));
        add(options, "jfr", jfr);
        add(options, "summary", summary);
        return String.join(",", options);
    }

    private static String joined(FoundAccounts[] accounts) {
        return Stream.of(accounts).map(FoundAccounts::name).collect(Collectors.joining("+"));
    }

    private static void add(List<String> options, String name, Object value) {
        if (value != null) options.add(String.format(Locale.ROOT, "%s=%s", name, value));
    }
}
