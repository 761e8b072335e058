// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.io.IOException;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.taskclock.ClockId;
import org.taskclock.CpuTime;
import org.taskclock.ThreadClock;

/**
 * CPU times of virtual threads. Each has its own account, {@code TaskClockAccount}; what is here are the totals of those that
 * ended, by name, and what the carriers used.
 */
final class VirtualAccounts implements BiConsumer<Thread, long[]>, Agency.Step {
    /** Hears of a virtual thread that ended. */
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

    private static final class Total {
        final LongAdder threads = new LongAdder();
        final LongAdder cpu = new LongAdder();
        final LongAdder user = new LongAdder();
    }

    /** So many names, and what comes after is "other". */
    private static final int MOST = 1_000;

    private static final String OTHER = "(other)";
    private static final String UNNAMED = "(unnamed)";

    // Of struct carrier, shared.h of the clock.
    private static final int TID = 0;
    private static final int TURN = 1;
    private static final int FIRST_CPU = 5;
    private static final int FIRST_USER = 6;
    private static final int LAST_CPU = 7;
    private static final int LAST_USER = 8;
    private static final int CARRIED_CPU = 9;
    private static final int CARRIED_USER = 10;
    private static final int FACTS = 11;

    /** In java.lang, what is called at a mount. */
    private static final List<String> HOOKS =
            List.of("java.lang.TaskClockAccount", "java.lang.TaskClockCalls", "java.lang.TaskClockCalls$Critical");

    private final Instrumentation jvm;
    private final Hooks hooks;
    private final VirtualThreads virtual;
    private final Map<String, Total> totals = new ConcurrentHashMap<>();
    private volatile Listener listener;
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
        virtual.use(VirtualThreads.Use.MOUNTS, this);
        hooks.call("setAccounting", true);
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
        hooks.call("setAccounting", false);
        virtual.release(VirtualThreads.Use.MOUNTS);
    }

    void listen(Listener wanted) {
        listener = wanted;
    }

    // ---- on the last carrier of a thread

    @Override
    public void accept(Thread thread, long[] cpuAndUser) {
        Total total = totalOf(nameOf(thread));
        total.threads.increment();
        total.cpu.add(cpuAndUser[0]);
        total.user.add(cpuAndUser[1]);
        Listener hears = listener;
        if (hears != null) hears.ended(thread, cpuAndUser[0], cpuAndUser[1]);
    }

    private static String nameOf(Thread thread) {
        String name = thread.getName();
        return name.isEmpty() ? UNNAMED : Names.normalised(name);
    }

    private Total totalOf(String name) {
        Total found = totals.get(name);
        if (found != null) return found;
        return totals.computeIfAbsent(totals.size() < MOST ? name : OTHER, n -> new Total());
    }

    // ---- for those that look

    boolean isOverflown() {
        return totals.containsKey(OTHER);
    }

    /** All of them, most CPU time first. Looks at each thread that lives. */
    List<Group> groups() {
        if (!prepared) return List.of();
        Map<String, Group> groups = new HashMap<>();
        totals.forEach((name, total) ->
                groups.put(name, new Group(name, 0, total.threads.sum(), total.cpu.sum(), total.user.sum())));
        for (Thread thread : (Thread[]) hooks.call("virtualThreads")) {
            long[] times = times(thread);
            if (times == null) continue;
            String own = nameOf(thread);
            String name = groups.containsKey(own) || groups.size() < MOST ? own : OTHER;
            groups.merge(
                    name,
                    new Group(name, 1, 0, times[0], times[1]),
                    (a, b) -> new Group(
                            name,
                            a.live + b.live,
                            a.ended + b.ended,
                            a.cpuNanos + b.cpuNanos,
                            a.userNanos + b.userNanos));
        }
        List<Group> all = new ArrayList<>(groups.values());
        all.sort(Comparator.comparingLong(Group::cpuNanos).reversed());
        return all;
    }

    /** Cpu and user; null where nobody accounts for it. */
    private long[] times(Thread thread) {
        CpuTime now = ThreadClock.of(thread).now();
        return now.isKnown() ? new long[] {now.cpuNanos(), now.userNanos()} : null;
    }

    List<Carrier> carriers() {
        List<Carrier> all = new ArrayList<>();
        if (!prepared) return all;
        long[] facts = new long[0];
        int count;
        while ((count = (int) hooks.call("carriers", (Object) facts)) * FACTS > facts.length) {
            facts = new long[(count + 8) * FACTS];
        }
        for (int i = 0; i < count; i++) {
            Carrier carrier = carrier(facts, i * FACTS);
            // One without either was given back: by the thread that links the calls.
            if (carrier.tid != 0 || carrier.cpuNanos != 0) all.add(carrier);
        }
        return all;
    }

    /** A record as {@code struct carrier} of the clock's shared.h has it. */
    private static Carrier carrier(long[] facts, int at) {
        long tid = facts[at + TID];
        boolean mounted = (facts[at + TURN] & 1) == 1;
        long firstCpu = facts[at + FIRST_CPU];
        long firstUser = facts[at + FIRST_USER];
        long cpu = facts[at + LAST_CPU];
        long user = facts[at + LAST_USER];
        long carried = facts[at + CARRIED_CPU];
        long carriedUser = facts[at + CARRIED_USER];
        long now = tid == 0 ? -1 : ClockId.thread((int) tid, ClockId.Kind.SCHED).nanos();
        if (now > cpu) {
            // What came since is the mounted thread's, or else the carrier's own, and is split as all before.
            long more = now - cpu;
            long moreUser = cpu == 0 ? 0 : (long) ((double) more * user / cpu);
            if (mounted) {
                carried += more;
                carriedUser += moreUser;
            }
            cpu += more;
            user += moreUser;
        }
        return new Carrier(now < 0 ? 0 : tid, cpu - firstCpu, user - firstUser, carried, carriedUser);
    }
}
