// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;

/**
 * Reads what threads have used since they last added their usage to an account, and adds that of ended threads. All of
 * this happens under the lock of the type of accounts, so no reader misses usage that moves to an account, or counts it
 * twice.
 */
final class SlotReader {
    private final String type;
    private final ConcurrentHashMap<Long, Object[]> threads;
    /** Accounts that were dropped from the registry, but got usage since. */
    private final List<AtomicReferenceArray<Object>> dropped;

    SlotReader(String type, ConcurrentHashMap<Long, Object[]> threads, List<AtomicReferenceArray<Object>> dropped) {
        this.type = type;
        this.threads = threads;
        this.dropped = dropped;
    }

    /** Adds what ended threads have left to their accounts. */
    void foldEnded() {
        threads.values().removeIf(slot -> {
            boolean hasEnded = ThreadSlot.thread(slot) == null;
            if (hasEnded) foldAll(slot);
            return hasEnded;
        });
    }

    /** Adds all that a thread has left to its accounts. The usage of open sections was last seen by a reader. */
    void foldAll(Object[] slot) {
        ThreadSlot.countUnclosed(slot);
        Object[] cells = AccountCells.cells(slot);
        for (int i = 0; i < cells.length; i += 2) {
            if (cells[i] == null) continue;
            long[] cell = (long[]) cells[i + 1];
            long unclosed = cell[AccountCell.SEEN] - cell[AccountCounters.CPU];
            if (AccountCell.state(cell) != 0 && unclosed > 0)
                AccountCell.close(cell, unclosed, ThreadSlot.userNanos(ThreadSlot.numbers(slot), unclosed));
            fold(AccountCells.account(cells, i), cell);
        }
    }

    /** Adds all that the calling thread has used to its accounts, and forgets its slot. */
    void release(Object[] slot) {
        foldAll(slot);
        threads.remove(ThreadSlot.numbers(slot)[ThreadSlot.KEY]);
    }

    /** Adds what the calling thread has used to the accounts that it has no open section of. */
    void foldOwn(Object[] slot) {
        Object[] cells = AccountCells.cells(slot);
        for (int i = 0; i < cells.length; i += 2) {
            Object cell = cells[i + 1];
            if (cell != null && !ThreadSlot.isOnStack(slot, cell)) fold(AccountCells.account(cells, i), (long[]) cell);
        }
        AccountCells.forgetClosed(slot);
    }

    private void fold(AtomicReferenceArray<Object> account, long[] cell) {
        AtomicLongArray counters = NamedAccount.counters(account);
        for (int i = 0; i < AccountCounters.COUNT; i++) {
            long more = AccountCell.take(cell, i);
            // Virtual threads on other processors add to the same counters, and most of these are 0.
            if (more != 0) counters.getAndAdd(i, more);
        }
        if (counters.get(AccountCounters.DROPPED) != 0) dropped.add(account);
    }

    /**
     * Adds the usage of all threads to the entries of their accounts.
     *
     * @param entries returns the entry of an account; null if its usage is not needed
     * @param open receives the sections that are open
     */
    void read(Function<AtomicReferenceArray<Object>, AccountEntry> entries, List<OpenSection> open) {
        long now = System.nanoTime();
        for (Object[] slot : threads.values()) {
            read(slot, entries, open, now);
        }
    }

    private void read(
            Object[] slot,
            Function<AtomicReferenceArray<Object>, AccountEntry> entries,
            List<OpenSection> open,
            long now) {
        Thread thread = ThreadSlot.thread(slot);
        long[] numbers = ThreadSlot.numbersNow(slot);
        Object[] cells = AccountCells.cells(slot);
        OpenSection last = null;
        for (int i = 0; i < cells.length; i += 2) {
            AtomicReferenceArray<Object> account = AccountCells.account(cells, i);
            if (account == null) continue;
            long[] cell = (long[]) cells[i + 1];
            AccountEntry entry = entries.apply(account);
            long state = AccountCell.state(cell);
            long clock = state == 0 || thread == null ? -1 : clock(thread);
            long total = AccountCell.total(cell, state, clock);
            if (state != 0 && thread != null) {
                cell[AccountCell.SEEN] = total;
                last = openSection(thread, numbers, NamedAccount.name(account), clock, now);
            }
            if (entry != null) add(entry, numbers, cell, total);
        }
        if (last != null) open.add(last);
    }

    /** Returns the innermost section. While the thread enters or closes sections, its CPU time is only an estimate. */
    private OpenSection openSection(Thread thread, long[] numbers, String account, long clock, long nanoTime) {
        int end = ThreadSlot.FRAMES + 2 * (int) AccountCell.read(numbers, ThreadSlot.DEPTH);
        long charged = end > ThreadSlot.FRAMES && end <= numbers.length ? AccountCell.read(numbers, end - 1) : 0;
        long running = Math.max(0, clock - AccountCell.read(numbers, ThreadSlot.SINCE));
        long outermost = AccountCell.read(numbers, ThreadSlot.FRAMES);
        if (numbers[ThreadSlot.SEEN_ID] != outermost) {
            numbers[ThreadSlot.SEEN_ID] = outermost;
            numbers[ThreadSlot.SEEN_AT] = nanoTime;
        }
        return new OpenSection(type, account, thread, nanoTime - numbers[ThreadSlot.SEEN_AT], charged + running);
    }

    private static long clock(Thread thread) {
        return thread == Thread.currentThread()
                ? TaskClock.pointNanos()
                : ThreadClock.of(thread).pointNanos();
    }

    private static void add(AccountEntry entry, long[] numbers, long[] cell, long total) {
        long running = total - AccountCell.read(cell, AccountCounters.CPU);
        entry.add(AccountCounters.CPU, total);
        entry.add(
                AccountCounters.USER,
                AccountCell.read(cell, AccountCounters.USER) + ThreadSlot.userNanos(numbers, Math.max(0, running)));
        for (int i = AccountCounters.WAIT; i < AccountCounters.COUNT; i++) entry.add(i, AccountCell.read(cell, i));
    }
}
