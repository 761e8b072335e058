// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.taskclock.PoolName;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.attach.ThreadDumps;
import org.taskclock.monitor.proc.JvmProcesses;

/**
 * The full names of a JVM's threads, from thread dumps. One is taken before the first interval, and more when threads
 * without an entry use CPU time.
 */
final class JavaThreadNames {
    private final int pid;
    private final ThreadDumps dumps;

    /** The last dump that {@link #resolve} used. */
    private ThreadDump resolved;

    /** Pools of threads that a dump showed carrying a virtual thread. */
    private final Set<String> carrierPools = new HashSet<>();

    private boolean virtualThreads;
    /** False if the JVM's version does not have virtual threads. */
    private final boolean supportsVirtualThreads;

    JavaThreadNames(int pid, ThreadDumps dumps) {
        this.pid = pid;
        this.dumps = dumps;
        int feature = JvmProcesses.featureOf(pid);
        supportsVirtualThreads = feature == 0 || feature >= 21;
    }

    /** Takes a dump before the first reading, so that its cost is not part of the first interval. */
    void takeFirstDump(List<String> notes) {
        dumps.tryDump();
        addNote(notes);
    }

    private void addNote(List<String> notes) {
        String failure = dumps.failure();
        if (failure == null) return;
        String process = dumps.isAllowed() ? "process " + pid + ": " : "";
        notes.add("thread names are truncated to 15 characters: " + process + failure);
    }

    /** Assigns threads their entries in the newest dump, and starts a new dump if busy threads have none. */
    void resolve(Collection<TrackedThread> threads, List<String> notes) {
        ThreadDump newest = dumps.newest();
        ThreadDump dump = newest == resolved ? null : newest;
        if (dump != null) {
            resolved = dump;
            for (ThreadDump.Entry entry : dump.all())
                if (entry.carriedId() != 0) carrierPools.add(PoolName.of(entry.name()));
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
        if (namesMissing && dumps.mayDump()) dumps.dumpInBackground();
        addNote(notes);
    }

    private boolean isCarrier(String name) {
        if (resolved == null) return supportsVirtualThreads && ThreadNames.isCarrier(name);
        return carrierPools.contains(PoolName.of(name)) || (virtualThreads && ThreadNames.isCarrier(name));
    }
}
