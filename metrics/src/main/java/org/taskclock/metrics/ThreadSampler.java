// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.function.Predicate;

/**
 * The threads of a JVM, from one reading to the next: which are alive, what each of them and each pool uses, and the
 * CPU time of those that ended without a reading. It works in the same way for this process and for others; only
 * {@link SampledThread} differs. Not thread-safe.
 */
public final class ThreadSampler<T extends SampledThread> {
    private final LongFunction<T> source;
    private final Consumer<T> onEnd;
    private final Map<Long, T> threads = new HashMap<>();
    private final Map<PoolKey, PoolSum> pools = new HashMap<>();
    private final Counters more = new Counters();
    private long readings;

    /** CPU time of the process that belongs to no live thread: excluded, or already counted. */
    private long accountedNanos;

    /** CPU time that belongs to no pool and was not taken yet. */
    private long endedNanos;

    private long takenUserNanos;

    /**
     * Creates a sampler without threads.
     *
     * @param source creates threads by their ids
     * @param onEnd receives threads that have ended, so that they can be counted for the last time
     */
    public ThreadSampler(LongFunction<T> source, Consumer<T> onEnd) {
        this.source = source;
        this.onEnd = onEnd;
    }

    /** Returns the live threads as of the last reading. */
    public Collection<T> threads() {
        return threads.values();
    }

    /**
     * Reads threads.
     *
     * @param countsNew whether to count what a thread has used before it was found
     * @param ids those of all threads
     */
    public void read(boolean countsNew, long... ids) {
        readings++;
        for (int row = 0; row < ids.length; row++) {
            T thread = threads.get(ids[row]);
            if (thread != null && !thread.read(row)) {
                threads.remove(ids[row]);
                end(thread);
                thread = null;
            }
            if (thread == null) {
                thread = source.apply(ids[row]);
                if (!thread.start(row, readings, countsNew)) {
                    thread.close();
                    continue;
                }
                threads.put(ids[row], thread);
            }
            thread.lastSeen = readings;
        }
        for (Iterator<T> all = threads.values().iterator(); all.hasNext(); ) {
            T thread = all.next();
            if (thread.lastSeen == readings) continue;
            all.remove();
            end(thread);
        }
    }

    private void end(T thread) {
        thread.close();
        onEnd.accept(thread);
        accountedNanos += thread.countedNanos();
    }

    /** Closes the files of all threads. */
    public void close() {
        threads.values().forEach(SampledThread::close);
    }

    /** Ends all threads, because the process has. */
    public void endAll() {
        threads.values().forEach(this::end);
        threads.clear();
    }

    /** Reads one thread between two readings. Returns false if it has ended. */
    public boolean readAgain(T thread) {
        return thread.read(-1);
    }

    /** Reads the details of threads that have used enough since, the busiest first, and at most this many. */
    public void readDetails(int max) {
        List<T> due = new ArrayList<>();
        for (T thread : threads.values()) if (thread.pool() != null && thread.isDue(readings)) due.add(thread);
        if (due.size() > max)
            due.sort(Comparator.comparingLong(T::nanosSinceDetails).reversed());
        for (int i = 0; i < Math.min(max, due.size()); i++) due.get(i).readDetails(readings);
    }

    /** Reads the details of threads that have run, and of others for which this is necessary. */
    public void readDetails(Predicate<T> isNecessary) {
        for (T thread : threads.values())
            if (thread.hasChanged() || isNecessary.test(thread)) thread.readDetails(readings);
    }

    /** Puts a thread into a pool. {@code isGuessed} if its kind is known from its name only. */
    public void assign(T thread, PoolKey key, boolean isGuessed) {
        thread.setPool(pools.computeIfAbsent(key, PoolSum::new), isGuessed);
    }

    /** Counts what threads have used since they were last counted. */
    public void count(Iterable<T> all) {
        for (T thread : all) if (thread.isChanged(readings)) count(thread, Long.MAX_VALUE);
    }

    /**
     * Counts what a thread has used since it was last counted. If it has no pool, it counts as an ended thread.
     *
     * @param maxNanos the most CPU time that it can have used; the rest is counted the next time
     */
    public void count(T thread, long maxNanos) {
        thread.advance(maxNanos, more);
        thread.usage.add(more);
        if (thread.poolSum() == null) endedNanos += more.cpuNanos;
        else thread.poolSum().add(more, thread.isGuessed());
    }

    /** Returns the CPU time of the live threads since they started. */
    public long liveNanos() {
        long sum = 0;
        for (T thread : threads.values()) sum += thread.total.cpuNanos;
        return sum;
    }

    /** Returns the CPU time of the process that belongs to no thread and was not counted. */
    public long unaccountedNanos(long processNanos) {
        return processNanos - accountedNanos - liveNanos();
    }

    /** Returns the CPU time of the process that belongs to no live thread, and is excluded or was counted. */
    public long accountedNanos() {
        return accountedNanos;
    }

    /** Excludes the CPU time of threads that have ended, and returns it. */
    public long excludeEnded(long processNanos) {
        long ended = unaccountedNanos(processNanos);
        accountedNanos += ended;
        return ended;
    }

    /**
     * Counts the CPU time of threads that have ended since their last reading, or were never read.
     *
     * @param uncertainty a smaller time is not counted yet, because threads run while they are read
     */
    public void countEnded(long processNanos, long uncertainty) {
        long ended = unaccountedNanos(processNanos);
        if (ended <= uncertainty) return;
        accountedNanos += ended;
        endedNanos += ended;
    }

    /**
     * Passes on each pool that has threads or has used something, and then resets its sum.
     *
     * @param userNanos the user time of the process since counting began
     * @return the CPU and user time of ended threads
     */
    public Counters takePools(long userNanos, Consumer<PoolSum> consumer) {
        for (T thread : threads.values())
            if (thread.poolSum() != null) thread.poolSum().addThread();
        for (Iterator<PoolSum> all = pools.values().iterator(); all.hasNext(); ) {
            PoolSum pool = all.next();
            // Thread names can be unlimited.
            if (pool.isEmpty()) all.remove();
            else consumer.accept(pool);
            takenUserNanos += pool.sum().userNanos;
            pool.clear();
        }
        Counters ended = new Counters();
        ended.cpuNanos = endedNanos;
        ended.userNanos = Math.max(0, Math.min(endedNanos, userNanos - takenUserNanos));
        takenUserNanos += ended.userNanos;
        endedNanos = 0;
        return ended;
    }
}
