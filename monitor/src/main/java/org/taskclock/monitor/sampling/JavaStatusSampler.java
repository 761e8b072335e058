// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.io.IOException;
import java.util.List;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.attach.ThreadDumps;
import org.taskclock.monitor.finding.CommonPool;
import org.taskclock.monitor.finding.LockConvoys;
import org.taskclock.monitor.finding.LockGraph;
import org.taskclock.monitor.proc.HeapMonitor;
import org.taskclock.monitor.usage.ThreadUsage;

/**
 * Takes thread dumps for the Java states and the locks of threads: as often as {@link ThreadDumps} allows while these
 * are displayed or threads wait for a lock, and rarely otherwise, to find such locks.
 */
final class JavaStatusSampler {
    private static final long SECOND = 1_000_000_000;
    /** The pause between dumps if nothing calls for one. */
    private static final long MAX_PAUSE_NANOS = 15 * SECOND;

    private static final long MAX_PAUSE_NANOS_PER_THREAD = SECOND / 10;

    private static final long MIN_PAUSE_NANOS = 2 * SECOND;
    /** Contended attempts to enter a monitor that call for a dump. */
    private static final long SUSPICIOUS_ATTEMPTS = 3;

    private final ThreadDumps dumps;
    private final JavaStatusTracker tracker = new JavaStatusTracker();
    private final LockConvoys convoys = new LockConvoys();
    private final CommonPool commonPool = new CommonPool();

    private boolean watching;
    private ThreadDump last;
    private boolean fresh;
    private long attempts = -1;
    /** The pause before a dump while contention is possible. It grows while the dumps show none. */
    private long pauseNanos = MIN_PAUSE_NANOS;

    JavaStatusSampler(ThreadDumps dumps) {
        this.dumps = dumps;
    }

    /** Sets whether states are displayed. */
    void watch(boolean on) {
        watching = on;
    }

    /**
     * Takes a dump if one is due, or uses one that was taken for another purpose.
     *
     * @param contendedAttempts as {@link HeapMonitor#contendedLockAttempts} returns it
     * @param parallelism of the common pool
     */
    void sample(long contendedAttempts, int parallelism) {
        fresh = false;
        // The JVM may refuse dumps for a long time.
        if (last != null) {
            convoys.forgetBefore(System.nanoTime() - maxPauseNanos());
            commonPool.forgetBefore(System.nanoTime() - maxPauseNanos());
        }
        if (isDue(contendedAttempts) && dumps.mayDump()) {
            try {
                dumps.dump();
            } catch (IOException e) {
                // The states stay unknown; Sampler adds a note.
            }
        }
        ThreadDump dump = dumps.newest();
        if (dump == null || dump == last) return;
        last = dump;
        fresh = true;
        attempts = contendedAttempts;
        LockGraph locks = LockGraph.of(dump);
        tracker.add(dump, locks, dump.takenAt());
        convoys.add(locks, dump.takenAt());
        commonPool.add(dump, locks, dump.takenAt(), parallelism);
        pauseNanos = isSuspicious() ? MIN_PAUSE_NANOS : Math.min(MAX_PAUSE_NANOS, 2 * pauseNanos);
    }

    private boolean isDue(long contendedAttempts) {
        if (watching || isSuspicious() || last == null) return true;
        long age = System.nanoTime() - last.takenAt();
        boolean suspicious = attempts >= 0 && contendedAttempts - attempts >= SUSPICIOUS_ATTEMPTS;
        // The JVM does not count attempts to acquire other locks, and JDK 25 counts none. The first dumps follow soon.
        return age >= (suspicious || pauseNanos < MAX_PAUSE_NANOS ? pauseNanos : maxPauseNanos());
    }

    private boolean isSuspicious() {
        return convoys.isContended() || commonPool.isSuspicious();
    }

    private long maxPauseNanos() {
        return Math.max(MAX_PAUSE_NANOS, last.all().size() * MAX_PAUSE_NANOS_PER_THREAD);
    }

    /** Adds the Java status to the threads of an interval. */
    void apply(List<ThreadUsage> usages, long intervalNanos) {
        tracker.apply(usages, intervalNanos, fresh);
    }

    LockConvoys convoys() {
        return convoys;
    }

    CommonPool commonPool() {
        return commonPool;
    }
}
