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
import java.util.concurrent.locks.ReentrantLock;
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
        static Yielder of(String name, long[] numbers, int at) {
            double each = numbers[at + 3] == 0 ? 0 : (double) numbers[at + 1] / numbers[at + 3];
            return new Yielder(
                    name,
                    Math.max(0, numbers[at]),
                    numbers[at + 1],
                    numbers[at + 2],
                    (long) (numbers[at + 4] * each),
                    (long) (numbers[at + 5] * each),
                    numbers[at + 8],
                    numbers[at + 9],
                    numbers[at + 10],
                    numbers[at + 11]);
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

    private static final int NUMBERS = 12;
    private static final int DEPTH = 8;
    /** Places, names of virtual threads and of ended ones: so many of each, and what comes after is "other". */
    private static final int MOST = 1_000;

    private static final long BYTES_A_SITE = 1_500;
    private static final long BYTES_A_NAME = 200;
    private static final String OTHER = "(other)";
    private static final String UNNAMED = "(unnamed)";
    private static final List<StackTraceElement> OTHER_SITE = List.of();

    private final Hooks hooks;
    /** Held by whoever sweeps or reads. A thread that yields never waits for it. */
    private final ReentrantLock lock = new ReentrantLock();
    /** Names by number of the record. */
    private final Map<Integer, String> names = new ConcurrentHashMap<>();

    private final LongAdder stacks = new LongAdder();
    private final Map<List<StackTraceElement>, LongAdder> sites = new ConcurrentHashMap<>();
    private final Map<List<StackTraceElement>, LongAdder> virtualSites = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> virtualThreads = new ConcurrentHashMap<>();
    private final Map<String, Yielder> ended = new ConcurrentHashMap<>();
    /** Sweep when so many records are in use. */
    private volatile int sweepAt = 1_024;

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
        if (names.size() < sweepAt || !lock.tryLock()) return;
        try {
            sweep();
        } finally {
            lock.unlock();
        }
    }

    void sampled(Thread thread, long weight) {
        stacks.increment();
        List<StackTraceElement> frames = StackWalker.getInstance().walk(all -> all.dropWhile(YieldCounts::isOurs)
                .limit(DEPTH)
                .map(StackFrame::toStackTraceElement)
                .collect(Collectors.toList()));
        adder(sites, frames, OTHER_SITE).add(weight);
        if (!isPlatform(thread)) {
            adder(virtualSites, frames, OTHER_SITE).add(weight);
            String name = thread.getName();
            adder(virtualThreads, name.isEmpty() ? UNNAMED : Names.normalised(name), OTHER)
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

    /** Whether there were more threads, names or places than are kept. */
    boolean isOverflown() {
        return overflown
                || sites.containsKey(OTHER_SITE)
                || virtualThreads.containsKey(OTHER)
                || ended.containsKey(OTHER);
    }

    /** Platform threads that yielded or carried virtual ones that did, and totals of ended ones, most yields first. */
    List<Yielder> yielders() {
        lock.lock();
        try {
            sweep();
            List<Yielder> all = new ArrayList<>(ended.values());
            long[] numbers = numbers();
            names.forEach((record, name) -> {
                if ((record + 1) * NUMBERS <= numbers.length) all.add(Yielder.of(name, numbers, record * NUMBERS));
            });
            all.sort(Comparator.comparingLong((Yielder y) -> y.yields + y.virtualYields)
                    .reversed());
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** How many stacks were walked. */
    long stacks() {
        return stacks.sum();
    }

    /** Native records in use, and an estimate of the tables. */
    long memoryBytes() {
        long tables = (long) (sites.size() + virtualSites.size()) * BYTES_A_SITE
                + (long) (names.size() + ended.size() + virtualThreads.size()) * BYTES_A_NAME;
        return numbers().length * 8L + tables;
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

    /** Yields by name of the virtual thread, with numbers as #, from the sample. */
    Map<String, Long> virtualThreads() {
        return virtualThreads.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().sum()));
    }

    private long[] numbers() {
        long[] numbers = new long[0];
        int count;
        while ((count = (int) hooks.call("yielders", (Object) numbers)) * NUMBERS > numbers.length) {
            numbers = new long[(count + 16) * NUMBERS];
        }
        return numbers;
    }

    /** Adds the records of ended threads to totals by name. By the holder of the lock only. */
    private void sweep() {
        long[] last = new long[NUMBERS];
        for (int record : names.keySet().toArray(new Integer[0])) {
            // First the name: as soon as the record is free, another thread may get it, and put its own name there.
            String threadName = names.remove(record);
            if (!(boolean) hooks.call("freeYielder", record, last)) {
                names.putIfAbsent(record, threadName);
                continue;
            }
            Yielder yielder = Yielder.of(threadName, last, 0).ended();
            String name = ended.containsKey(yielder.name) || ended.size() < MOST ? yielder.name : OTHER;
            ended.merge(name, yielder, Yielder::plus);
        }
        sweepAt = Math.max(1_024, 2 * names.size());
    }
}
