// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import java.nio.ByteBuffer;
import org.taskclock.ProcStat;

/** One thread, from one reading to the next. */
final class Watched {
    private static final byte[] NSPID = ProcText.key("NSpid");
    private static final byte[] VOLUNTARY = ProcText.key("voluntary_ctxt_switches");
    private static final byte[] INVOLUNTARY = ProcText.key("nonvoluntary_ctxt_switches");

    final int tid;
    private final boolean precise;
    private final byte[] text;
    private final ProcFile schedstat;
    private final ProcFile stat;
    private final ProcFile status;

    /** All that it has used; that of the last reading that succeeded. */
    long total;

    private Steered cpu;
    private Steered user;
    private long waited;
    private long voluntary;
    private long involuntary;

    /** As its JVM sees it. */
    int innerTid;
    /** The kernel's name. */
    String kernelName = "";
    /** What the JVM says of it; null while that is not known. */
    ThreadDump.Entry entry;
    /** A dump was taken while it lived, and it was not in it: not a thread of Java's or the JVM's. */
    boolean unknownToJvm;

    boolean carrier;
    char state = '?';
    /** Of the reading that it was last seen in. */
    long seen;

    // Made once for each name.
    private String pooled;
    private String pool;
    private Row.Kind kind;

    // Of the last interval.
    long cpuNanos;
    long userNanos;
    private long waitNanos;
    private long voluntaryMore;
    private long involuntaryMore;

    Watched(long pid, int tid, boolean precise, ProcFile.Budget budget, byte[] text) {
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
     * @param born whether it came after the last reading of the others, so that all that it used counts
     * @return false if it has ended
     */
    boolean start(boolean born, long intervalNanos) {
        if (!readTotal(true)) return false;
        long inner = ProcText.lastInLine(text, status.read(text), NSPID);
        if (inner > 0) innerTid = (int) inner;
        cpu = new Steered(born ? 0 : total);
        ProcStat now = readStat();
        user = new Steered(born ? 0 : userOf(now));
        if (born) {
            tell(now, intervalNanos);
        } else {
            waited = lastWaited;
            readSwitches();
            forgetInterval();
        }
        return true;
    }

    /** Takes another. False if it has ended. */
    boolean advance(long intervalNanos) {
        long before = total;
        if (!readTotal(false)) return false;
        if (total == before && state != 'R' && state != 'D' && lastWaited == waited && !due) {
            forgetInterval();
            return true;
        }
        tell(readStat(), intervalNanos);
        return true;
    }

    private long lastWaited;
    /** The last interval could not hold all. */
    private boolean due;

    private boolean readTotal(boolean first) {
        if (!precise) {
            ProcStat now = readStat();
            if (now == null) return false;
            total = now.userNanos() + now.systemNanos();
            lastWaited = -1;
            return true;
        }
        ByteBuffer read = schedstat.read();
        if (read == null) return false;
        long ran = ProcText.number(read);
        if (ran < 0) return false;
        // The id may be another thread's by now, if the file could not stay open.
        if (!first && ran < total) return false;
        total = ran;
        lastWaited = ProcText.number(read);
        return true;
    }

    private void tell(ProcStat now, long intervalNanos) {
        cpuNanos = cpu.advance(total, intervalNanos);
        due = cpuNanos == intervalNanos;
        userNanos = now == null ? cpuNanos : user.advance(userOf(now), cpuNanos);
        if (lastWaited < 0) {
            waitNanos = -1;
        } else {
            waitNanos = Math.max(0, Math.min(lastWaited - waited, intervalNanos - cpuNanos));
            waited = lastWaited;
        }
        readSwitches();
    }

    /** The split that stat gives, as a part of the precise total. */
    private long userOf(ProcStat now) {
        if (now == null) return 0;
        double both = (double) now.userNanos() + now.systemNanos();
        // Less than a unit of 10 ms of either: most likely user time.
        return both == 0 ? total : (long) (total * (now.userNanos() / both));
    }

    private ProcStat readStat() {
        int length = stat.read(text);
        if (length <= 0) return null;
        ProcStat now = ProcStat.parse(text, length);
        state = now.state();
        if (!now.name().equals(kernelName)) kernelName = now.name();
        return now;
    }

    private void readSwitches() {
        int length = status.read(text);
        long nowVoluntary = ProcText.field(text, length, VOLUNTARY);
        long nowInvoluntary = ProcText.field(text, length, INVOLUNTARY);
        voluntaryMore = nowVoluntary < 0 ? -1 : Math.max(0, nowVoluntary - voluntary);
        involuntaryMore = nowInvoluntary < 0 ? -1 : Math.max(0, nowInvoluntary - involuntary);
        voluntary = nowVoluntary;
        involuntary = nowInvoluntary;
    }

    private void forgetInterval() {
        cpuNanos = 0;
        userNanos = 0;
        waitNanos = lastWaited < 0 ? -1 : 0;
        voluntaryMore = 0;
        involuntaryMore = 0;
    }

    void close() {
        schedstat.close();
        stat.close();
        status.close();
    }

    Row row(int pid, boolean leader, boolean stopped) {
        String name = entry == null ? kernelName : entry.name();
        if (!name.equals(pooled)) {
            pooled = name;
            pool = ThreadNames.pool(name);
            kind = null;
        }
        if (kind == null || carrier != (kind == Row.Kind.CARRIER)) kind = kindOf(name, leader);
        return new Row(
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
                voluntaryMore,
                involuntaryMore,
                stopped ? 'T' : state);
    }

    private Row.Kind kindOf(String name, boolean leader) {
        if (carrier) return Row.Kind.CARRIER;
        Row.Kind known = ThreadNames.kind(name);
        if (known != Row.Kind.JAVA) return known;
        // The launcher's first thread only waits for the one that it made for the program.
        return entry == null && (leader || unknownToJvm) ? Row.Kind.NATIVE : known;
    }
}
