// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.nio.ByteBuffer;
import org.taskclock.ProcStat;
import org.taskclock.metrics.Counters;
import org.taskclock.metrics.ProcText;
import org.taskclock.metrics.SampledThread;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.monitor.attach.ThreadDump;
import org.taskclock.monitor.proc.ModifiedUtf8;
import org.taskclock.monitor.proc.ProcFile;
import org.taskclock.monitor.usage.ThreadUsage;

/** A thread of another process, read from /proc. */
public final class ProcThread extends SampledThread {
    private static final byte[] NSPID = ProcText.key("NSpid");

    /** A thread that uses this much CPU time from one reading to the next is read often. */
    private static final long ACTIVE_NANOS = 1_000_000;

    /** After this many readings without CPU usage, a thread is no longer read often. */
    private static final int ACTIVE_READINGS = 5;

    private final ProcThreads source;
    private final String path;

    // Null if they are opened for each reading.
    private ProcFile schedstat;
    private ProcFile stat;
    private ProcFile status;

    private int activeReadings = ACTIVE_READINGS;

    /** The thread's id in the JVM's pid namespace. */
    private int innerTid;

    private String kernelName = "";
    private char state = '?';

    // From the last thread dump that has the thread.
    private long javaId;
    private String javaName;
    private ThreadNames.Owner owner = ThreadNames.Owner.UNKNOWN;

    ProcThread(long tid, ProcThreads source) {
        super(tid);
        this.source = source;
        innerTid = (int) tid;
        path = "/proc/" + source.pid + "/task/" + tid;
        if (!source.keepsOpen) return;
        stat = new ProcFile(path + "/stat", source.files);
        status = new ProcFile(path + "/status", source.files);
    }

    /** Returns whether the thread runs often. */
    public boolean isActive() {
        return source.keepsOpen || activeReadings > 0;
    }

    @Override
    protected boolean read(int row) {
        long before = total.cpuNanos;
        if (!readTimes()) return false;
        if (total.cpuNanos - before >= ACTIVE_NANOS) activeReadings = ACTIVE_READINGS;
        else if (activeReadings > 0 && --activeReadings == 0 && !source.keepsOpen) close();
        return true;
    }

    private boolean readTimes() {
        if (source.precise) {
            if (isActive() && schedstat == null) schedstat = new ProcFile(path + "/schedstat", source.files);
            ByteBuffer times = isActive() ? schedstat.read() : source.readOnce(path + "/schedstat");
            return times != null && setTimes(times);
        }
        int length = readText(stat, "/stat");
        return length > 0 && setTimes(parseStat(length), -1);
    }

    private int readText(ProcFile file, String name) {
        if (file != null) return file.read(source.text);
        ByteBuffer read = source.readOnce(path + name);
        return read == null ? -1 : read.limit();
    }

    /** Returns the CPU time in units of 10 ms. */
    private long parseStat(int length) {
        ProcStat now = ProcStat.parse(source.text, length);
        state = now.state();
        if (!now.name().equals(kernelName)) setName(ModifiedUtf8.threadName(now.name(), source.text, length));
        double both = (double) now.userNanos() + now.systemNanos();
        // Applies the ratio to the precise total. If both are below the unit, user time is the likely case.
        total.userNanos = both == 0 ? total.cpuNanos : (long) (total.cpuNanos * (now.userNanos() / both));
        return now.userNanos() + now.systemNanos();
    }

    private void setName(String now) {
        String name = ThreadNames.renamed(kernelName, now);
        if (name.equals(kernelName)) return;
        kernelName = name;
        javaName = null;
        clearPool();
    }

    @Override
    protected boolean readDetails() {
        int length = readText(stat, "/stat");
        if (length <= 0) return false;
        parseStat(length);
        length = readText(status, "/status");
        if (length <= 0) return false;
        setSwitches(source.text, length);
        long inner = ProcText.lastInLine(source.text, length, NSPID);
        if (inner > 0) innerTid = (int) inner;
        return true;
    }

    /** Returns whether the thread was running or about to run when its details were read. */
    boolean wasRunnable() {
        return state == 'R' || state == 'D';
    }

    @Override
    protected void close() {
        if (schedstat != null) schedstat.close();
        if (stat != null) stat.close();
        if (status != null) status.close();
        schedstat = null;
    }

    public int innerTid() {
        return innerTid;
    }

    String kernelName() {
        return kernelName;
    }

    /** Returns the Java name if it is known, otherwise the kernel's. */
    String name() {
        return javaName == null ? kernelName : javaName;
    }

    ThreadNames.Owner owner() {
        return owner;
    }

    /** Returns whether the full name is known. */
    public boolean isNamed() {
        return javaName != null || owner == ThreadNames.Owner.NOT_JAVA;
    }

    /** Takes the thread's entry in a dump; null if it has none. */
    void setEntry(ThreadDump.Entry entry, boolean isCovered) {
        if (entry != null) {
            javaId = entry.javaId();
            javaName = javaName == null ? entry.name() : ThreadNames.renamed(javaName, entry.name());
            owner = entry.owner();
        } else if (javaName == null && isCovered) {
            owner = ThreadNames.Owner.NOT_JAVA;
        }
        clearPool();
    }

    /** Returns what was counted since the last call. The pool must be known. */
    public ThreadUsage takeUsage(int pid) {
        Counters used = usage;
        ThreadUsage taken = ThreadUsage.of(pid, innerTid, name(), pool().kind())
                .pool(pool().pool())
                .javaId(javaId)
                .truncated(!isNamed())
                .counters(used)
                .state(state)
                .total(countedNanos(), watchedNanos())
                .build();
        used.clear();
        return taken;
    }
}
