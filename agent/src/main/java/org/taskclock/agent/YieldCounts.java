// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * Who yielded, how often, from where. The counts are the native records'; from where, and by which virtual thread, is
 * known for a sample of the yields, each of which stands for those since the one before on its thread.
 */
final class YieldCounts {
    /**
     * What one platform thread, or all that ended under one name, did.
     *
     * @param name of the thread; for ended ones with digits as #
     * @param tid the kernel's id; 0 for ended ones
     * @param yields its own
     * @param virtualYields those of virtual threads while it carried them
     * @param yieldNanos CPU time of its own yields, from those that were measured
     * @param switches at how many of its own yields it was switched out, likewise
     * @param userNanos what it used from its first yield on
     * @param systemNanos what the kernel used for it
     * @param voluntary how often it blocked
     * @param involuntary how often it was switched out while it could have run
     */
    record Yielder(
            String name,
            long tid,
            long yields,
            long virtualYields,
            long yieldNanos,
            long switches,
            long userNanos,
            long systemNanos,
            long voluntary,
            long involuntary) {
        static Yielder of(String name, long[] facts, int at) {
            double each = facts[at + 3] == 0 ? 0 : (double) facts[at + 1] / facts[at + 3];
            return new Yielder(
                    name,
                    facts[at],
                    facts[at + 1],
                    facts[at + 2],
                    (long) (facts[at + 4] * each),
                    (long) (facts[at + 5] * each),
                    facts[at + 8],
                    facts[at + 9],
                    facts[at + 10],
                    facts[at + 11]);
        }

        Yielder plus(Yielder other) {
            return new Yielder(
                    name,
                    0,
                    yields + other.yields,
                    virtualYields + other.virtualYields,
                    yieldNanos + other.yieldNanos,
                    switches + other.switches,
                    userNanos + other.userNanos,
                    systemNanos + other.systemNanos,
                    voluntary + other.voluntary,
                    involuntary + other.involuntary);
        }

        Yielder ended() {
            return new Yielder(
                    Names.normalised(name),
                    0,
                    yields,
                    virtualYields,
                    yieldNanos,
                    switches,
                    userNanos,
                    systemNanos,
                    voluntary,
                    involuntary);
        }
    }

    /** A place that yields: frames from the caller of yield outwards, as many as are kept; of its yields, the virtual threads'. */
    record Site(List<StackTraceElement> frames, long yields, long virtualYields) {
        /** The caller of yield. */
        String name() {
            return frames.isEmpty() ? OTHER : frames.get(0).toString();
        }

        /** All frames, one in a line. */
        String callers() {
            return frames.stream().map(StackTraceElement::toString).collect(Collectors.joining("\n"));
        }
    }

    private static final int FACTS = 12;
    private static final int DEPTH = 8;
    /** Places, names of virtual threads and of ended ones: so many of each, and what comes after is "other". */
    private static final int MOST = 1_000;

    private static final String OTHER = "(other)";
    private static final List<StackTraceElement> OTHER_SITE = List.of();

    private final Hooks hooks;
    /** Names by number of the record. */
    private final Map<Integer, String> names = new ConcurrentHashMap<>();

    private final Map<List<StackTraceElement>, LongAdder> sites = new ConcurrentHashMap<>();
    private final Map<List<StackTraceElement>, LongAdder> virtualSites = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> virtualThreads = new ConcurrentHashMap<>();
    private final Map<String, Yielder> ended = new ConcurrentHashMap<>();
    /** Sweep when so many records are in use. */
    private int sweepAt = 1_024;

    private volatile boolean overflown;

    YieldCounts(Hooks hooks) {
        this.hooks = hooks;
    }

    // ---- on the thread that yields

    void first(Thread thread, int record) {
        if (record < 0) {
            overflown = true;
            return;
        }
        names.put(record, thread.getName());
        if (names.size() >= sweepAt) sweep();
    }

    void sampled(Thread thread, long weight) {
        List<StackTraceElement> frames = StackWalker.getInstance().walk(all -> all.dropWhile(YieldCounts::isOurs)
                .limit(DEPTH)
                .map(StackFrame::toStackTraceElement)
                .collect(Collectors.toList()));
        adder(sites, frames, OTHER_SITE).add(weight);
        if (!isPlatform(thread)) {
            adder(virtualSites, frames, OTHER_SITE).add(weight);
            String name = thread.getName();
            adder(virtualThreads, name.isEmpty() ? "#" + thread.getId() : name, OTHER)
                    .add(weight);
        }
    }

    private static boolean isPlatform(Thread thread) {
        return thread.getClass() == Thread.class || !thread.getClass().getName().startsWith("java.lang.VirtualThread");
    }

    private static boolean isOurs(StackFrame frame) {
        String name = frame.getClassName();
        String method = frame.getMethodName();
        return name.equals(YieldCounts.class.getName())
                || name.equals("java.lang.TaskClockHooks")
                || (name.equals("java.lang.Thread") && method.startsWith("yield"))
                || (name.equals("java.lang.VirtualThread") && method.equals("tryYield"));
    }

    private static <K> LongAdder adder(Map<K, LongAdder> map, K key, K other) {
        LongAdder found = map.get(key);
        if (found != null) return found;
        return map.computeIfAbsent(map.size() < MOST ? key : other, k -> new LongAdder());
    }

    // ---- for those that look

    boolean isOverflown() {
        return overflown;
    }

    /** Platform threads that yielded or carried virtual ones that did, and what ended ones left, most yields first. */
    synchronized List<Yielder> yielders() {
        sweep();
        List<Yielder> all = new ArrayList<>(ended.values());
        long[] facts = facts();
        names.forEach((record, name) -> {
            if ((record + 1) * FACTS <= facts.length) all.add(Yielder.of(name, facts, record * FACTS));
        });
        all.sort(Comparator.comparingLong((Yielder y) -> y.yields + y.virtualYields)
                .reversed());
        return all;
    }

    List<Site> sites() {
        List<Site> all = new ArrayList<>();
        sites.forEach((frames, yields) -> {
            LongAdder virtual = virtualSites.get(frames);
            all.add(new Site(frames, yields.sum(), virtual == null ? 0 : virtual.sum()));
        });
        all.sort(Comparator.comparingLong(Site::yields).reversed());
        return all;
    }

    /** Yields by virtual thread, from the sample. */
    Map<String, Long> virtualThreads() {
        return virtualThreads.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().sum()));
    }

    private long[] facts() {
        long[] facts = new long[0];
        int count;
        while ((count = (int) hooks.call("yielders", (Object) facts)) * FACTS > facts.length) {
            facts = new long[(count + 16) * FACTS];
        }
        return facts;
    }

    /** Folds the records of ended threads into totals by name. */
    private synchronized void sweep() {
        long[] facts = facts();
        for (int record : names.keySet().toArray(new Integer[0])) {
            if ((record + 1) * FACTS > facts.length || !(boolean) hooks.call("freeYielder", record)) continue;
            Yielder last =
                    Yielder.of(names.remove(record), facts, record * FACTS).ended();
            String name = ended.containsKey(last.name) || ended.size() < MOST ? last.name : OTHER;
            ended.merge(name, last, Yielder::plus);
        }
        sweepAt = Math.max(1_024, 2 * names.size());
    }
}
