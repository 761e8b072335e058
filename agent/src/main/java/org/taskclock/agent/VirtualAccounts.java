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
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.taskclock.ClockId;

/**
 * CPU times of virtual threads. Each has its own account, {@code TaskClockAccount}, which also adds to the totals of its name,
 * {@code TaskClockGroup}.
 */
final class VirtualAccounts implements Function<Thread, Object>, Agency.Step {
    /** Is called with a virtual thread that ended. */
    interface Listener {
        void ended(Thread thread, long cpuNanos, long userNanos);
    }

    /**
     * What virtual threads of one name used.
     *
     * @param name with numbers as #
     * @param live how many there are now
     * @param ended how many there were
     */
    record Group(String name, long live, long ended, long cpuNanos, long userNanos) {}

    /**
     * What a carrier used since it first carried, or one after another in its place.
     *
     * @param tid the kernel's id; 0 if it has ended
     * @param cpuNanos all of it
     * @param carriedNanos what of it virtual threads used
     */
    record Carrier(long tid, long cpuNanos, long userNanos, long carriedNanos, long carriedUserNanos) {}

    /** Names beyond this many are counted together. */
    private static final int MOST = 1_000;

    private static final String OTHER = "(other)";
    private static final String UNNAMED = "(unnamed)";
    /** As {@code TaskClockProbe} has it. */
    private static final String PROBE = "taskclock-probe";

    // Of struct carrier, shared.h of the clock.
    private static final int TID = 0;
    private static final int TURN = 1;
    private static final int FIRST_CPU = 5;
    private static final int FIRST_USER = 6;
    private static final int LAST_CPU = 7;
    private static final int LAST_USER = 8;
    private static final int CARRIED_CPU = 9;
    private static final int CARRIED_USER = 10;
    private static final int INDEX = 11;
    private static final int FIELDS = 12;

    // Of TaskClockGroup.
    private static final int GROUP_CPU = 0;
    private static final int GROUP_USER = 1;
    private static final int STARTED = 2;
    private static final int ENDED = 3;
    private static final int NUMBERS = 4;
    /** Of its record, and about as much of each group. */
    private static final long BYTES_A_CARRIER = 144;
    /** Of a group, as {@code TaskClockGroup} has it. */
    private static final int MOST_CELLS = 257;

    /** In java.lang, what is called at a mount. */
    private static final List<String> HOOKS = List.of(
            "java.lang.TaskClockGroup",
            "java.lang.TaskClockAccount",
            "java.lang.TaskClockCalls",
            "java.lang.TaskClockCalls$Critical",
            "java.lang.TaskClockProbe");

    private final Instrumentation jvm;
    private final Hooks hooks;
    private final VirtualThreads virtual;
    private final Map<String, Object> groups = new ConcurrentHashMap<>();
    /** By name, as they were returned last. */
    private final Map<String, Group> lastGroups = new HashMap<>();

    private volatile boolean prepared;

    VirtualAccounts(Instrumentation jvm, Hooks hooks, VirtualThreads virtual) {
        this.jvm = jvm;
        this.hooks = hooks;
        this.virtual = virtual;
    }

    boolean isInstalled() {
        return virtual.uses(VirtualThreads.Use.MOUNTS);
    }

    void install() throws Refused {
        if (isInstalled()) return;
        hooks.call("setAccounting", true);
        try {
            virtual.use(VirtualThreads.Use.MOUNTS, this);
        } catch (Refused | RuntimeException | LinkageError e) {
            hooks.call("setAccounting", false);
            throw e;
        }
    }

    /** Makes ready for the first mount. */
    @Override
    public void run() throws Refused {
        if (prepared) return;
        defineHooks();
        Refused.unlessNull((String) hooks.call("prepareAccounts", this));
        prepared = true;
    }

    private void defineHooks() throws Refused {
        try {
            for (String name : HOOKS) Hooks.define(jvm, Thread.class, name);
        } catch (IllegalAccessException | IOException | LinkageError e) {
            throw new Refused("cannot define the accounts in java.lang: " + e, e);
        }
    }

    void remove() {
        if (!isInstalled()) return;
        // In this order, or a probe that runs at this moment would be taken for a change that is gone.
        virtual.release(VirtualThreads.Use.MOUNTS);
        hooks.call("setAccounting", false);
    }

    /** {@code wanted}: null for none. */
    void listen(Listener wanted) {
        BiConsumer<Thread, long[]> ended =
                wanted == null ? null : (thread, times) -> wanted.ended(thread, times[GROUP_CPU], times[GROUP_USER]);
        hooks.call("setEnded", ended);
    }

    // ---- on the carrier, when a thread is mounted for the first time

    @Override
    public Object apply(Thread thread) {
        String name = thread.getName();
        name = name.isEmpty() ? UNNAMED : Names.normalised(name);
        Object found = groups.get(name);
        if (found != null) return found;
        return groups.computeIfAbsent(groups.size() < MOST ? name : OTHER, n -> hooks.call("newGroup"));
    }

    // ---- for those that look

    boolean isOverflown() {
        return groups.containsKey(OTHER);
    }

    /** All of them, most CPU time first. Costs what there are names and carriers, however many threads there are. */
    synchronized List<Group> groups() {
        if (!prepared) return List.of();
        IdentityHashMap<Object, long[]> totals = new IdentityHashMap<>();
        for (Object group : groups.values()) {
            long[] ofGroup = new long[NUMBERS];
            hooks.call("addTotals", group, ofGroup);
            totals.put(group, ofGroup);
        }
        // In this order, so that a thread that is unmounted meanwhile is not counted twice.
        long[] fields = fields();
        for (int at = 0; at < fields.length; at += FIELDS) addRunning(fields, at, totals);
        List<Group> all = new ArrayList<>();
        groups.forEach((name, group) -> {
            long[] now = totals.get(group);
            if (now == null || now[STARTED] == 0 || name.equals(PROBE)) return;
            long live = Math.max(0, now[STARTED] - now[ENDED]);
            // One that is unmounted meanwhile may be left out until the next call, but no total goes back.
            Group last = lastGroups.getOrDefault(name, new Group(name, 0, 0, 0, 0));
            long cpu = Math.max(now[GROUP_CPU], last.cpuNanos);
            long user = Math.min(cpu, Math.max(now[GROUP_USER], last.userNanos));
            Group sum = new Group(name, live, now[ENDED], cpu, user);
            lastGroups.put(name, sum);
            all.add(sum);
        });
        all.sort(Comparator.comparingLong(Group::cpuNanos).reversed());
        return all;
    }

    /** What a thread that is mounted has used since its mount. */
    private void addRunning(long[] fields, int at, IdentityHashMap<Object, long[]> totals) {
        boolean mounted = (fields[at + TURN] & 1) == 1;
        long now = mounted
                ? ClockId.thread((int) fields[at + TID], ClockId.Kind.SCHED).nanos()
                : -1;
        Object group = now > fields[at + LAST_CPU] ? hooks.call("lastGroup", (int) fields[at + INDEX]) : null;
        long[] ofGroup = group == null ? null : totals.get(group);
        // What was read is of one mount only if the carrier is in it still.
        if (ofGroup == null || (long) hooks.call("turn", (int) fields[at + INDEX]) != fields[at + TURN]) return;
        long more = now - fields[at + LAST_CPU];
        ofGroup[GROUP_CPU] += more;
        ofGroup[GROUP_USER] += userPart(more, fields, at);
    }

    /** The carriers' records and the groups' numbers; not the accounts, of which each virtual thread has one of 40 bytes. */
    long memoryBytes() {
        long carriers = fields().length / FIELDS;
        return BYTES_A_CARRIER * (carriers + Math.min(carriers, MOST_CELLS) * groups.size());
    }

    /** How often a virtual thread was mounted. */
    long mounts() {
        long mounts = 0;
        long[] fields = fields();
        for (int at = 0; at < fields.length; at += FIELDS) mounts += (fields[at + TURN] + 1) / 2;
        return mounts;
    }

    /** The records of all carriers, one after the other. */
    private long[] fields() {
        if (!prepared) return new long[0];
        long[] fields = new long[0];
        int count;
        while ((count = (int) hooks.call("carriers", (Object) fields)) * FIELDS > fields.length) {
            fields = new long[(count + 8) * FIELDS];
        }
        int length = 0;
        for (int at = 0; at < count * FIELDS; at += FIELDS) {
            // The thread that links the calls has a record for a moment, but never mounts an account.
            if (!(boolean) hooks.call("hasMounted", (int) fields[at + INDEX])) continue;
            System.arraycopy(fields, at, fields, length, FIELDS);
            length += FIELDS;
        }
        return Arrays.copyOf(fields, length);
    }

    List<Carrier> carriers() {
        List<Carrier> all = new ArrayList<>();
        long[] fields = fields();
        for (int at = 0; at < fields.length; at += FIELDS) all.add(carrier(fields, at));
        return all;
    }

    /** A record as {@code struct carrier} of the clock's shared.h has it. */
    private static Carrier carrier(long[] fields, int at) {
        long tid = fields[at + TID];
        boolean mounted = (fields[at + TURN] & 1) == 1;
        long firstCpu = fields[at + FIRST_CPU];
        long firstUser = fields[at + FIRST_USER];
        long cpu = fields[at + LAST_CPU];
        long user = fields[at + LAST_USER];
        long carried = fields[at + CARRIED_CPU];
        long carriedUser = fields[at + CARRIED_USER];
        long now = tid == 0 ? -1 : ClockId.thread((int) tid, ClockId.Kind.SCHED).nanos();
        if (now > cpu) {
            // What came since is the mounted thread's, or else the carrier's own.
            long more = now - cpu;
            long moreUser = userPart(more, fields, at);
            if (mounted) {
                carried += more;
                carriedUser += moreUser;
            }
            cpu += more;
            user += moreUser;
        }
        return new Carrier(now < 0 ? 0 : tid, cpu - firstCpu, user - firstUser, carried, carriedUser);
    }

    /** Of CPU time since the last look, split like all before. */
    private static long userPart(long nanos, long[] fields, int at) {
        long cpu = fields[at + LAST_CPU];
        return cpu == 0 ? 0 : (long) ((double) nanos * fields[at + LAST_USER] / cpu);
    }
}
