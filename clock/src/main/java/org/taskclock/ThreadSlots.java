// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.concurrent.ConcurrentHashMap;

/** Finds the {@link ThreadSlot} of the calling thread. */
final class ThreadSlots {
    private static final int MIN_SWEEP_THRESHOLD = 64;

    /** By thread id: platform threads that have ever entered an account, and virtual threads that are in one. */
    private final ConcurrentHashMap<Long, Object[]> threads;
    /** That of the calling platform thread. */
    private final ThreadLocal<Object[]> ownSlot;

    private final AccountTable table;
    private volatile int sweepThreshold = MIN_SWEEP_THRESHOLD;

    ThreadSlots(ConcurrentHashMap<Long, Object[]> threads, ThreadLocal<Object[]> ownSlot, AccountTable table) {
        this.threads = threads;
        this.ownSlot = ownSlot;
        this.table = table;
    }

    /** Returns the slot of the calling thread. */
    Object[] get(Thread thread) {
        if (ThreadType.isVirtual(thread)) {
            Object[] slot = threads.get(JavaThreadId.of(thread));
            return slot != null ? slot : add(thread, true);
        }
        Object[] slot = ownSlot.get();
        if (slot == null) {
            slot = add(thread, false);
            ownSlot.set(slot);
        }
        return slot;
    }

    /** Some pools clear a thread's local variables after each task, so the thread may have a slot already. */
    private Object[] add(Thread thread, boolean isVirtual) {
        long id = JavaThreadId.of(thread);
        long key = id >= 0 ? id : -1L - System.identityHashCode(thread);
        Object[] slot = threads.get(key);
        while (slot != null) {
            if (ThreadSlot.thread(slot) == thread) return slot;
            slot = threads.get(--key);
        }
        if (threads.size() >= sweepThreshold) {
            table.foldEnded();
            sweepThreshold = Math.max(MIN_SWEEP_THRESHOLD, 2 * threads.size());
        }
        slot = ThreadSlot.create(thread, isVirtual);
        while (threads.putIfAbsent(key, slot) != null) key--;
        ThreadSlot.numbers(slot)[ThreadSlot.KEY] = key;
        return slot;
    }
}
