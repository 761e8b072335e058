// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.hostile;

import java.util.Arrays;
import java.util.Locale;

/** What a hostile JVM does. The name on the command line is in lower case, with hyphens. */
public enum Scenario {
    /** The file "release" of its JDK is a pipe, on which opening waits. */
    FIFO_RELEASE,
    /** The file "release" of its JDK is a link to /dev/zero. */
    ENDLESS_RELEASE,
    /** The file "release" of its JDK has a size of 1 TB. */
    HUGE_RELEASE,
    /** The /tmp of its mount namespace is an absolute link, which leads to another directory outside. */
    LINKS,
    /** Its attach socket belongs to another user. */
    FORGED_SOCKET,
    /** Its attach socket is a link. */
    LINKED_SOCKET,
    /** An agent's report with values near 2^63. */
    FORGED_REPORT,
    /** An agent's report with negative values. */
    NEGATIVE_REPORT,
    /** An agent's report with NaN and infinity. */
    NAN_REPORT,
    /** Accepts connections of attaching tools, and never answers. */
    HUNG_ATTACH,
    /** Answers to attach requests without end, as fast as it can. */
    ENDLESS_REPLY,
    /** Answers to attach requests with a byte a second. */
    SLOW_REPLY,
    /** A thread dump of 300 MB. */
    DUMP_BOMB,
    /** A thread dump of 16 MB, each entry of which has a character that makes its text twice as large in memory. */
    WIDE_DUMP,
    /** Another user has created the file that requests the attach listener. */
    FOREIGN_ATTACH_FILE,
    /** Stopped by SIGSTOP, so that it answers nothing. */
    STOPPED,
    /** Names of threads with 100,000 characters, and a command line and a service name with 120,000. */
    HUGE_NAMES,
    /** Names of threads with quotes, line breaks, escape sequences, and unpaired surrogates. */
    HOSTILE_NAMES,
    /** Java threads that use CPU time under names that start like those of garbage collectors. */
    GC_NAMES,
    /** 200 new thread pools a second. */
    MANY_POOLS,
    /** As many threads as possible that start and end, up to a number per second. */
    THREAD_STORM,
    /** The file of its performance data is a pipe. */
    FIFO_HSPERFDATA,
    /** The file of its performance data is a link to another file. */
    LINKED_HSPERFDATA,
    /** The file of its performance data contains random bytes. */
    RANDOM_HSPERFDATA,
    /** Processes that use CPU time and end, each with the process id of the one before. */
    PID_REUSE,
    /** Not hostile: uses a steady part of a processor, in threads with long names. */
    HONEST;

    /** Returns all scenarios except {@link #HONEST}. */
    public static Scenario[] hostile() {
        return Arrays.stream(values()).filter(scenario -> scenario != HONEST).toArray(Scenario[]::new);
    }

    /** Returns the scenario with a name, such as fifo-release. */
    public static Scenario of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Returns whether only root can do this. */
    public boolean needsRoot() {
        return this == LINKS
                || this == FORGED_SOCKET
                || this == FOREIGN_ATTACH_FILE
                || this == PID_REUSE
                || replacesPerformanceData();
    }

    /** Returns whether the reports of its agent are impossible. */
    boolean forgesReports() {
        return name().endsWith("_REPORT");
    }

    /** Returns whether this needs a /tmp of its own: any JVM opens all these files of its user when it starts. */
    boolean replacesPerformanceData() {
        return name().endsWith("_HSPERFDATA");
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
