// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.LongUnaryOperator;
import org.taskclock.ThreadClock;

/**
 * Reads the user time of one or many threads by their Java ids. It discards ended threads, and does not keep Thread
 * objects alive.
 */
final class ThreadUserTimes implements LongUnaryOperator, BiConsumer<long[], long[]> {
    /** A thread and its clock. The clock has only the kernel's id, so it does not keep the Thread alive. */
    private record Entry(WeakReference<Thread> thread, ThreadClock clock) {
        long userNanos() {
            Thread owner = thread.get();
            if (owner == null || !owner.isAlive()) return -1;
            long nanos;
            synchronized (clock) {
                nanos = clock.userNanos();
            }
            // The kernel reuses thread ids.
            return owner.isAlive() ? nanos : -1;
        }

        boolean isEnded() {
            Thread owner = thread.get();
            return owner == null || !owner.isAlive();
        }
    }

    /** Known threads, by Java id. */
    private final Map<Long, Entry> entries = new ConcurrentHashMap<>();

    private final TaskClockHooks hooks;

    ThreadUserTimes(TaskClockHooks hooks) {
        this.hooks = hooks;
    }

    @Override
    public long applyAsLong(long id) {
        Entry entry = entries.get(id);
        if (entry == null) {
            long stock = hooks.stockUserNanos(id);
            if (stock < 0) return stock; // no such thread
            update();
            entry = entries.get(id);
            if (entry == null) return stock;
        }
        return entry.userNanos();
    }

    @Override
    public void accept(long[] ids, long[] into) {
        for (int i = 0; i < ids.length; i++) into[i] = applyAsLong(ids[i]);
    }

    void clear() {
        entries.clear();
    }

    private void update() {
        entries.values().removeIf(Entry::isEnded);
        for (Thread thread : platformThreads()) {
            long id = hooks.threadId(thread);
            if (entries.containsKey(id)) continue;
            int tid = ThreadClock.of(thread).tid();
            if (tid > 0) entries.put(id, new Entry(new WeakReference<>(thread), ThreadClock.ofTid(tid)));
        }
    }

    /** Returns all live platform threads. */
    static Thread[] platformThreads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) root = root.getParent();
        Thread[] found = new Thread[root.activeCount() + 16];
        int count;
        while ((count = root.enumerate(found)) == found.length) found = new Thread[found.length * 2];
        return Arrays.copyOf(found, count);
    }
}
