// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.Locale;

/** The purpose of a thread. */
public enum ThreadKind {
    /** A platform thread of the program. */
    JAVA,
    /** A platform thread that carries virtual threads. */
    CARRIER,
    /** Virtual threads. Only the agent knows their CPU time. */
    VIRTUAL,
    /** A garbage collection thread of the JVM. */
    GC,
    /** A compiler thread of the JVM. */
    JIT,
    /** Any other thread of the JVM. */
    VM,
    /** A thread that, as far as known, belongs to neither Java nor the JVM. */
    NATIVE;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** Returns the name in lower case, which is the value of the attribute {@code jvm.thread.kind}. */
    public String label() {
        return label;
    }
}
