// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.taskclock.ClockId;
import org.taskclock.CpuTime;

/**
 * The accounts of virtual threads. Each thread has an account ({@code TaskClockAccount}), which also adds to the totals
 * for the thread's name ({@code TaskClockGroup}).
 */
final class VirtualAccounts implements Function<Thread, TaskClockGroup>, AgentController.Step {
    /** A listener that is called when a virtual thread ends. */
    interface EndListener {
        /** The times are a part of the thread's total if it also ran while it was not accounted for. */
        void ended(Thread thread, long cpuNanos, long userNanos, boolean isPartial);
    }

    /** The totals of the virtual threads with the same name. */
    record Group(String getName, long getLive, long getMounted, long getEnded, long getCpuNanos, long getUserNanos)
            implements TaskClockMXBean.VirtualThreadGroup {
        @Override
        public long getSystemNanos() {
            return getCpuNanos - getUserNanos;
        }
    }

    /** The CPU time of a carrier since its first mount, without the time in which accounting was off. */
    record Carrier(long getTid, long getCpuNanos, long getUserNanos, long getCarriedNanos, long carriedUserNanos)
            implements TaskClockMXBean.Carrier {
        @Override
        public long getSystemNanos() {
            return getCpuNanos - getUserNanos;
        }

        @Override
        public long getOwnNanos() {
            return getCpuNanos - getCarriedNanos;
        }
    }

    /** The threads with further names are counted together. */
    private static final int MAX_NAMES = 1_000;

    private static final CpuTime NONE = new CpuTime(0, 0, 0);

    // Indexes in struct carrier, which is declared in shared.h of the clock.
    private static final int TID_AND_INDEX = 0;
    private static final int SEQUENCE = 1;
    private static final int LAST_CPU = 4;
    private static final int LAST_USER = 5;
    private static final int CARRIED_CPU = 6;
    private static final int CARRIED_USER = 7;
    private static final int FIRST_CPU = 8;
    private static final int FIRST_USER = 9;
    private static final int QUESTIONS = 10;
    private static final int SPLITS = 11;
    private static final int FIELDS = 12;

    /** The size of a carrier's record, which is about the size of its cells in each group. */
    private static final long BYTES_PER_CARRIER = 144;
    /** The maximum number of cells of a group, including the shared one. */
    private static final int MAX_CELLS = 257;

    /** The classes that a mount uses. They are defined in java.lang. */
    private static final List<String> HOOK_CLASSES = List.of(
            "java.lang.TaskClockGroup",
            "java.lang.TaskClockCarrier",
            "java.lang.TaskClockContext",
            "java.lang.TaskClockAccount",
            "java.lang.TaskClockCalls",
            "java.lang.TaskClockCalls$Critical",
            "java.lang.TaskClockProbe");

    private final Instrumentation instrumentation;
    private final TaskClockHooks hooks;
    private final VirtualThreadPatch patch;
    private final VirtualScheduler scheduler;
    private final Map<String, TaskClockGroup> groups = new ConcurrentHashMap<>();
    /** The last returned totals by name. */
    private final Map<String, Group> lastGroups = new HashMap<>();

    /**
     * What carriers used while accounting was off, by the index of their records. It is in no figure, because nobody
     * knows what it was used for.
     */
    private Map<Integer, CpuTime> unaccounted = Map.of();
    /** The CPU time of each carrier when accounting was switched off, by index; null while it is on. */
    private Map<Integer, Long> stoppedAt;
    /** The CPU time of each carrier when accounting was last switched on again, by index. */
    private Map<Integer, Long> resumedAt = Map.of();

    private volatile boolean prepared;

    VirtualAccounts(Instrumentation instrumentation, TaskClockHooks hooks, VirtualThreadPatch patch) {
        this.instrumentation = instrumentation;
        this.hooks = hooks;
        this.patch = patch;
        scheduler = new VirtualScheduler(hooks);
    }

    boolean isInstalled() {
        return patch.isEnabled(VirtualThreadPatch.Use.MOUNTS);
    }

    void install() throws FeatureException {
        if (isInstalled()) return;
        resumeCarriers();
        try {
            hooks.setAccounting(true);
            patch.enable(VirtualThreadPatch.Use.MOUNTS, this);
        } catch (FeatureException | RuntimeException | Error e) {
            remove();
            throw e;
        }
    }

    /** Prepares for the first mount. */
    @Override
    public void run() throws FeatureException {
        if (prepared) return;
        defineHooks();
        FeatureException.throwIf(hooks.prepareAccounts(this));
        prepared = true;
    }

    private void defineHooks() throws FeatureException {
        try {
            for (String name : HOOK_CLASSES) Hooks.defineClass(instrumentation, Thread.class, name);
        } catch (IllegalAccessException | IOException | LinkageError e) {
            throw new FeatureException("cannot define the accounts in java.lang: " + e, e);
        }
    }

    void remove() {
        // The order matters: otherwise a probe that runs now would report that the patch was lost.
        patch.disable(VirtualThreadPatch.Use.MOUNTS);
        hooks.setAccounting(false);
        stopCarriers();
    }

    /** Removes the accounts after mounts have stopped to call us. */
    void removeLost() {
        mountsWereLost();
        hooks.setPatchedRedefinitions(VirtualThreadPatch.NEVER);
        remove();
    }

    /** Sets the listener; null for none. */
    void setEndListener(EndListener listener) {
        hooks.setEndListener(
                listener == null ? null : (thread, times) -> listener.ended(thread, times[0], times[1], times[2] != 0));
    }

    // ---- called on the carrier

    /** Returns the group of a thread that is mounted for the first time. */
    @Override
    public TaskClockGroup apply(Thread thread) {
        String name = GroupNames.ofVirtual(thread);
        TaskClockGroup found = groups.get(name);
        if (found != null) return found;
        return groups.computeIfAbsent(groups.size() < MAX_NAMES ? name : GroupNames.OTHER, n -> new TaskClockGroup());
    }

    // ---- called by readers

    boolean isTruncated() {
        return groups.containsKey(GroupNames.OTHER);
    }

    /**
     * Returns all groups, most CPU time first. The cost depends on the number of names and carriers, not of threads.
     */
    synchronized List<Group> groups() {
        if (!prepared) return List.of();
        IdentityHashMap<TaskClockGroup, long[]> totals = new IdentityHashMap<>();
        for (TaskClockGroup group : groups.values()) {
            long[] groupTotals = new long[TaskClockGroup.TOTALS];
            group.addTo(groupTotals);
            totals.put(group, groupTotals);
        }
        // Read after the totals, so that the time of a thread that is unmounted in between is not counted twice.
        long[] fields = fields();
        IdentityHashMap<TaskClockGroup, Integer> mounted = new IdentityHashMap<>();
        for (int at = 0; at < fields.length; at += FIELDS) {
            TaskClockGroup group = mountedGroup(fields, at);
            if (group != null) mounted.merge(group, 1, Integer::sum);
            hooks.addLastGroup(index(fields, at), fields[at + CARRIED_CPU], fields[at + CARRIED_USER], totals);
            addMounted(fields, at, totals);
        }
        List<Group> all = new ArrayList<>();
        groups.forEach((name, group) -> {
            long[] now = totals.get(group);
            if (now == null || now[TaskClockGroup.STARTED] == 0 || name.equals(TaskClockHooks.PROBE)) return;
            long live = Math.max(0, now[TaskClockGroup.STARTED] - now[TaskClockGroup.ENDED]);
            // The totals may lack the time of a thread that was unmounted in between, but they must not decrease.
            Group last = lastGroups.getOrDefault(name, new Group(name, 0, 0, 0, 0, 0));
            long cpu = Math.max(now[TaskClockGroup.CPU], last.getCpuNanos);
            long user = Math.min(cpu, Math.max(now[TaskClockGroup.USER], last.getUserNanos));
            long running = Math.min(live, mounted.getOrDefault(group, 0));
            Group current = new Group(name, live, running, now[TaskClockGroup.ENDED], cpu, user);
            lastGroups.put(name, current);
            all.add(current);
        });
        all.sort(Comparator.comparingLong(Group::getCpuNanos).reversed());
        return all;
    }

    /** Returns the group of the thread that is mounted on a carrier; null if there is none. */
    private TaskClockGroup mountedGroup(long[] fields, int at) {
        if ((fields[at + SEQUENCE] & 1) == 0) return null;
        TaskClockGroup group = hooks.lastGroup(index(fields, at));
        return hooks.carrierSequence(index(fields, at)) == fields[at + SEQUENCE] ? group : null;
    }

    /** Returns the number of virtual threads that could run but have no carrier; -1 if unknown. */
    long queued() {
        return scheduler.queued();
    }

    /** Returns how many virtual threads the JDK's scheduler runs at the same time; 0 if unknown. */
    int parallelism() {
        return scheduler.parallelism();
    }

    /** Adds the time that a mounted thread has used since it was mounted. */
    private void addMounted(long[] fields, int at, IdentityHashMap<TaskClockGroup, long[]> totals) {
        boolean isMounted = (fields[at + SEQUENCE] & 1) == 1;
        long now = isMounted ? clock(fields, at).nanos() : -1;
        TaskClockGroup group = now > fields[at + LAST_CPU] ? hooks.lastGroup(index(fields, at)) : null;
        long[] groupTotals = group == null ? null : totals.get(group);
        // The values are consistent only if the carrier is still in the same mount.
        if (groupTotals == null || hooks.carrierSequence(index(fields, at)) != fields[at + SEQUENCE]) return;
        long more = now - fields[at + LAST_CPU];
        groupTotals[TaskClockGroup.CPU] += more;
        groupTotals[TaskClockGroup.USER] += userPart(more, fields, at);
    }

    /**
     * Returns the memory of the carriers' records and the groups. Excludes the account of each virtual thread, which
     * takes 40 bytes.
     */
    long memoryBytes() {
        long carriers = fields().length / FIELDS;
        return BYTES_PER_CARRIER * (carriers + Math.min(carriers, MAX_CELLS) * groups.size());
    }

    /** Returns the number of mounts so far, and of system calls for them. */
    Health.Mounts mounts() {
        long mounts = 0;
        long clockCalls = 0;
        long usageCalls = 0;
        long[] fields = fields();
        for (int at = 0; at < fields.length; at += FIELDS) {
            mounts += (fields[at + SEQUENCE] + 1) / 2;
            clockCalls += fields[at + QUESTIONS];
            usageCalls += fields[at + SPLITS];
        }
        return new Health.Mounts(mounts, clockCalls, usageCalls);
    }

    /** Returns the fields of all carriers' records, one record after the other. */
    private long[] fields() {
        if (!prepared) return new long[0];
        long[] fields = new long[0];
        int count;
        while ((count = hooks.carriers(fields)) * FIELDS > fields.length) {
            fields = new long[(count + 8) * FIELDS];
        }
        int length = 0;
        for (int at = 0; at < count * FIELDS; at += FIELDS) {
            // The thread that links the calls has a record for a short time, but never mounts an account.
            if (!hooks.hasMounted(index(fields, at))) continue;
            System.arraycopy(fields, at, fields, length, FIELDS);
            length += FIELDS;
        }
        return Arrays.copyOf(fields, length);
    }

    private synchronized void stopCarriers() {
        if (stoppedAt != null) return;
        mountsWereLost(); // for the case that there is no memory for more
        Map<Integer, Long> now = new HashMap<>();
        long[] fields = fields();
        for (int at = 0; at < fields.length; at += FIELDS)
            now.put(index(fields, at), clock(fields, at).nanos());
        stoppedAt = now;
    }

    /** Records that what carriers have used since they last unmounted a thread was not accounted for. */
    synchronized void mountsWereLost() {
        if (stoppedAt == null) stoppedAt = resumedAt;
    }

    /** Records that what carriers use from now on is accounted for. */
    synchronized void resumeCarriers() {
        if (stoppedAt == null) return;
        Map<Integer, Long> now = new HashMap<>();
        Map<Integer, CpuTime> all = new HashMap<>(unaccounted);
        long[] fields = fields();
        for (int at = 0; at < fields.length; at += FIELDS) {
            if ((fields[at + SEQUENCE] & 1) == 1) continue; // still the thread of that time
            int index = index(fields, at);
            long nanos = clock(fields, at).nanos();
            now.put(index, nanos);
            long more = nanos - accountedUntil(fields, at);
            if (more <= 0) continue; // it has ended
            CpuTime before = all.getOrDefault(index, NONE);
            long user = before.userNanos() + userPart(more, fields, at);
            long cpu = before.cpuNanos() + more;
            all.put(index, new CpuTime(cpu, user, cpu - user));
        }
        unaccounted = all;
        stoppedAt = null;
        resumedAt = now;
    }

    /**
     * Returns the CPU time of a carrier without a mounted thread up to which it was accounted for: when accounting was
     * switched off, or when it unmounted the thread of that time.
     */
    private long accountedUntil(long[] fields, int at) {
        return Math.max(fields[at + LAST_CPU], stoppedAt.getOrDefault(index(fields, at), 0L));
    }

    /** Returns the kernel's id of the carrier, the lower half of the first field; 0 if it has ended. */
    private static int tid(long[] fields, int at) {
        return (int) fields[at + TID_AND_INDEX];
    }

    private static int index(long[] fields, int at) {
        return (int) (fields[at + TID_AND_INDEX] >>> Integer.SIZE);
    }

    private static ClockId clock(long[] fields, int at) {
        return ClockId.thread(tid(fields, at), ClockId.Kind.SCHED);
    }

    synchronized List<Carrier> carriers() {
        List<Carrier> all = new ArrayList<>();
        long[] fields = fields();
        for (int at = 0; at < fields.length; at += FIELDS) all.add(carrier(fields, at));
        return all;
    }

    private Carrier carrier(long[] fields, int at) {
        int tid = tid(fields, at);
        boolean isMounted = (fields[at + SEQUENCE] & 1) == 1;
        long firstCpu = fields[at + FIRST_CPU];
        long firstUser = fields[at + FIRST_USER];
        long cpu = fields[at + LAST_CPU];
        long user = fields[at + LAST_USER];
        long carried = fields[at + CARRIED_CPU];
        long carriedUser = fields[at + CARRIED_USER];
        long now = tid == 0 ? -1 : clock(fields, at).nanos();
        long until = stoppedAt == null || isMounted ? now : Math.min(now, accountedUntil(fields, at));
        if (until > cpu) {
            // The time since the last mount or unmount belongs to the mounted thread, or else to the carrier itself.
            long more = until - cpu;
            long moreUser = userPart(more, fields, at);
            if (isMounted) {
                carried += more;
                carriedUser += moreUser;
            }
            cpu += more;
            user += moreUser;
        }
        CpuTime excluded = unaccounted.getOrDefault(index(fields, at), NONE);
        long all = Math.max(carried, cpu - firstCpu - excluded.cpuNanos());
        // The user part of what is excluded is estimated. The carrier's own part has neither too little nor too much.
        long least = carriedUser;
        long most = carriedUser + all - carried;
        long allUser = Math.min(most, Math.max(least, user - firstUser - excluded.userNanos()));
        return new Carrier(now < 0 ? 0 : tid, all, allUser, carried, carriedUser);
    }

    /**
     * Returns the user part of the CPU time since the last mount or unmount, assuming the same proportion as before.
     */
    private static long userPart(long nanos, long[] fields, int at) {
        long cpu = fields[at + LAST_CPU];
        return cpu == 0 ? 0 : (long) ((double) nanos * fields[at + LAST_USER] / cpu);
    }
}
