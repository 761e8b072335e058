// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;
import org.taskclock.PoolName;

/** A platform thread of this process, with its usage as of the last reading. */
final class OwnThread {
    private static final String VOLUNTARY = "\nvoluntary_ctxt_switches:";
    private static final String INVOLUNTARY = "\nnonvoluntary_ctxt_switches:";

    /**
     * Wait time and context switches are read only after a thread has used this much CPU time, because reading them
     * takes 12 us per thread, more than everything else.
     */
    private static final long COUNTERS_CPU_NANOS = 1_000_000;

    /** They are also read if a thread runs and they were last read this many readings ago. */
    private static final int COUNTERS_READINGS = 20;

    private final long id;
    private final Function<PoolUsage.Key, OwnPool> pools;

    /** When the first reading that found this thread started. */
    final long foundAt;

    /** Null if it is not a Java thread, as far as known. */
    private WeakReference<Thread> thread;

    /** Null while it is unknown which thread this is. */
    private String name;

    private OwnPool pool;

    long cpuNanos;
    private long userNanos;
    private long waitNanos;
    private long voluntary;
    private long involuntary;

    /** The CPU time and the number of the reading when wait time and switches were read. */
    private long countersCpuNanos;

    private long countersReading;

    /** The number of the last reading that found this thread. */
    long lastSeen;

    /**
     * Creates a thread that has not been read yet.
     *
     * @param id the kernel's id; on the mxbean backend the Java id
     * @param reading the number of the current reading
     * @param foundAt when that reading started
     * @param pools finds the pool for a key
     */
    OwnThread(long id, long reading, long foundAt, Function<PoolUsage.Key, OwnPool> pools) {
        this.id = id;
        countersReading = reading;
        this.foundAt = foundAt;
        this.pools = pools;
    }

    /** Returns whether the Java thread has ended, although its kernel thread, or another one with its id, exists. */
    boolean hasEnded() {
        if (thread == null) return false;
        Thread owner = thread.get();
        return owner == null || !owner.isAlive();
    }

    /** Sets which Java thread this is. It changes if native code detaches and attaches a thread. */
    void setThread(Thread owner) {
        if (thread != null && thread.get() == owner) return;
        thread = new WeakReference<>(owner);
        setName(owner, owner.getName());
    }

    /**
     * Records that this is not, or no longer, a Java thread.
     *
     * @param isUncertain whether it may be one that is about to start or end; it then stays unidentified, unless the
     *     name is that of a thread of the JVM
     * @param interim the pool to use while the thread is unidentified; null for none
     */
    void setNoThread(boolean isUncertain, PoolUsage.Key interim) {
        thread = null;
        if (name != null) return;
        String kernelName = kernelName();
        if (kernelName == null) return; // it has ended
        if (!isUncertain || ThreadNames.kind(kernelName, ThreadNames.Owner.UNKNOWN) != ThreadKind.JAVA)
            setName(null, kernelName);
        else if (interim != null) pool = pools.apply(interim);
    }

    boolean isIdentified() {
        return name != null;
    }

    boolean hasPool() {
        return pool != null;
    }

    /**
     * Adds what the thread used since the last reading to its pool.
     *
     * @param hasCounters whether the kernel's id is known
     */
    void advance(long cpu, long user, boolean hasCounters) {
        if (cpu == cpuNanos && cpu > 0) {
            // The other counters cannot have changed either, apart from a wait or a switch that is going on.
            pool.addIdle();
            return;
        }
        Thread owner = thread == null ? null : thread.get();
        if (owner != null && !owner.getName().equals(name)) setName(owner, owner.getName());
        long moreCpu = Math.max(0, cpu - cpuNanos);
        long moreUser = Math.max(0, Math.min(moreCpu, user - userNanos));
        cpuNanos = cpu;
        userNanos += moreUser;
        pool.add(moreUser, moreCpu - moreUser);
        if (hasCounters) pool.addCounters(Math.min(0, waitNanos), Math.min(0, voluntary), Math.min(0, involuntary));
    }

    /** Takes a reading that is not added to a pool. Returns the CPU time since the last reading. */
    long skip(long cpu, long user) {
        long more = Math.max(0, cpu - cpuNanos);
        cpuNanos = cpu;
        userNanos = user;
        return more;
    }

    private static long difference(long now, long last) {
        return now < 0 ? -1 : Math.max(0, now - Math.max(0, last));
    }

    private void setName(Thread owner, String newName) {
        // The main thread gets this name when main returns.
        if (name != null && newName.equals("DestroyJavaVM")) return;
        name = newName;
        pool = pools.apply(new PoolUsage.Key(PoolName.of(newName), kindOf(owner, newName)));
    }

    static ThreadKind kindOf(Thread owner, String name) {
        if (owner == null) return ThreadNames.kind(name, ThreadNames.Owner.NOT_JAVA);
        if (owner.getClass().getName().equals("jdk.internal.misc.CarrierThread")) return ThreadKind.CARRIER;
        return ThreadNames.kind(name, ThreadNames.Owner.JAVA);
    }

    /** Returns the name that the kernel has; null if the thread has ended. */
    private String kernelName() {
        try {
            return text("comm", new byte[64]).trim();
        } catch (IOException e) {
            return null;
        }
    }

    /** Returns the CPU time since wait time and context switches were read. */
    long cpuNanosSinceCounters() {
        return cpuNanos - countersCpuNanos;
    }

    /** Returns whether wait time and context switches should be read. */
    boolean isDue(long reading) {
        long since = cpuNanosSinceCounters();
        return since >= COUNTERS_CPU_NANOS || (since > 0 && reading - countersReading >= COUNTERS_READINGS);
    }

    /** Reads wait time and context switches, and adds the increase to the pool. */
    void readCounters(long reading) {
        countersCpuNanos = cpuNanos;
        countersReading = reading;
        long lastWait = waitNanos;
        long lastVoluntary = voluntary;
        long lastInvoluntary = involuntary;
        try {
            byte[] buffer = new byte[4096];
            String[] schedstat = text("schedstat", buffer).trim().split(" ", -1);
            // The file has only zeros if the kernel does not maintain it.
            waitNanos = schedstat.length < 2 || schedstat[0].equals("0") ? -1 : Long.parseLong(schedstat[1]);
            String status = text("status", buffer);
            voluntary = number(status, VOLUNTARY);
            involuntary = number(status, INVOLUNTARY);
            pool.addCounters(
                    difference(waitNanos, lastWait),
                    difference(voluntary, lastVoluntary),
                    difference(involuntary, lastInvoluntary));
        } catch (IOException | NumberFormatException e) {
            return; // the thread has ended, or the kernel has no such file
        }
    }

    private static long number(String text, String key) {
        int at = text.indexOf(key);
        if (at < 0) return -1;
        int end = text.indexOf('\n', at + 1);
        return Long.parseLong(
                text.substring(at + key.length(), end < 0 ? text.length() : end).trim());
    }

    /** Reads a file of the thread in /proc. FileInputStream takes half the time of Files. */
    private String text(String file, byte[] buffer) throws IOException {
        try (FileInputStream in = new FileInputStream("/proc/self/task/" + id + "/" + file)) {
            int length = in.read(buffer);
            return new String(buffer, 0, Math.max(0, length), StandardCharsets.UTF_8);
        }
    }
}
