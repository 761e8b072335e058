// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.HashMap;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.finding.LockGraph;
import org.taskclock.monitor.usage.JavaStatus;
import org.taskclock.monitor.usage.ThreadUsage;

/** Adds the Java status of each thread to its usage. Keeps a short history of each thread from one dump to the next. */
final class JavaStatusTracker {
    /** The weight of the newest dump in the estimated shares of blocked and waiting time. */
    private static final double NEWEST_WEIGHT = 0.3;

    /** A thread's history. */
    private static final class History {
        final long javaId;
        final AllocationRate allocation = new AllocationRate();
        LockGraph.Wait wait;
        int ownerTid;
        String owner = "";
        double blockedShare = -1;
        double waitedShare = -1;
        /** False if the thread has run since the last dump, so that its state there is outdated. */
        boolean current;

        History(long javaId) {
            this.javaId = javaId;
        }
    }

    private Map<Integer, History> histories = new HashMap<>();

    /** Adds a dump that was taken at {@code nanos}. Forgets all threads that it does not contain. */
    void add(ThreadDump dump, LockGraph locks, long nanos) {
        Map<Integer, History> next = new HashMap<>();
        for (ThreadDump.Entry entry : dump.all()) {
            if (entry.javaId() == 0) continue;
            History history = histories.get(entry.tid());
            // The kernel reuses thread ids.
            if (history == null || history.javaId != entry.javaId()) history = new History(entry.javaId());
            update(history, entry, locks);
            history.allocation.add(entry.header(), nanos);
            next.put(entry.tid(), history);
        }
        histories = next;
    }

    private static void update(History history, ThreadDump.Entry entry, LockGraph locks) {
        history.wait = locks.of(entry.tid());
        history.current = true;
        ThreadDump.Entry owner =
                history.wait == null || !history.wait.contended() ? null : locks.ownerOf(history.wait.lockId());
        history.ownerTid = owner == null ? 0 : owner.tid();
        history.owner = owner == null ? "" : owner.name();
        if (history.wait == null || history.wait.state() == null) return;
        boolean blocked = history.wait.contended();
        history.blockedShare = average(history.blockedShare, blocked);
        history.waitedShare = average(history.waitedShare, !blocked && history.wait.state() != Thread.State.RUNNABLE);
    }

    private static double average(double before, boolean now) {
        double value = now ? 1 : 0;
        return before < 0 ? value : before + NEWEST_WEIGHT * (value - before);
    }

    /**
     * Adds the status to the usages of an interval.
     *
     * @param fresh whether the last dump was taken in this interval
     */
    void apply(List<ThreadUsage> usages, long intervalNanos, boolean fresh) {
        for (ListIterator<ThreadUsage> all = usages.listIterator(); all.hasNext(); ) {
            ThreadUsage usage = all.next();
            History history = usage.tid() == 0 ? null : histories.get(usage.tid());
            if (history == null || history.javaId != usage.javaId()) continue;
            boolean slept = usage.cpuNanos() == 0 && usage.voluntary() == 0 && usage.involuntary() == 0;
            if (!fresh && !slept) history.current = false;
            all.set(usage.change()
                    .java(status(history, usage, intervalNanos, slept))
                    .build());
        }
    }

    private static JavaStatus status(History history, ThreadUsage usage, long intervalNanos, boolean slept) {
        double rate = history.allocation.bytesPerSecond();
        long allocated = rate < 0 ? -1 : Math.round(rate * intervalNanos / 1e9);
        LockGraph.Wait wait = history.wait;
        if (!history.current || wait == null || wait.state() == null) return JavaStatus.UNKNOWN.with(-1, -1, allocated);
        // A thread that was not switched was in one state for the whole interval.
        double blockedShare = slept ? (wait.contended() ? 1 : 0) : history.blockedShare;
        double waitedShare =
                slept ? (wait.contended() || wait.state() == Thread.State.RUNNABLE ? 0 : 1) : history.waitedShare;
        long asleep = Math.max(0, intervalNanos - usage.cpuNanos() - Math.max(0, usage.waitNanos()));
        long blocked = Math.min(asleep, Math.round(blockedShare * intervalNanos));
        long waited = Math.min(asleep - blocked, Math.round(waitedShare * intervalNanos));
        return new JavaStatus(
                wait.state(),
                wait.lockClass(),
                wait.lockId(),
                wait.contended(),
                history.ownerTid,
                history.owner,
                blocked,
                waited,
                allocated);
    }
}
