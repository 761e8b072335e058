// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.Locale;

/** What uses CPU time: the purpose of a thread, or an account. */
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
    NATIVE,
    /**
     * Not a thread but a named account, such as a tenant, whose usage is also in that of the threads. Its pool is
     * {@link AccountKey#pool}.
     */
    ACCOUNT;

    /** The number of kinds of threads. */
    static final int THREADS = values().length - 1;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** Returns the name in lower case, which is the value of the attribute {@code taskclock.pool.kind}. */
    public String label() {
        return label;
    }
}
