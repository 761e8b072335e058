// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.io.FileInputStream;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.util.function.Function;

/** A platform thread of this process, and what it had used at the last reading. */
final class OwnThread {
    private static final String VOLUNTARY = "\nvoluntary_ctxt_switches:";
    private static final String INVOLUNTARY = "\nnonvoluntary_ctxt_switches:";

    /**
     * Wait time and context switches are read once a thread has used this much CPU time, because that takes 12 us a
     * thread, more than all the rest.
     */
    private static final long COUNTERS_CPU_NANOS = 1_000_000;

    /** They are also read if a thread runs and they were not read in this number of readings. */
    private static final int COUNTERS_READINGS = 20;

    private final long id;
    private final Function<PoolUsage.Key, OwnPool> pools;

    /** Null if it is not a Java thread, as far as known. */
    private WeakReference<Thread> thread;

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
     * Creates a thread that was not read yet.
     *
     * @param id the kernel's id; on the mxbean backend the Java id
     * @param reading the number of the current reading
     * @param pools finds the pool for a key
     */
    OwnThread(long id, long reading, Function<PoolUsage.Key, OwnPool> pools) {
        this.id = id;
        countersReading = reading;
        this.pools = pools;
    }

    boolean isJava() {
        return thread != null;
    }

    /** Sets which Java thread this is; null if it is none. */
    void setThread(Thread owner) {
        if (owner != null) thread = new WeakReference<>(owner);
        else if (name != null) return;
        else setName(null, kernelName());
        if (owner != null) setName(owner, owner.getName());
    }

    /**
     * Adds what the thread used since the last reading to its pool.
     *
     * @param hasCounters whether the kernel's id is known
     * @param reading the number of this reading
     */
    void advance(long cpu, long user, boolean hasCounters, long reading) {
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
        long lastWait = waitNanos;
        long lastVoluntary = voluntary;
        long lastInvoluntary = involuntary;
        if (hasCounters) readCounters(reading);
        else waitNanos = voluntary = involuntary = -1;
        pool.add(
                moreUser,
                moreCpu - moreUser,
                difference(waitNanos, lastWait),
                difference(voluntary, lastVoluntary),
                difference(involuntary, lastInvoluntary));
    }

    private static long difference(long now, long last) {
        return now < 0 ? -1 : Math.max(0, now - Math.max(0, last));
    }

    private void setName(Thread owner, String newName) {
        // The main thread gets this name when main returns.
        if (name != null && newName.equals("DestroyJavaVM")) return;
        name = newName;
        pool = pools.apply(new PoolUsage.Key(ThreadNames.pool(newName), kindOf(owner, newName)));
    }

    static ThreadKind kindOf(Thread owner, String name) {
        ThreadKind known = ThreadNames.kind(name);
        if (owner == null) return known == ThreadKind.JAVA ? ThreadKind.NATIVE : known;
        if (owner.getClass().getName().equals("jdk.internal.misc.CarrierThread")) return ThreadKind.CARRIER;
        return known == ThreadKind.VM || known == ThreadKind.JIT ? known : ThreadKind.JAVA;
    }

    private String kernelName() {
        try {
            return text("comm", new byte[64]).trim();
        } catch (IOException e) {
            return "?";
        }
    }

    private void readCounters(long reading) {
        boolean isDue = reading - countersReading >= COUNTERS_READINGS;
        if (cpuNanos - countersCpuNanos < COUNTERS_CPU_NANOS && !isDue) return;
        countersCpuNanos = cpuNanos;
        countersReading = reading;
        try {
            byte[] buffer = new byte[4096];
            String[] schedstat = text("schedstat", buffer).trim().split(" ", -1);
            // The file has only zeros if the kernel does not maintain it.
            waitNanos = schedstat.length < 2 || schedstat[0].equals("0") ? -1 : Long.parseLong(schedstat[1]);
            String status = text("status", buffer);
            voluntary = number(status, VOLUNTARY);
            involuntary = number(status, INVOLUNTARY);
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
