// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.nio.ByteBuffer;
import org.taskclock.PoolName;
import org.taskclock.ProcStat;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.proc.ModifiedUtf8;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.proc.ProcText;
import org.taskclock.monitor.usage.ThreadUsage;

/** A thread, and its counters from one reading to the next. */
final class TrackedThread {
    private static final byte[] NSPID = ProcText.key("NSpid");
    private static final byte[] VOLUNTARY = ProcText.key("voluntary_ctxt_switches");
    private static final byte[] INVOLUNTARY = ProcText.key("nonvoluntary_ctxt_switches");

    final int tid;
    /** When it was found, as of System.nanoTime. */
    final long createdAt = System.nanoTime();

    private final boolean precise;
    private final byte[] text;
    private final ProcFile schedstat;
    private final ProcFile stat;
    private final ProcFile status;

    /** CPU time since the thread started, as of the last successful reading. */
    long totalNanos;

    /** The counted CPU time when watching began. */
    private long watchedFromNanos;

    /** Time spent runnable without a processor since the thread started; -1 if unknown. */
    private long totalWaitNanos;

    private CumulativeCounter cpu;
    private CumulativeCounter user;
    /** The total wait time as of the last update of {@link #waitNanos}. */
    private long countedWaitNanos;

    private long voluntary;
    private long involuntary;
    /** True if some CPU time exceeded the last interval and is left for the next one. */
    private boolean carriesOver;

    /** The thread's id in the JVM's pid namespace. */
    int innerTid;
    /** The kernel's name of the thread. */
    String kernelName = "";
    /** The thread's entry in the last dump; null if it has none. */
    ThreadDump.Entry entry;
    /** True if a dump taken during the thread's life lacks it, so it is not a Java thread. */
    boolean unknownToJvm;

    boolean carrier;
    char state = '?';
    /** The number of the last reading that found this thread. */
    long lastSeen;

    // Derived from the name whenever it changes.
    private String pooledName;
    private String pool;
    private ThreadKind kind;

    // Figures for the last interval.
    long cpuNanos;
    long userNanos;
    private long waitNanos;
    private long voluntarySwitches;
    private long involuntarySwitches;

    TrackedThread(long pid, int tid, boolean precise, ProcFile.Budget budget, byte[] text) {
        this.tid = tid;
        this.precise = precise;
        this.text = text;
        innerTid = tid;
        String path = "/proc/" + pid + "/task/" + tid;
        schedstat = new ProcFile(path + "/schedstat", budget);
        stat = new ProcFile(path + "/stat", budget);
        status = new ProcFile(path + "/status", budget);
    }

    /**
     * Takes the first reading.
     *
     * @param isNew whether the thread started after the last reading of the others, so that all its CPU time counts
     * @return false if the thread has ended
     */
    boolean start(boolean isNew, long intervalNanos) {
        if (!readTotals(true)) return false;
        long inner = ProcText.lastInLine(text, status.read(text), NSPID);
        if (inner > 0) innerTid = (int) inner;
        cpu = new CumulativeCounter(isNew ? 0 : totalNanos);
        ProcStat now = readStat();
        user = new CumulativeCounter(isNew ? 0 : totalUserNanos(now));
        if (isNew) {
            update(now, intervalNanos);
        } else {
            countedWaitNanos = totalWaitNanos;
            readSwitches();
            resetInterval();
        }
        return true;
    }

    /** Excludes the CPU time so far from {@link ThreadUsage#watchedNanos}. */
    void beginWatching() {
        watchedFromNanos = cpu.counted();
    }

    long watchedNanos() {
        return totalNanos - watchedFromNanos;
    }

    /** Takes another reading. Returns false if the thread has ended. */
    boolean advance(long intervalNanos) {
        long before = totalNanos;
        if (!readTotals(false)) return false;
        boolean idle = totalNanos == before && totalWaitNanos == countedWaitNanos && !carriesOver;
        if (idle && state != 'R' && state != 'D') {
            resetInterval();
            return true;
        }
        update(readStat(), intervalNanos);
        return true;
    }

    private boolean readTotals(boolean first) {
        if (!precise) {
            ProcStat now = readStat();
            if (now == null) return false;
            totalNanos = now.userNanos() + now.systemNanos();
            totalWaitNanos = -1;
            return true;
        }
        ByteBuffer read = schedstat.read();
        if (read == null) return false;
        long ran = ProcText.number(read);
        if (ran < 0) return false;
        // If the file could not stay open, the id may now belong to another thread.
        if (!first && ran < totalNanos) return false;
        totalNanos = ran;
        totalWaitNanos = ProcText.number(read);
        return true;
    }

    private void update(ProcStat now, long intervalNanos) {
        cpuNanos = cpu.advance(totalNanos, intervalNanos);
        carriesOver = cpuNanos == intervalNanos;
        userNanos = now == null ? cpuNanos : user.advance(totalUserNanos(now), cpuNanos);
        if (totalWaitNanos < 0) {
            waitNanos = -1;
        } else {
            waitNanos = Math.max(0, Math.min(totalWaitNanos - countedWaitNanos, intervalNanos - cpuNanos));
            countedWaitNanos = totalWaitNanos;
        }
        readSwitches();
    }

    /** Applies the ratio of user to system time in stat to the precise total. */
    private long totalUserNanos(ProcStat now) {
        if (now == null) return 0;
        double both = (double) now.userNanos() + now.systemNanos();
        // Both times are below 10 ms, the unit of stat. User time is the likely case.
        return both == 0 ? totalNanos : (long) (totalNanos * (now.userNanos() / both));
    }

    private ProcStat readStat() {
        int length = stat.read(text);
        if (length <= 0) return null;
        ProcStat now = ProcStat.parse(text, length);
        state = now.state();
        if (!now.name().equals(kernelName)) kernelName = ModifiedUtf8.threadName(now.name(), text, length);
        return now;
    }

    private void readSwitches() {
        int length = status.read(text);
        long newVoluntary = ProcText.field(text, length, VOLUNTARY);
        long newInvoluntary = ProcText.field(text, length, INVOLUNTARY);
        voluntarySwitches = newVoluntary < 0 ? -1 : Math.max(0, newVoluntary - voluntary);
        involuntarySwitches = newInvoluntary < 0 ? -1 : Math.max(0, newInvoluntary - involuntary);
        voluntary = newVoluntary;
        involuntary = newInvoluntary;
    }

    private void resetInterval() {
        cpuNanos = 0;
        userNanos = 0;
        waitNanos = totalWaitNanos < 0 ? -1 : 0;
        voluntarySwitches = 0;
        involuntarySwitches = 0;
    }

    void close() {
        schedstat.close();
        stat.close();
        status.close();
    }

    String pool() {
        return pool == null ? PoolName.of(name()) : pool;
    }

    ThreadKind kind(boolean leader) {
        return kind == null ? kindOf(name(), leader) : kind;
    }

    private String name() {
        return entry == null ? kernelName : entry.name();
    }

    ThreadUsage usage(int pid, boolean leader, boolean stopped) {
        String name = name();
        if (!name.equals(pooledName)) {
            pooledName = name;
            pool = PoolName.of(name);
            kind = null;
        }
        if (kind == null || carrier != (kind == ThreadKind.CARRIER)) kind = kindOf(name, leader);
        return new ThreadUsage(
                pid,
                innerTid,
                entry == null ? 0 : entry.javaId(),
                name,
                entry == null && !unknownToJvm,
                kind,
                pool,
                1,
                cpuNanos,
                userNanos,
                waitNanos,
                voluntarySwitches,
                involuntarySwitches,
                stopped ? 'T' : state,
                cpu.counted(),
                cpu.counted() - watchedFromNanos);
    }

    private ThreadKind kindOf(String name, boolean leader) {
        if (carrier) return ThreadKind.CARRIER;
        if (entry != null) return ThreadNames.kind(name, entry.owner());
        // The launcher's first thread only waits for the main thread that it creates.
        boolean isNotJava = leader || unknownToJvm;
        return ThreadNames.kind(name, isNotJava ? ThreadNames.Owner.NOT_JAVA : ThreadNames.Owner.UNKNOWN);
    }
}
