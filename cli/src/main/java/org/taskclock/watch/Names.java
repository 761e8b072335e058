// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The names that a JVM gives its threads. It is asked for them by a thread dump, for which it stops for a moment: before the first
 * interval, and again when threads that it was not asked for use CPU time, but seldom enough to cost it little.
 */
final class Names implements AutoCloseable {
    private static final long TIMEOUT_MILLIS = 4_000;
    private static final long SECOND = 1_000_000_000;
    /** Between dumps, for each thread: some 200 times what it takes the JVM. */
    private static final long NANOS_A_THREAD = SECOND / 100;

    private static final long RETRY_NANOS = 30 * SECOND;

    private final int pid;
    private final JvmSocket socket;
    private final boolean allowed;

    private ThreadDump last;
    /** Taken behind the watching thread's back. */
    private volatile ThreadDump fresh;

    private volatile boolean asking;
    private volatile String refusal;
    private volatile long notBefore = System.nanoTime();

    /** What carriers' names are, as found from one that carried. */
    private final Set<String> carrierPools = new HashSet<>();

    private boolean virtualThreads;
    /** As far as is known without asking. */
    private final boolean mayCarry;

    Names(int pid, int innerPid, boolean allowed) {
        this.pid = pid;
        int feature = Jvms.featureOf(pid);
        mayCarry = feature == 0 || feature >= 21;
        this.allowed = allowed;
        socket = new JvmSocket(pid, innerPid);
    }

    /** Before the first reading, so that the first interval is free of what it costs. */
    void prime(List<String> notes) {
        if (allowed) ask();
        tell(notes);
    }

    private void tell(List<String> notes) {
        if (!allowed) notes.add("names are the kernel's, of 15 characters: attaching is switched off");
        else if (refusal != null)
            notes.add("names are the kernel's, of 15 characters: process " + pid + ": " + refusal);
    }

    private void ask() {
        try {
            dump();
        } catch (IOException e) {
            // It is told in the notes.
        }
    }

    /** Whether another dump would not cost the JVM too much. */
    boolean mayAsk() {
        return allowed && !asking && System.nanoTime() - notBefore >= 0;
    }

    /** Why a stack was not looked at. */
    String why() {
        if (!allowed) return "attaching is switched off";
        return refusal != null ? refusal : "that is done only so often";
    }

    ThreadDump dump() throws IOException {
        if (!allowed) throw new IOException("attaching is switched off");
        ThreadDump dump;
        try {
            dump = ThreadDump.parse(socket.ask(TIMEOUT_MILLIS, "threaddump"));
            refusal = null;
        } catch (IOException e) {
            refusal = e.getMessage();
            notBefore = System.nanoTime() + RETRY_NANOS;
            throw e;
        }
        notBefore = System.nanoTime() + Math.max(9 * SECOND / 10, dump.all().size() * NANOS_A_THREAD);
        fresh = dump;
        return dump;
    }

    /** Gives the threads their names. */
    void resolve(Collection<Watched> threads, List<String> notes) {
        ThreadDump dump = fresh;
        fresh = null;
        boolean unknown = false;
        if (dump != null) {
            last = dump;
            for (ThreadDump.Entry entry : dump.all())
                if (entry.carrying() != 0) carrierPools.add(ThreadNames.pool(entry.name()));
            virtualThreads |= dump.hasVirtualThreads();
        }
        for (Watched thread : threads) {
            if (dump != null) {
                thread.entry = dump.of(thread.innerTid);
                thread.unknownToJvm = thread.entry == null;
            }
            if (thread.entry == null && !thread.unknownToJvm && thread.cpuNanos > 0) unknown = true;
            String name = thread.entry == null ? thread.kernelName : thread.entry.name();
            thread.carrier = isCarrier(name);
        }
        if (unknown && mayAsk()) askInBackground();
        tell(notes);
    }

    private boolean isCarrier(String name) {
        if (last == null) return mayCarry && ThreadNames.isCarrier(name);
        return carrierPools.contains(ThreadNames.pool(name)) || (virtualThreads && ThreadNames.isCarrier(name));
    }

    private void askInBackground() {
        asking = true;
        Thread thread = new Thread(
                () -> {
                    try {
                        ask();
                    } finally {
                        asking = false;
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
