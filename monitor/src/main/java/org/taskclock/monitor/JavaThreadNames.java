// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The full names of a JVM's threads, from thread dumps. A dump briefly stops the JVM. One is taken before the first
 * interval, and again when threads without an entry use CPU time, but rarely enough to cost the JVM little.
 */
final class JavaThreadNames implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = 4_000;
    private static final long SECOND = 1_000_000_000;
    /** The pause after a dump, for each thread in it: about 200 times what the dump costs the JVM. */
    private static final long PAUSE_NANOS_PER_THREAD = SECOND / 100;

    private static final long MIN_PAUSE_NANOS = 9 * SECOND / 10;
    private static final long RETRY_NANOS = 30 * SECOND;
    private static final String NOT_ALLOWED = "attaching is switched off";

    private final int pid;
    private final AttachClient jvm;
    private final boolean allowed;

    /** The last dump that {@link #resolve} used. */
    private ThreadDump resolved;
    /** A newer dump, possibly taken by the background thread. */
    private volatile ThreadDump fresh;

    private volatile boolean dumping;
    /** Why the last attempt failed; null if it succeeded. */
    private volatile String failure;

    private volatile long notBefore = System.nanoTime();

    /** Pools of threads that a dump showed carrying a virtual thread. */
    private final Set<String> carrierPools = new HashSet<>();

    private boolean virtualThreads;
    /** Whether the JVM may have virtual threads, judging by its version alone. */
    private final boolean mayHaveCarriers;

    JavaThreadNames(int pid, AttachClient jvm, boolean allowed) {
        this.pid = pid;
        int feature = JvmProcesses.featureOf(pid);
        mayHaveCarriers = feature == 0 || feature >= 21;
        this.allowed = allowed;
        this.jvm = jvm;
    }

    /** Takes a dump before the first reading, so that its cost is not part of the first interval. */
    void prime(List<String> notes) {
        if (allowed) tryDump();
        addNote(notes);
    }

    private void addNote(List<String> notes) {
        if (!allowed) notes.add("thread names are truncated to 15 characters: " + NOT_ALLOWED);
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

    /** Returns whether a dump is allowed now, considering its cost to the JVM. */
    boolean mayDump() {
        return allowed && !dumping && System.nanoTime() - notBefore >= 0;
    }

    /** Returns why there is no recent dump. */
    String reason() {
        if (!allowed) return NOT_ALLOWED;
        return failure != null ? failure : "stacks are sampled only occasionally";
    }

    ThreadDump dump() throws IOException {
        if (!allowed) throw new IOException(NOT_ALLOWED);
        ThreadDump dump;
        try {
            dump = ThreadDump.parse(jvm.execute(TIMEOUT_MILLIS, "threaddump"));
            failure = null;
        } catch (IOException e) {
            failure = e.getMessage();
            notBefore = System.nanoTime() + RETRY_NANOS;
            throw e;
        }
        notBefore = System.nanoTime() + Math.max(MIN_PAUSE_NANOS, dump.all().size() * PAUSE_NANOS_PER_THREAD);
        fresh = dump;
        return dump;
    }

    /** Assigns threads their entries in the newest dump, and starts a new dump if busy threads have none. */
    void resolve(Collection<TrackedThread> threads, List<String> notes) {
        ThreadDump dump = fresh;
        fresh = null;
        if (dump != null) {
            resolved = dump;
            for (ThreadDump.Entry entry : dump.all())
                if (entry.carriedId() != 0) carrierPools.add(ThreadNames.pool(entry.name()));
            virtualThreads |= dump.hasVirtualThreads();
        }
        boolean unresolved = false;
        for (TrackedThread thread : threads) {
            if (dump != null) {
                thread.entry = dump.of(thread.innerTid);
                thread.unknownToJvm = thread.entry == null;
            }
            if (thread.entry == null && !thread.unknownToJvm && thread.cpuNanos > 0) unresolved = true;
            String name = thread.entry == null ? thread.kernelName : thread.entry.name();
            thread.carrier = isCarrier(name);
        }
        if (unresolved && mayDump()) dumpInBackground();
        addNote(notes);
    }

    private boolean isCarrier(String name) {
        if (resolved == null) return mayHaveCarriers && ThreadNames.isCarrier(name);
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
        fresh = null;
    }
}
