// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.VarHandle;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Reads what threads have used since they last added their usage to an account. Callers hold the lock of the type of
 * accounts.
 */
final class SlotReader {
    /** With the thread's clock, which takes longer to read than a short section lasts. */
    private static final int ATTEMPTS_WITH_CLOCK = 3;

    private static final int MAX_ATTEMPTS = 200;

    private final String type;
    private final ConcurrentHashMap<Thread, AtomicReferenceArray<Object>> threads;
    private final Map<Thread, ThreadClock> clocks = new HashMap<>();

    SlotReader(String type, ConcurrentHashMap<Thread, AtomicReferenceArray<Object>> threads) {
        this.type = type;
        this.threads = threads;
    }

    /** Adds what ended threads have left to their accounts. */
    void foldEnded() {
        threads.values().removeIf(slot -> {
            boolean hasEnded = !((Thread) slot.getPlain(ThreadSlot.THREAD)).isAlive();
            if (hasEnded) ThreadSlot.fold(slot);
            return hasEnded;
        });
    }

    /**
     * Adds the usage of all threads to the entries of their accounts.
     *
     * @param entries by account
     * @param open receives the sections that are open; may be null
     */
    void read(Map<?, AccountEntry> entries, List<OpenSection> open) {
        long now = System.nanoTime();
        clocks.keySet().removeIf(thread -> !threads.containsKey(thread));
        for (AtomicReferenceArray<Object> slot : threads.values()) read(slot, entries, open, now);
    }

    private void read(
            AtomicReferenceArray<Object> slot, Map<?, AccountEntry> entries, List<OpenSection> open, long now) {
        AtomicLongArray numbers = ThreadSlot.numbers(slot);
        Thread thread = (Thread) slot.getPlain(ThreadSlot.THREAD);
        long[] copy = new long[ThreadSlot.NUMBER_COUNT];
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            long sequence = numbers.getAcquire(ThreadSlot.SEQUENCE);
            for (int i = 0; i < copy.length; i++) copy[i] = numbers.getOpaque(i);
            Object current = slot.getOpaque(ThreadSlot.CURRENT);
            Object pending = slot.getOpaque(ThreadSlot.PENDING);
            // A thread that opens and closes sections all the time was charged just now.
            boolean needsClock = current != null && attempt < ATTEMPTS_WITH_CLOCK && (sequence & 1) == 0;
            long clock = needsClock ? clock(thread) : -1;
            VarHandle.acquireFence();
            if ((sequence & 1) != 0 || numbers.getOpaque(ThreadSlot.SEQUENCE) != sequence) {
                Thread.onSpinWait();
                continue;
            }
            if (pending != null) addPending(entries.get(pending), copy);
            if (current == null) return;
            long nanos = clock < 0 ? 0 : Math.max(0, clock - copy[ThreadSlot.SINCE]);
            addCurrent(entries.get(current), numbers, nanos);
            long openNanos = see(numbers, copy, nanos, now);
            if (open != null) {
                String account = NamedAccount.name(ThreadSlot.account(current));
                open.add(new OpenSection(type, account, thread, openNanos, copy[ThreadSlot.SECTION_NANOS] + nanos));
            }
            return;
        }
    }

    private long clock(Thread thread) {
        if (thread == Thread.currentThread()) return TaskClock.pointNanos();
        return clocks.computeIfAbsent(thread, ThreadClock::of).pointNanos();
    }

    private static void addPending(AccountEntry entry, long[] numbers) {
        if (entry == null) return;
        for (int i = 0; i <= AccountCounters.SECTIONS; i++) entry.add(i, numbers[ThreadSlot.FIRST_PENDING + i]);
    }

    private static void addCurrent(AccountEntry entry, AtomicLongArray numbers, long nanos) {
        if (entry == null) return;
        entry.add(AccountCounters.CPU, nanos);
        entry.add(AccountCounters.USER, ThreadSlot.userNanos(numbers, nanos));
    }

    /** Remembers what was read, in case the thread ends. Returns for how long the outermost section has been open. */
    private static long see(AtomicLongArray numbers, long[] copy, long nanos, long now) {
        numbers.setPlain(ThreadSlot.SEEN_NANOS, nanos);
        numbers.setPlain(ThreadSlot.SEEN_SINCE, copy[ThreadSlot.SINCE]);
        if (copy[ThreadSlot.SEEN_OPENING] == copy[ThreadSlot.OPENINGS]) return now - copy[ThreadSlot.SEEN_AT];
        numbers.setPlain(ThreadSlot.SEEN_AT, now);
        numbers.setPlain(ThreadSlot.SEEN_OPENING, copy[ThreadSlot.OPENINGS]);
        return 0;
    }
}
