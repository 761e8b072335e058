// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.Locale;
import java.util.Optional;

/**
 * The kinds of findings, with the texts that {@code top}, docs/alerts.md, and the alerting rules in deploy/prometheus
 * share.
 */
public enum FindingKind {
    YIELD_STORM(
            "Threads keep calling Thread.yield: they use CPU time to wait for something, most of it in the kernel.",
            "Find the call sites with taskclock yields PID, and replace the loop with something that blocks,"
                    + " such as a BlockingQueue or LockSupport.park."),
    CARRIER_MONOPOLIZED(
            "A virtual thread runs without blocking, so other virtual threads cannot use its carrier.",
            "Find the code with taskclock profile PID, and run long computations on platform threads."),
    LOCK_CONVOY(
            "Several threads wait for the same lock again and again.",
            "Find what the owner does while it holds the lock, and hold it for a shorter time, or split it."),
    THROTTLED(
            "The CPU limit of the container keeps its threads from running, although processors may be idle.",
            "Raise the limit, or reduce the number of threads that run at the same time, including those for garbage"
                    + " collection and compilation."),
    GC(
            "Garbage collection uses much of the JVM's CPU time.",
            "Compare the used heap with its maximum. Enlarge the heap if it is nearly full, and otherwise find out what"
                    + " allocates so much."),
    JIT(
            "Compilation uses much of the JVM's CPU time, which is normal only after it has started.",
            "If it goes on, check whether the code cache is full, and whether classes are generated all the time."),
    SYSTEM_HEAVY(
            "Threads spend most of their time in the kernel.",
            "Find the system calls with taskclock profile PID. Common reasons are small reads and writes, and many short"
                    + " waits."),
    SCHEDULING_HEAVY(
            "Scheduling virtual threads uses much of the carriers' CPU time.",
            "Find out with taskclock yields PID whether virtual threads call Thread.yield. If they do not, they block too"
                    + " often: let each do more work at a time."),
    POOL_DOMINATES(
            "One thread pool uses most of the CPU time on this host, while threads wait for a processor.",
            "Find out with taskclock profile PID what the pool does. Limit its number of threads if others are more"
                    + " important.");

    private final String id = name().toLowerCase(Locale.ROOT).replace('_', '-');
    private final String meaning;
    private final String action;

    FindingKind(String meaning, String action) {
        this.meaning = meaning;
        this.action = action;
    }

    /** Returns the kind of a finding; empty if a recording was written by a version that knows other kinds. */
    public static Optional<FindingKind> of(Finding finding) {
        for (FindingKind kind : values()) if (kind.id.equals(finding.kind())) return Optional.of(kind);
        return Optional.empty();
    }

    /** Returns the identifier for programs, as in {@link Finding#kind}. */
    public String id() {
        return id;
    }

    /** Returns what the finding means. */
    public String meaning() {
        return meaning;
    }

    /** Returns what to do about it. */
    public String action() {
        return action;
    }
}
