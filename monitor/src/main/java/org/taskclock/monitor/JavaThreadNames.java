// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.taskclock.metrics.ThreadNames;

/**
 * The full names of a JVM's threads, from thread dumps. A dump briefly stops the JVM. One is taken before the first
 * interval, and more when threads without an entry use CPU time, but rarely enough to cost the JVM little.
 */
final class JavaThreadNames implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = 4_000;
    private static final long NANOS_PER_SECOND = 1_000_000_000;
    /** The pause after a dump, for each thread in it: at least 200 times the cost to the JVM. */
    private static final long PAUSE_NANOS_PER_THREAD = NANOS_PER_SECOND / 100;

    private static final long MIN_PAUSE_NANOS = 9 * NANOS_PER_SECOND / 10;
    private static final long RETRY_NANOS = 30 * NANOS_PER_SECOND;
    /** Adds the bytes that each thread has allocated. */
    private static final String EXTENDED = "-e";

    private static final String NOT_ALLOWED = "attaching is switched off";

    private final int pid;
    private final AttachClient jvm;
    private final boolean attachAllowed;

    /** The last dump that {@link #resolve} used. */
    private ThreadDump resolved;
    /** The newest dump, which {@link #resolve} has not used yet; null if there is none. Any thread may take it. */
    private volatile ThreadDump unresolved;
    /** The newest dump; null if there is none. */
    private volatile ThreadDump newest;

    private volatile boolean dumping;
    /** The reason why the last attempt failed; null if it succeeded. */
    private volatile String failure;

    private volatile long notBefore = System.nanoTime();

    /** Pools of threads that a dump showed carrying a virtual thread. */
    private final Set<String> carrierPools = new HashSet<>();

    private boolean virtualThreads;
    /** False if the JVM's version does not have virtual threads. */
    private final boolean supportsVirtualThreads;

    JavaThreadNames(int pid, AttachClient jvm, boolean attachAllowed) {
        this.pid = pid;
        int feature = JvmProcesses.featureOf(pid);
        supportsVirtualThreads = feature == 0 || feature >= 21;
        this.attachAllowed = attachAllowed;
        this.jvm = jvm;
    }

    /** Takes a dump before the first reading, so that its cost is not part of the first interval. */
    void takeFirstDump(List<String> notes) {
        if (attachAllowed) tryDump();
        addNote(notes);
    }

    private void addNote(List<String> notes) {
        if (!attachAllowed) notes.add("thread names are truncated to 15 characters: " + NOT_ALLOWED);
        else if (failure != null)
            notes.add("thread names are truncated to 15 characters: process " + pid + ": " + failure);
    }

    private void tryDump() {
        try {
            dump();
        } catch (IOException e) {
            // addNote reports the failure.
        }
    }

    /** Returns whether a dump may be taken now, considering its cost to the JVM. */
    boolean mayDump() {
        return attachAllowed && !dumping && System.nanoTime() - notBefore >= 0;
    }

    boolean canAttach() {
        return attachAllowed && failure == null;
    }

    /** Returns why there is no recent dump. */
    String reason() {
        if (!attachAllowed) return NOT_ALLOWED;
        return failure != null ? failure : "stacks are sampled only occasionally";
    }

    /** Returns the newest dump, which may be old; null if there is none. */
    ThreadDump newest() {
        return newest;
    }

    ThreadDump dump() throws IOException {
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
        unresolved = dump;
        newest = dump;
        return dump;
    }

    /** Assigns threads their entries in the newest dump, and starts a new dump if busy threads have none. */
    void resolve(Collection<TrackedThread> threads, List<String> notes) {
        ThreadDump dump = unresolved;
        unresolved = null;
        if (dump != null) {
            resolved = dump;
            for (ThreadDump.Entry entry : dump.all())
                if (entry.carriedId() != 0) carrierPools.add(ThreadNames.pool(entry.name()));
            virtualThreads |= dump.hasVirtualThreads();
        }
        boolean namesMissing = false;
        for (TrackedThread thread : threads) {
            if (dump != null) {
                thread.entry = dump.of(thread.innerTid);
                thread.unknownToJvm = thread.entry == null && dump.covers(thread.createdAt);
            }
            if (thread.entry == null && !thread.unknownToJvm && thread.cpuNanos > 0) namesMissing = true;
            String name = thread.entry == null ? thread.kernelName : thread.entry.name();
            thread.carrier = isCarrier(name);
        }
        if (namesMissing && mayDump()) dumpInBackground();
        addNote(notes);
    }

    private boolean isCarrier(String name) {
        if (resolved == null) return supportsVirtualThreads && ThreadNames.isCarrier(name);
        return carrierPools.contains(ThreadNames.pool(name)) || (virtualThreads && ThreadNames.isCarrier(name));
    }

    private void dumpInBackground() {
        dumping = true;
        Thread thread = new Thread(
                () -> {
                    try {
                        tryDump();
                    } finally {
                        dumping = false;
                    }
                },
                "taskclock-names");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() {
        unresolved = null;
    }
}
