// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import java.io.IOException;
import org.taskclock.monitor.usage.DaemonThread;

/**
 * Takes thread dumps of a JVM. A dump briefly stops the JVM, so {@link #mayDump} allows one rarely enough to cost the
 * JVM little. Thread-safe.
 */
public final class ThreadDumps {
    private static final long TIMEOUT_MILLIS = 4_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    /** The pause after a dump, for each thread in it: at least 200 times the cost to the JVM. */
    private static final long PAUSE_NANOS_PER_THREAD = NANOS_PER_SECOND / 100;

    private static final long MIN_PAUSE_NANOS = 9 * NANOS_PER_SECOND / 10;
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;
    /** Adds the bytes that each thread has allocated. */
    private static final String EXTENDED = "-e";

    private static final String NOT_ALLOWED = "attaching is switched off";

    private final AttachClient jvm;
    private final boolean attachAllowed;

    /** The newest dump; null if there is none. */
    private volatile ThreadDump newest;

    private volatile boolean dumping;
    /** The reason why the last attempt failed; null if it succeeded. */
    private volatile String failure;

    private volatile long notBefore = System.nanoTime();

    public ThreadDumps(AttachClient jvm, boolean attachAllowed) {
        this.jvm = jvm;
        this.attachAllowed = attachAllowed;
    }

    public boolean isAllowed() {
        return attachAllowed;
    }

    /** Returns whether a dump may be taken now, considering its cost to the JVM. */
    public boolean mayDump() {
        return attachAllowed && !dumping && System.nanoTime() - notBefore >= 0;
    }

    /** Returns whether attaching is allowed and worked the last time. */
    public boolean canAttach() {
        return attachAllowed && failure == null;
    }

    /** Returns why no dump can be taken; null if attaching is allowed and worked the last time. */
    public String failure() {
        return attachAllowed ? failure : NOT_ALLOWED;
    }

    /** Returns the newest dump, which may be old; null if there is none. */
    public ThreadDump newest() {
        return newest;
    }

    public ThreadDump dump() throws IOException {
        if (!attachAllowed) throw new IOException(NOT_ALLOWED);
        ThreadDump dump;
        try {
            dump = jvm.threadDump(TIMEOUT_MILLIS, tid -> true, true, EXTENDED);
            failure = null;
        } catch (IOException e) {
            failure = e.getMessage();
            notBefore = System.nanoTime() + RETRY_NANOS;
            throw e;
        }
        notBefore = System.nanoTime() + Math.max(MIN_PAUSE_NANOS, dump.all().size() * PAUSE_NANOS_PER_THREAD);
        newest = dump;
        return dump;
    }

    /** Takes a dump if attaching is allowed. {@link #failure} has the reason if that fails. */
    public void tryDump() {
        if (!attachAllowed) return;
        try {
            dump();
        } catch (IOException e) {
            // The failure was kept.
        }
    }

    public void dumpInBackground() {
        dumping = true;
        Thread thread = new DaemonThread(
                () -> {
                    try {
                        tryDump();
                    } finally {
                        dumping = false;
                    }
                },
                "taskclock-names");
        thread.start();
    }
}
