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

/** User time of threads by Java's id, of one or of many. Threads that end are forgotten; none is kept from being collected. */
final class OtherThreads implements LongUnaryOperator, BiConsumer<long[], long[]> {
    /** A clock by the kernel's id, which holds no Thread, and the thread whose it is. */
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

    /** By Java's id. */
    private final Map<Long, Entry> entries = new ConcurrentHashMap<>();

    private final Hooks hooks;

    OtherThreads(Hooks hooks) {
        this.hooks = hooks;
    }

    @Override
    public long applyAsLong(long id) {
        Entry entry = entries.get(id);
        if (entry == null) {
            long stock = (long) hooks.call("stockUserNanos", id);
            if (stock < 0) return stock; // no such thread, so there is nothing to look for
            find();
            entry = entries.get(id);
            if (entry == null) return stock;
        }
        return entry.userNanos();
    }

    @Override
    public void accept(long[] ids, long[] into) {
        for (int i = 0; i < ids.length; i++) into[i] = applyAsLong(ids[i]);
    }

    void forget() {
        entries.clear();
    }

    private void find() {
        entries.values().removeIf(Entry::isEnded);
        for (Thread thread : threads()) {
            long id = hooks.threadId(thread);
            if (entries.containsKey(id)) continue;
            int tid = ThreadClock.of(thread).tid();
            if (tid > 0) entries.put(id, new Entry(new WeakReference<>(thread), ThreadClock.ofTid(tid)));
        }
    }

    /** All platform threads that live. */
    static Thread[] threads() {
        ThreadGroup root = Thread.currentThread().getThreadGroup();
        while (root.getParent() != null) root = root.getParent();
        Thread[] found = new Thread[root.activeCount() + 16];
        int count;
        while ((count = root.enumerate(found)) == found.length) found = new Thread[found.length * 2];
        return Arrays.copyOf(found, count);
    }
}
