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
import org.taskclock.PoolName;

/**
 * Counts of yields by thread and by call site. The counts by platform thread come from the native records and are
 * exact. The counts by call site and by virtual thread come from samples. Each sample represents the yields of its
 * thread since the previous one.
 */
final class YieldCounts {
    /** The yields of one platform thread, or of all ended threads with the same name. */
    record Yielder(
            String getName,
            long getTid,
            long getYields,
            long getVirtualYields,
            long getYieldNanos,
            long getYieldSwitches,
            long getUserNanos,
            long getSystemNanos,
            long getVoluntarySwitches,
            long getInvoluntarySwitches)
            implements TaskClockMXBean.Yielder {
        /** Reads a {@code struct yielder} of yield.c. */
        static Yielder of(String name, long[] fields, int at) {
            long timed = fields[at + 3];
            double yieldsPerTimed = timed == 0 ? 0 : (double) fields[at + 1] / timed;
            return new Yielder(
                    name,
                    Math.max(0, fields[at]),
                    fields[at + 1],
                    fields[at + 2],
                    fields[at + 4],
                    (long) (fields[at + 5] * yieldsPerTimed),
                    fields[at + 8],
                    fields[at + 9],
                    fields[at + 10],
                    fields[at + 11]);
        }

        Yielder plus(Yielder other) {
            return new Yielder(
                    getName,
                    0,
                    getYields + other.getYields,
                    getVirtualYields + other.getVirtualYields,
                    getYieldNanos + other.getYieldNanos,
                    getYieldSwitches + other.getYieldSwitches,
                    getUserNanos + other.getUserNanos,
                    getSystemNanos + other.getSystemNanos,
                    getVoluntarySwitches + other.getVoluntarySwitches,
                    getInvoluntarySwitches + other.getInvoluntarySwitches);
        }
    }

    /**
     * A call site of Thread.yield.
     *
     * @param frames the stack from the caller of yield outward, up to the depth that is kept
     * @param virtualYields how many of the yields are those of virtual threads
     */
    record Site(List<StackTraceElement> frames, long getYields, long virtualYields)
            implements TaskClockMXBean.YieldSite {
        @Override
        public String getSite() {
            return frames.isEmpty() ? GroupNames.OTHER : frames.get(0).toString();
        }

        @Override
        public List<String> getStack() {
            return frames.stream().map(StackTraceElement::toString).collect(Collectors.toList());
        }
    }

    private static final int FIELDS = 12;
    private static final int MAX_DEPTH = 8;
    /**
     * The maximum number of sites. The same maximum applies to the names of virtual threads, and to the names of ended
     * threads. The rest are counted as "(other)".
     */
    private static final int MAX_ENTRIES = 1_000;

    private static final long BYTES_PER_SITE = 1_500;
    private static final long BYTES_PER_NAME = 200;
    private static final int MIN_SWEEP_THRESHOLD = 1_024;
    private static final List<StackTraceElement> OTHER_SITE = List.of();

    private final TaskClockHooks hooks;
    /** Held while sweeping and reading. A yielding thread never waits for it. */
    private final ReentrantLock lock = new ReentrantLock();
    /** The names of threads, by the number of the thread's record. */
    private final Map<Integer, String> names = new ConcurrentHashMap<>();

    private final LongAdder stacks = new LongAdder();
    private final Map<List<StackTraceElement>, LongAdder> sites = new ConcurrentHashMap<>();
    private final Map<List<StackTraceElement>, LongAdder> virtualSites = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> virtualThreads = new ConcurrentHashMap<>();
    private final Map<String, Yielder> ended = new ConcurrentHashMap<>();
    /** The number of records in use that triggers a sweep. */
    private volatile int sweepThreshold = MIN_SWEEP_THRESHOLD;

    private volatile boolean truncated;

    YieldCounts(TaskClockHooks hooks) {
        this.hooks = hooks;
    }

    // ---- called on the thread that yields

    /**
     * Adds a platform thread when it first yields or carries a yielding virtual thread. A negative record means that no
     * record is free.
     */
    void addThread(Thread thread, int record) {
        if (record < 0) {
            truncated = true;
            return;
        }
        names.put(record, thread.getName());
        if (names.size() < sweepThreshold || !lock.tryLock()) return;
        try {
            sweep();
        } finally {
            lock.unlock();
        }
    }

    /** Adds a sample, which represents {@code weight} yields. */
    void addSample(Thread thread, long weight) {
        stacks.increment();
        List<StackTraceElement> frames = StackWalker.getInstance().walk(all -> all.dropWhile(YieldCounts::isOurs)
                .limit(MAX_DEPTH)
                .map(StackFrame::toStackTraceElement)
                .collect(Collectors.toList()));
        adder(sites, frames, OTHER_SITE).add(weight);
        if (!isPlatform(thread)) {
            adder(virtualSites, frames, OTHER_SITE).add(weight);
            adder(virtualThreads, GroupNames.ofVirtual(thread), GroupNames.OTHER)
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
        return map.computeIfAbsent(map.size() < MAX_ENTRIES ? key : other, k -> new LongAdder());
    }

    // ---- called by readers

    /** Returns whether there were more threads, names, or sites than are kept. */
    boolean isTruncated() {
        return truncated
                || sites.containsKey(OTHER_SITE)
                || virtualThreads.containsKey(GroupNames.OTHER)
                || ended.containsKey(GroupNames.OTHER);
    }

    /**
     * Returns the live platform threads that yielded or carried yielding virtual threads, and the totals of ended ones
     * by name, most yields first.
     */
    List<Yielder> yielders() {
        lock.lock();
        try {
            sweep();
            List<Yielder> all = new ArrayList<>(ended.values());
            long[] fields = fields();
            names.forEach((record, name) -> {
                if ((record + 1) * FIELDS <= fields.length) all.add(Yielder.of(name, fields, record * FIELDS));
            });
            all.sort(Comparator.comparingLong((Yielder y) -> y.getYields + y.getVirtualYields)
                    .reversed());
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of stacks that were walked. */
    long stacks() {
        return stacks.sum();
    }

    /** Returns the memory of the native records in use, plus an estimate for the tables. */
    long memoryBytes() {
        long tables = (long) (sites.size() + virtualSites.size()) * BYTES_PER_SITE
                + (long) (names.size() + ended.size() + virtualThreads.size()) * BYTES_PER_NAME;
        return fields().length * 8L + tables;
    }

    List<Site> sites() {
        List<Site> all = new ArrayList<>();
        sites.forEach((frames, yields) -> {
            LongAdder virtual = virtualSites.get(frames);
            all.add(new Site(frames, yields.sum(), virtual == null ? 0 : virtual.sum()));
        });
        all.sort(Comparator.comparingLong(Site::getYields).reversed());
        return all;
    }

    /** Returns the sampled yields by the name of the virtual thread, with # for numbers. */
    Map<String, Long> virtualThreads() {
        return virtualThreads.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, e -> e.getValue().sum()));
    }

    /** Returns the fields of all records, one record after the other. */
    private long[] fields() {
        long[] fields = new long[0];
        int count;
        while ((count = hooks.yielders(fields)) * FIELDS > fields.length) {
            fields = new long[(count + 16) * FIELDS];
        }
        return fields;
    }

    /** Moves the records of ended threads into the totals by name. The caller must hold the lock. */
    private void sweep() {
        long[] last = new long[FIELDS];
        for (int record : names.keySet().toArray(new Integer[0])) {
            // The name is removed first: once the record is free, another thread may get it and store its own name.
            String threadName = names.remove(record);
            if (!hooks.freeYielder(record, last)) {
                names.putIfAbsent(record, threadName);
                continue;
            }
            last[0] = 0; // no longer a thread of the kernel
            String pool = PoolName.of(threadName);
            String name = ended.containsKey(pool) || ended.size() < MAX_ENTRIES ? pool : GroupNames.OTHER;
            ended.merge(name, Yielder.of(name, last, 0), Yielder::plus);
        }
        sweepThreshold = Math.max(MIN_SWEEP_THRESHOLD, 2 * names.size());
    }
}
