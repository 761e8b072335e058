// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import java.nio.ByteBuffer;
import org.taskclock.ProcStat;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.proc.ModifiedUtf8;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.proc.ProcText;
import org.taskclock.monitor.usage.ThreadUsage;

/** A thread of a JVM, with its last readings and the usage counted so far. */
final class PooledThread {
    private static final byte[] NSPID = ProcText.key("NSpid");
    private static final byte[] VOLUNTARY = ProcText.key("voluntary_ctxt_switches");
    private static final byte[] INVOLUNTARY = ProcText.key("nonvoluntary_ctxt_switches");

    /** A thread that uses this much CPU time in a second is read in each sample. */
    private static final long ACTIVE_NANOS = 1_000_000;

    /** After this many samples without CPU usage, a thread is no longer read in each sample. */
    private static final int ACTIVE_SAMPLES = 5;

    /**
     * Switches, name, and ticks are read only after a thread has used this much CPU time, because reading them takes 10
     * us.
     */
    private static final long DETAIL_NANOS = 1_000_000;

    /** They are also read if the thread runs and they were last read this many readings ago. */
    private static final int DETAIL_READINGS = 20;

    final int tid;
    /** The System.nanoTime at which the thread was found. */
    final long createdAt = System.nanoTime();

    private final PoolSamplers shared;
    private final String path;

    /** Open while the thread runs often; otherwise null. */
    private ProcFile schedstat;

    private int activeSamples = ACTIVE_SAMPLES;

    /** The thread's id in the JVM's pid namespace. */
    int innerTid;

    /** The kernel's name. */
    String kernelName = "";
    /** The name in the last thread dump; null if there is none. */
    String javaName;
    /** What the dumps during the thread's life show; {@code UNKNOWN} before the first dump. */
    ThreadNames.Owner owner = ThreadNames.Owner.UNKNOWN;

    SampledPool pool;

    /** CPU time since the thread started, as of the last reading. */
    long totalNanos;

    private long totalWaitNanos = -1;

    /** The part that has been added to pools or is excluded. */
    private long countedNanos;

    private long countedUserNanos;
    private long countedWaitNanos;
    private long countedVoluntary;
    private long countedInvoluntary;

    // The usage counted since the last call of takeRecent.
    private long recentNanos;
    private long recentUserNanos;
    private long recentWaitNanos = -1;
    private long recentVoluntary = -1;
    private long recentInvoluntary = -1;

    /** CPU time and number of the reading when the details were read. */
    private long detailNanos = -1;

    private long detailReading;

    /** The number of the last list of threads that contained this one. */
    long lastSeen;

    PooledThread(int pid, int tid, PoolSamplers shared) {
        this.tid = tid;
        this.shared = shared;
        innerTid = tid;
        path = "/proc/" + pid + "/task/" + tid;
    }

    /**
     * Takes the first reading.
     *
     * @param fromStart whether what the thread has used so far counts
     * @param inNamespace whether the JVM may have a pid namespace of its own
     * @return false if the thread has ended
     */
    boolean start(boolean fromStart, boolean inNamespace, boolean precise, long reading) {
        if (!read(precise)) return false;
        ProcStat stat = readStat();
        if (stat == null) return false;
        detailReading = reading;
        if (inNamespace || !fromStart) {
            int length = shared.readOnce(path + "/status");
            if (length > 0) {
                long inner = ProcText.lastInLine(shared.text, length, NSPID);
                if (inner > 0) innerTid = (int) inner;
                if (!fromStart) {
                    countedVoluntary = Math.max(0, ProcText.field(shared.text, length, VOLUNTARY));
                    countedInvoluntary = Math.max(0, ProcText.field(shared.text, length, INVOLUNTARY));
                }
            }
        }
        if (!fromStart) {
            countedNanos = totalNanos;
            countedUserNanos = userNanos(stat);
            countedWaitNanos = Math.max(0, totalWaitNanos);
            detailNanos = totalNanos;
        }
        return true;
    }

    boolean isActive() {
        return activeSamples > 0;
    }

    /** Reads the CPU time, and decides whether the thread is read in each sample. Returns false if it has ended. */
    boolean sample(boolean precise) {
        long before = totalNanos;
        if (!read(precise)) return false;
        if (totalNanos - before >= ACTIVE_NANOS) {
            activeSamples = ACTIVE_SAMPLES;
        } else if (activeSamples > 0 && --activeSamples == 0) {
            close();
        }
        return true;
    }

    private boolean read(boolean precise) {
        long total;
        long wait = -1;
        if (precise) {
            ByteBuffer read;
            if (isActive()) {
                if (schedstat == null) schedstat = new ProcFile(path + "/schedstat", shared.files);
                read = schedstat.read();
            } else {
                int length = shared.readOnce(path + "/schedstat");
                read = length <= 0 ? null : shared.view(length);
            }
            if (read == null) return false;
            total = ProcText.number(read);
            wait = ProcText.number(read);
        } else {
            ProcStat stat = readStat();
            total = stat == null ? -1 : stat.userNanos() + stat.systemNanos();
        }
        // If it is less than before, the id now belongs to another thread.
        if (total < totalNanos) return false;
        totalNanos = total;
        totalWaitNanos = wait;
        return true;
    }

    /** Returns whether the thread has uncounted usage. */
    boolean hasUncounted() {
        return totalNanos != countedNanos;
    }

    /** Returns whether the name and the split into user and system time must be read before counting. */
    boolean needsDetails(long reading) {
        return detailNanos < 0
                || totalNanos - detailNanos >= DETAIL_NANOS
                || reading - detailReading >= DETAIL_READINGS;
    }

    /** Returns the thread's stat file, with the current name; null if the thread has ended. */
    ProcStat readStat() {
        int length = shared.readOnce(path + "/stat");
        if (length <= 0) return null;
        ProcStat stat = ProcStat.parse(shared.text, length);
        String name = stat.name();
        // The main thread gets this name when main returns.
        if (name.equals("DestroyJavaVM") && !kernelName.isEmpty()) return stat;
        if (!name.equals(kernelName)) {
            name = ModifiedUtf8.threadName(name, shared.text, length);
            if (!name.equals(kernelName)) {
                kernelName = name;
                javaName = null;
                owner = ThreadNames.Owner.UNKNOWN;
                pool = null;
            }
        }
        return stat;
    }

    /**
     * Adds the uncounted usage to the pool.
     *
     * @param stat null if it was not read; the previous split into user and system time is then used
     */
    void count(ProcStat stat, long reading) {
        long more = totalNanos - countedNanos;
        long user = stat == null
                ? Math.round(totalNanos * (countedNanos == 0 ? 1 : (double) countedUserNanos / countedNanos))
                : userNanos(stat);
        long moreUser = Math.max(0, Math.min(more, user - countedUserNanos));
        pool.add(more, moreUser, owner == ThreadNames.Owner.UNKNOWN);
        countedNanos += more;
        countedUserNanos += moreUser;
        recentNanos += more;
        recentUserNanos += moreUser;
        if (totalWaitNanos >= 0) {
            long moreWait = Math.max(0, totalWaitNanos - countedWaitNanos);
            pool.addWait(moreWait);
            recentWaitNanos = Math.max(0, recentWaitNanos) + moreWait;
            countedWaitNanos = Math.max(countedWaitNanos, totalWaitNanos);
        }
        if (stat == null) return;
        detailNanos = totalNanos;
        detailReading = reading;
        int length = shared.readOnce(path + "/status");
        if (length <= 0) return;
        long voluntary = ProcText.field(shared.text, length, VOLUNTARY);
        long involuntary = ProcText.field(shared.text, length, INVOLUNTARY);
        if (voluntary < 0 || involuntary < 0) return;
        long moreVoluntary = Math.max(0, voluntary - countedVoluntary);
        long moreInvoluntary = Math.max(0, involuntary - countedInvoluntary);
        pool.addSwitches(moreVoluntary, moreInvoluntary);
        recentVoluntary = Math.max(0, recentVoluntary) + moreVoluntary;
        recentInvoluntary = Math.max(0, recentInvoluntary) + moreInvoluntary;
        countedVoluntary = Math.max(countedVoluntary, voluntary);
        countedInvoluntary = Math.max(countedInvoluntary, involuntary);
    }

    /** Returns whether something was counted since the last call of {@link #takeRecent}. */
    boolean hasRecent() {
        return recentNanos > 0;
    }

    /** Returns the usage counted since the previous call, and resets it. */
    ThreadUsage takeRecent(int pid) {
        boolean isTruncated = javaName == null && kernelName.length() >= ThreadNames.KERNEL_LENGTH;
        ThreadUsage usage = new ThreadUsage(
                pid,
                innerTid,
                0,
                javaName == null ? kernelName : javaName,
                isTruncated,
                pool.key.kind(),
                pool.key.pool(),
                1,
                recentNanos,
                recentUserNanos,
                recentWaitNanos,
                recentVoluntary,
                recentInvoluntary,
                '-',
                totalNanos,
                -1);
        recentNanos = 0;
        recentUserNanos = 0;
        recentWaitNanos = -1;
        recentVoluntary = -1;
        recentInvoluntary = -1;
        return usage;
    }

    /** Applies the ratio of user to system time in the stat file to the precise total. */
    private long userNanos(ProcStat stat) {
        double both = (double) stat.userNanos() + stat.systemNanos();
        // Both times are below 10 ms, the unit of the file. User time is the likely case.
        return both == 0 ? totalNanos : (long) (totalNanos * (stat.userNanos() / both));
    }

    void close() {
        if (schedstat != null) schedstat.close();
        schedstat = null;
    }
}
