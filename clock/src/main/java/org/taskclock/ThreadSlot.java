// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The open sections of one thread in one type of accounts, and what it has used for each account. All copies of the
 * library in a process share these slots, so a slot consists of arrays of JDK classes, and refers to the thread weakly.
 *
 * <p>Only the thread writes to its slot and its {@link AccountCell}s, except for what readers remember. The sections
 * form a stack: only the innermost open one is charged, so at most one cell is open.
 */
final class ThreadSlot {
    // Elements of the slot.

    /** A WeakReference to the thread. */
    static final int THREAD = 0;
    /** An AtomicLongArray. */
    static final int NUMBERS = 1;
    /**
     * A hash table of accounts and cells, as an AtomicReferenceArray: an account is followed by its cell. A reader that
     * sees an account also sees its cell.
     */
    static final int CELLS = 2;
    /** The cells of the open sections, outermost first, as an Object[]; null for those closed out of order. */
    static final int STACK = 3;
    /** What each of these sections has used until the innermost one was last charged, as a long[]. */
    static final int STACK_NANOS = 4;

    private static final int LENGTH = 5;

    // Numbers.

    /** The key of the slot in {@link AccountType#threads}. */
    static final int KEY = 0;
    /** The number of elements of the stack in use. */
    static final int DEPTH = 1;
    /** Changes when sections that were never closed are discarded. */
    static final int EPOCH = 2;
    /** The thread's CPU time when the innermost section was last charged. */
    static final int SINCE = 3;

    /** The details that were read when the innermost section was last charged. */
    private static final int SINCE_DETAILS = 4;

    private static final int SINCE_WAIT = 5;
    private static final int SINCE_BYTES = 6;

    // The thread's times at the last reading of its user time, and the part of user time in between, as double.
    private static final int SPLIT_CPU = 7;
    private static final int SPLIT_USER = 8;
    private static final int USER_SHARE = 9;
    /** How much CPU time the thread must have used since then for another reading. */
    private static final int MIN_SPLIT = 10;

    private static final int CELL_COUNT = 11;
    /** How often the thread entered a section while it had none. */
    static final int OPENINGS = 12;

    // Written by readers, which hold the lock of the type.

    /** When a reader first saw the outermost section, by System.nanoTime, and the number of that section. */
    static final int SEEN_AT = 13;

    static final int SEEN_OPENING = 14;

    private static final int NUMBER_COUNT = 15;

    private static final int MIN_STACK = 4;
    /** Sections are not nested as deeply, so some were never closed. */
    private static final int MAX_STACK = 64;

    /** In elements. */
    private static final int MIN_TABLE = 8;
    /** A thread with more cells adds them to their accounts. */
    private static final int MAX_CELLS = 32;

    /**
     * Reading user time at each charge would double the cost. A shorter interval would say little anyway: user time
     * advances in ticks. The slot of a virtual thread is too short-lived to wait.
     */
    private static final long MIN_SPLIT_NANOS = 250_000;

    private ThreadSlot() {}

    static AtomicReferenceArray<Object> create(Thread thread, boolean isVirtual) {
        AtomicReferenceArray<Object> slot = new AtomicReferenceArray<>(LENGTH);
        slot.setPlain(THREAD, new WeakReference<>(thread));
        AtomicLongArray numbers = new AtomicLongArray(NUMBER_COUNT);
        numbers.setPlain(MIN_SPLIT, isVirtual ? 0 : MIN_SPLIT_NANOS);
        numbers.setPlain(USER_SHARE, Double.doubleToRawLongBits(1));
        slot.setPlain(NUMBERS, numbers);
        slot.setPlain(CELLS, new AtomicReferenceArray<>(MIN_TABLE));
        slot.setPlain(STACK, new Object[MIN_STACK]);
        slot.setPlain(STACK_NANOS, new long[MIN_STACK]);
        return slot;
    }

    /** Returns the thread; null if it has ended. */
    static Thread thread(AtomicReferenceArray<Object> slot) {
        Thread thread = (Thread) ((WeakReference<?>) slot.getPlain(THREAD)).get();
        return thread != null && thread.isAlive() ? thread : null;
    }

    static AtomicLongArray numbers(AtomicReferenceArray<Object> slot) {
        return (AtomicLongArray) slot.getPlain(NUMBERS);
    }

    /** Returns the cell of an account; null if there is none. */
    static AtomicLongArray find(AtomicReferenceArray<Object> slot, Object account, int hash) {
        AtomicReferenceArray<?> cells = (AtomicReferenceArray<?>) slot.getPlain(CELLS);
        int mask = cells.length() - 2;
        for (int i = hash & mask; ; i = i + 2 & mask) {
            Object found = cells.getPlain(i);
            if (found == account) return (AtomicLongArray) cells.getPlain(i + 1);
            if (found == null) return null;
        }
    }

    /** Adds a cell for an account that has none. Returns the cell. */
    static AtomicLongArray add(AtomicReferenceArray<Object> slot, AtomicReferenceArray<Object> account) {
        AtomicLongArray numbers = numbers(slot);
        AtomicReferenceArray<Object> cells = cells(slot);
        AtomicLongArray cell = new AtomicLongArray(AccountCell.LENGTH);
        long count = numbers.getPlain(CELL_COUNT) + 1;
        if (4 * count > cells.length()) {
            AtomicReferenceArray<Object> larger = new AtomicReferenceArray<>(2 * cells.length());
            for (int i = 0; i < cells.length(); i += 2) {
                if (cells.getPlain(i) != null) put(larger, cells.getPlain(i), cells.getPlain(i + 1));
            }
            slot.setRelease(CELLS, larger);
            cells = larger;
        }
        put(cells, account, cell);
        numbers.setPlain(CELL_COUNT, count);
        return cell;
    }

    /** Forgets the cells without open sections. Their usage has been added to their accounts. */
    static void forgetClosed(AtomicReferenceArray<Object> slot) {
        AtomicReferenceArray<Object> cells = cells(slot);
        AtomicReferenceArray<Object> open = new AtomicReferenceArray<>(Math.min(cells.length(), 4 * MAX_STACK));
        long count = 0;
        for (int i = 0; i < cells.length(); i += 2) {
            if (!isOnStack(slot, cells.getPlain(i + 1))) continue;
            put(open, cells.getPlain(i), cells.getPlain(i + 1));
            count++;
        }
        slot.setRelease(CELLS, open);
        numbers(slot).setPlain(CELL_COUNT, count);
    }

    /** Returns whether the cell belongs to a section that is open. */
    static boolean isOnStack(AtomicReferenceArray<Object> slot, Object cell) {
        Object[] stack = (Object[]) slot.getPlain(STACK);
        for (int i = 0; i < numbers(slot).getPlain(DEPTH); i++) {
            if (stack[i] == cell && cell != null) return true;
        }
        return false;
    }

    private static void put(AtomicReferenceArray<Object> cells, Object account, Object cell) {
        int mask = cells.length() - 2;
        int i = NamedAccount.hash(account(account)) & mask;
        while (cells.getPlain(i) != null) i = i + 2 & mask;
        cells.setPlain(i + 1, cell);
        cells.setRelease(i, account);
    }

    static boolean hasManyCells(AtomicReferenceArray<Object> slot) {
        return numbers(slot).getPlain(CELL_COUNT) >= MAX_CELLS;
    }

    /**
     * Opens a section. Returns its position in the stack. The order of the writes is such that an error in between,
     * such as a stack overflow, may leave a section that is not charged, but never one that is charged for ever.
     *
     * @param cell the cell of its account
     * @param now the thread's CPU time
     * @param details what to count besides CPU time: {@link AccountType#WAIT}, {@link AccountType#BYTES}
     */
    static int open(AtomicReferenceArray<Object> slot, AtomicLongArray cell, long now, int details) {
        AtomicLongArray numbers = numbers(slot);
        Object[] stack = (Object[]) slot.getPlain(STACK);
        int depth = (int) numbers.getPlain(DEPTH);
        if (depth == stack.length) {
            if (depth == MAX_STACK) depth = discard(slot, now);
            else stack = grow(slot, stack);
        }
        if (depth > 0) {
            charge(slot, numbers, depth - 1, now, details);
        } else {
            numbers.setOpaque(OPENINGS, numbers.getPlain(OPENINGS) + 1);
            if ((details | (int) numbers.getPlain(SINCE_DETAILS)) != 0) readDetails(numbers, details);
        }
        stack[depth] = cell;
        ((long[]) slot.getPlain(STACK_NANOS))[depth] = 0;
        numbers.setOpaque(SINCE, now);
        numbers.setOpaque(DEPTH, depth + 1);
        AccountCell.open(cell, now);
        return depth;
    }

    /**
     * Closes the section at a position in the stack, which need not be the innermost one. Returns its CPU time.
     *
     * @param now the thread's CPU time
     */
    static long close(AtomicReferenceArray<Object> slot, int position, long now, int details) {
        AtomicLongArray numbers = numbers(slot);
        Object[] stack = (Object[]) slot.getPlain(STACK);
        int depth = (int) numbers.getPlain(DEPTH);
        charge(slot, numbers, depth - 1, now, details);
        AccountCell.add((AtomicLongArray) stack[position], AccountCounters.SECTIONS, 1);
        stack[position] = null;
        while (depth > 0 && stack[depth - 1] == null) depth--;
        numbers.setOpaque(SINCE, now);
        numbers.setOpaque(DEPTH, depth);
        if (depth > 0) AccountCell.open((AtomicLongArray) stack[depth - 1], now);
        return ((long[]) slot.getPlain(STACK_NANOS))[position];
    }

    /** Charges the innermost section for what the thread has used since it was last charged, and closes its cell. */
    private static void charge(
            AtomicReferenceArray<Object> slot, AtomicLongArray numbers, int position, long now, int details) {
        AtomicLongArray cell = (AtomicLongArray) ((Object[]) slot.getPlain(STACK))[position];
        if (now - numbers.getPlain(SPLIT_CPU) >= numbers.getPlain(MIN_SPLIT)) split(numbers);
        long nanos = Math.max(0, now - numbers.getPlain(SINCE));
        if (!AccountCell.close(cell, nanos, userNanos(numbers, nanos))) return;
        ((long[]) slot.getPlain(STACK_NANOS))[position] += nanos;
        int lastDetails = (int) numbers.getPlain(SINCE_DETAILS);
        if ((details | lastDetails) != 0) chargeDetails(numbers, cell, details);
    }

    private static void chargeDetails(AtomicLongArray numbers, AtomicLongArray cell, int details) {
        long wait = numbers.getPlain(SINCE_WAIT);
        long bytes = numbers.getPlain(SINCE_BYTES);
        readDetails(numbers, details);
        AccountCell.add(cell, AccountCounters.WAIT, more(wait, numbers.getPlain(SINCE_WAIT)));
        AccountCell.add(cell, AccountCounters.BYTES, more(bytes, numbers.getPlain(SINCE_BYTES)));
    }

    private static long more(long before, long now) {
        return before < 0 || now < before ? 0 : now - before;
    }

    private static void readDetails(AtomicLongArray numbers, int details) {
        numbers.setPlain(SINCE_DETAILS, details & (AccountType.WAIT | AccountType.BYTES));
        numbers.setPlain(SINCE_WAIT, (details & AccountType.WAIT) == 0 ? -1 : AccountType.waitNanos());
        numbers.setPlain(SINCE_BYTES, (details & AccountType.BYTES) == 0 ? -1 : AllocatedBytes.ofCurrentThread());
    }

    private static void split(AtomicLongArray numbers) {
        CpuTime now = TaskClock.now();
        long cpu = now.cpuNanos() - numbers.getPlain(SPLIT_CPU);
        if (now.userNanos() < 0 || cpu <= 0) return;
        double share = (double) (now.userNanos() - numbers.getPlain(SPLIT_USER)) / cpu;
        numbers.setOpaque(USER_SHARE, Double.doubleToRawLongBits(Math.max(0, Math.min(share, 1))));
        numbers.setPlain(SPLIT_CPU, now.cpuNanos());
        numbers.setPlain(SPLIT_USER, now.userNanos());
    }

    /** Estimates the part of a CPU time that was spent in user mode. */
    static long userNanos(AtomicLongArray numbers, long nanos) {
        return (long) (nanos * Double.longBitsToDouble(numbers.getOpaque(USER_SHARE)));
    }

    /** Forgets all open sections, because there are too many. Returns the depth. */
    private static int discard(AtomicReferenceArray<Object> slot, long now) {
        AtomicLongArray numbers = numbers(slot);
        charge(slot, numbers, (int) numbers.getPlain(DEPTH) - 1, now, 0);
        countUnclosed(slot);
        numbers.setPlain(EPOCH, numbers.getPlain(EPOCH) + 1);
        Arrays.fill((Object[]) slot.getPlain(STACK), null);
        return 0;
    }

    /** Counts the open sections as never closed. */
    static void countUnclosed(AtomicReferenceArray<Object> slot) {
        Object[] stack = (Object[]) slot.getPlain(STACK);
        for (int i = 0; i < numbers(slot).getPlain(DEPTH); i++) {
            if (stack[i] != null) AccountCell.add((AtomicLongArray) stack[i], AccountCounters.UNCLOSED, 1);
        }
    }

    /** Returns the CPU time of the innermost section; only an estimate while the thread enters or closes sections. */
    static long sectionNanos(AtomicReferenceArray<Object> slot, long clock) {
        AtomicLongArray numbers = numbers(slot);
        long[] nanos = (long[]) slot.getOpaque(STACK_NANOS);
        int position = (int) numbers.getOpaque(DEPTH) - 1;
        long charged = position >= 0 && position < nanos.length ? nanos[position] : 0;
        return charged + Math.max(0, clock - numbers.getOpaque(SINCE));
    }

    private static Object[] grow(AtomicReferenceArray<Object> slot, Object[] stack) {
        long[] nanos = (long[]) slot.getPlain(STACK_NANOS);
        Object[] longer = Arrays.copyOf(stack, 2 * stack.length);
        slot.setRelease(STACK_NANOS, Arrays.copyOf(nanos, longer.length));
        slot.setPlain(STACK, longer);
        return longer;
    }

    @SuppressWarnings("unchecked")
    static AtomicReferenceArray<Object> cells(AtomicReferenceArray<Object> slot) {
        return (AtomicReferenceArray<Object>) slot.getAcquire(CELLS);
    }

    @SuppressWarnings("unchecked")
    static AtomicReferenceArray<Object> account(Object shared) {
        return (AtomicReferenceArray<Object>) shared;
    }
}
