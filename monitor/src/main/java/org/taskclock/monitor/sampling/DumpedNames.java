// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.taskclock.PoolName;
import org.taskclock.internal.JdkVersions;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.ThreadNames;
import org.taskclock.metrics.ThreadSampler;
import org.taskclock.monitor.attach.ThreadDump;

/** The pools of a JVM's threads: from thread dumps, or from the kernel's names of threads that no dump has. */
public final class DumpedNames {
    private static final String AMBIGUOUS = "";

    private final int pid;
    private final boolean supportsVirtualThreads;
    private final ThreadSampler<ProcThread> sampler;

    /** The ids of carriers, as the JVM sees them, if an agent reports them. */
    private Set<Long> carriers = Set.of();

    /** Pools of threads that a dump showed carrying a virtual thread. */
    private final Set<String> carrierPools = new HashSet<>();

    /** Pools by the pool of the kernel's truncated name; {@link #AMBIGUOUS} if there are several. */
    private final Map<String, String> pools = new HashMap<>();

    /**
     * Creates names without a dump.
     *
     * @param feature the feature version of the JVM; 0 if unknown
     */
    public DumpedNames(int pid, int feature, ThreadSampler<ProcThread> sampler) {
        this.pid = pid;
        this.sampler = sampler;
        supportsVirtualThreads = feature == 0 || feature >= JdkVersions.VIRTUAL_THREADS;
    }

    /** Takes the names of threads from a dump. */
    public void learn(ThreadDump dump) {
        for (ThreadDump.Entry entry : dump.all())
            if (entry.carriedId() != 0) carrierPools.add(PoolName.of(entry.name()));
        pools.clear();
        for (ProcThread thread : sampler.threads()) {
            ThreadDump.Entry entry = dump.of(thread.innerTid());
            thread.setEntry(entry, dump.covers(thread.foundAt));
            if (entry != null && isTruncated(thread.kernelName()))
                pools.merge(
                        PoolName.of(thread.kernelName()),
                        PoolName.of(entry.name()),
                        (a, b) -> a.equals(b) ? a : AMBIGUOUS);
        }
    }

    /** Takes the ids of carriers, as the JVM sees them, from the agent. It knows them by what they do. */
    public void learnCarriers(Set<Long> tids) {
        carriers = tids;
        for (ProcThread thread : sampler.threads()) if (isUnknownCarrier(thread, tids)) thread.clearPool();
    }

    /** Returns whether one of the carriers has the pool of another kind of thread. */
    public static boolean isUnknownCarrier(ProcThread thread, Set<Long> tids) {
        PoolKey pool = thread.pool();
        return pool != null && pool.kind() == ThreadKind.JAVA && tids.contains((long) thread.innerTid());
    }

    /**
     * Assigns a thread to its pool if that is unknown.
     *
     * @param isAsked whether the JVM is asked for names that are missing; the names of collectors count only if not
     */
    public void assign(ProcThread thread, boolean isAsked) {
        if (thread.pool() != null) return;
        String name = thread.name();
        String known = thread.isNamed() || !isTruncated(name) ? null : poolOf(name);
        String pool =
                known != null ? known : name.equals(thread.kernelName()) ? ThreadNames.pool(name) : PoolName.of(name);
        ThreadKind kind = ThreadNames.kind(name, owner(thread, name, pool));
        boolean isGuessed = thread.owner() == ThreadNames.Owner.UNKNOWN;
        // Any thread can have a name of the JVM's threads.
        if (isGuessed && isAsked && kind == ThreadKind.GC) kind = ThreadKind.JAVA;
        sampler.assign(thread, new PoolKey(pool, kind), isGuessed);
    }

    private ThreadNames.Owner owner(ProcThread thread, String name, String pool) {
        if (carriers.contains((long) thread.innerTid())
                || carrierPools.contains(pool)
                || (supportsVirtualThreads && ThreadNames.isCarrier(name))) return ThreadNames.Owner.CARRIER;
        // The launcher's first thread only waits for the main thread that it creates.
        boolean isLauncher = thread.owner() == ThreadNames.Owner.UNKNOWN && thread.id == pid;
        return isLauncher ? ThreadNames.Owner.NOT_JAVA : thread.owner();
    }

    /** Returns whether the name of a thread is truncated, and no dump shows the pool of such names. */
    public boolean isUnknown(ProcThread thread) {
        return !thread.isNamed() && isTruncated(thread.kernelName()) && poolOf(thread.kernelName()) == null;
    }

    /** Returns whether the pool or the kind of a thread without a name may be another one. */
    public boolean isUncertain(ProcThread thread) {
        if (isTruncated(thread.kernelName())) return true;
        ThreadKind kind = thread.pool().kind();
        return thread.owner() == ThreadNames.Owner.UNKNOWN && kind != ThreadKind.JAVA && kind != ThreadKind.CARRIER;
    }

    private String poolOf(String truncatedName) {
        String known = pools.getOrDefault(PoolName.of(truncatedName), AMBIGUOUS);
        return known.equals(AMBIGUOUS) ? null : known;
    }

    /** Returns whether a thread that no dump has may be one of a collector. */
    public boolean mayBeCollector(ProcThread thread) {
        return thread.owner() == ThreadNames.Owner.UNKNOWN
                && ThreadNames.kind(thread.name(), ThreadNames.Owner.UNKNOWN) == ThreadKind.GC;
    }

    private static boolean isTruncated(String kernelName) {
        // A truncated name does not end within a character, so one that is not ASCII may be shorter.
        int length = kernelName.length();
        if (length >= ThreadNames.KERNEL_LENGTH) return true;
        for (int i = 0; i < length; i++) if (kernelName.charAt(i) > 0x7f) return true;
        return false;
    }
}
