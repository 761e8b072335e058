// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.Arrays;
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
    /** A long[]. */
    private static final int NUMBERS = 1;
    /** The table of the thread's cells; see {@link AccountCells}. */
    static final int CELLS = 2;
    /** What profilers read about the thread; see {@link ThreadContext}. Null until it is needed. */
    static final int CONTEXT = 3;
    /** The cells of the open sections, outermost first. What follows them is no longer in use. */
    private static final int STACK = 4;

    /** Sections are not nested as deeply, so some were never closed. */
    static final int MAX_STACK = 64;

    private static final int LENGTH = STACK + MAX_STACK;

    // Numbers.

    /** The key of the slot in {@link AccountType#threads}. */
    static final int KEY = 0;
    /** The number of elements of the stack in use. */
    static final int DEPTH = 1;
    /** The id of the section that was opened last. */
    private static final int LAST_ID = 2;
    /** The thread's CPU time when the innermost section was last charged. */
    static final int SINCE = 3;

    // The thread's other counters at that time; -1 if they are unknown.
    private static final int SINCE_WAIT = 4;
    private static final int SINCE_BYTES = 5;

    // The thread's times at the last reading of its user time, and the part of user time in between, in units of 2^-62.
    private static final int SPLIT_CPU = 6;
    private static final int SPLIT_USER = 7;
    private static final int USER_SHARE = 8;
    /** The CPU time at which it is read again, and how far that is from one reading to the next. */
    private static final int NEXT_SPLIT = 9;

    private static final int SPLIT_INTERVAL = 10;

    static final int CELL_COUNT = 11;

    // Written by readers, which hold the lock of the type.

    /** When a reader first saw the outermost section, by System.nanoTime, and its id. */
    static final int SEEN_AT = 12;

    static final int SEEN_ID = 13;

    private static final int DETAILS = 14;

    /** For each open section, outermost first, its id and what it has used until it was last charged. */
    static final int FRAMES = 15;

    private static final int MIN_FRAMES = 4;

    /** The counter was not read, because it was not asked for. */
    private static final long NOT_READ = -2;

    /**
     * Reading user time at each charge would double the cost. A shorter interval would say little anyway: user time
     * advances in ticks. The slot of a virtual thread is too short-lived to wait.
     */
    private static final long SPLIT_INTERVAL_NANOS = 250_000;

    private static final int USER_SHARE_BITS = 62;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);

    private ThreadSlot() {}

    static Object[] create(Thread thread, boolean isVirtual) {
        Object[] slot = new Object[LENGTH];
        slot[THREAD] = new WeakReference<>(thread);
        long[] numbers = new long[FRAMES + 2 * MIN_FRAMES];
        numbers[SPLIT_INTERVAL] = isVirtual ? 0 : SPLIT_INTERVAL_NANOS;
        numbers[NEXT_SPLIT] = numbers[SPLIT_INTERVAL];
        numbers[USER_SHARE] = 1L << USER_SHARE_BITS;
        numbers[SINCE_WAIT] = NOT_READ;
        numbers[SINCE_BYTES] = NOT_READ;
        slot[NUMBERS] = numbers;
        slot[CELLS] = AccountCells.create();
        return slot;
    }

    /** Returns the thread; null if it has ended. */
    static Thread thread(Object[] slot) {
        Thread thread = (Thread) ((WeakReference<?>) slot[THREAD]).get();
        return thread != null && thread.isAlive() ? thread : null;
    }

    /** Returns the account that is charged now; null if no section is open. */
    static AtomicReferenceArray<Object> current(Object[] slot) {
        int depth = depth(slot);
        if (depth == 0) return null;
        Object cell = slot[STACK + depth - 1];
        Object[] cells = AccountCells.cells(slot);
        for (int i = 0; i < cells.length; i += 2) if (cells[i + 1] == cell) return AccountCells.account(cells, i);
        return null;
    }

    /** Returns the numbers, to the thread itself. */
    static long[] numbers(Object[] slot) {
        return (long[]) slot[NUMBERS];
    }

    /** Returns the numbers, also to readers. */
    static long[] numbersNow(Object[] slot) {
        return (long[]) ELEMENT.getAcquire(slot, NUMBERS);
    }

    /** Returns the number of open sections. */
    static int depth(Object[] slot) {
        return (int) numbers(slot)[DEPTH];
    }

    /** Returns what the type counted when a section was last opened. */
    static int details(long[] numbers) {
        return (int) numbers[DETAILS];
    }

    private static long[] cell(Object[] slot, int position) {
        return (long[]) slot[STACK + position];
    }

    /** Returns whether the cell belongs to a section that is open. */
    static boolean isOnStack(Object[] slot, Object cell) {
        for (int i = 0; i < depth(slot); i++) {
            if (slot[STACK + i] == cell && cell != null) return true;
        }
        return false;
    }

    /**
     * Opens a section. Returns its id. The order of the writes is such that an error in between, such as a stack
     * overflow, may leave a section that is not charged, but never a cell that is charged besides another one.
     *
     * @param cell the cell of its account
     * @param now the thread's CPU time
     * @param details what to count besides CPU time: {@link AccountType#WAIT}, {@link AccountType#BYTES}
     */
    static long open(Object[] slot, long[] cell, long now, int details) {
        long[] numbers = numbers(slot);
        numbers[DETAILS] = details;
        if (FRAMES + 2 * (int) numbers[DEPTH] == numbers.length) numbers = makeRoom(slot, numbers, now);
        int depth = (int) numbers[DEPTH];
        int frame = FRAMES + 2 * depth;
        if (depth > 0) numbers[frame - 1] += charge(numbers, cell(slot, depth - 1), now);
        else if (details != 0) readDetails(numbers);
        long id = ++numbers[LAST_ID];
        numbers[frame] = id;
        numbers[frame + 1] = 0;
        // A write of a reference costs more than this check.
        if (slot[STACK + depth] != cell) slot[STACK + depth] = cell;
        numbers[SINCE] = now;
        numbers[DEPTH] = depth + 1L;
        AccountCell.open(cell, now);
        return id;
    }

    /** Returns the position of an open section in the stack; -1 if it is not open. */
    static int position(long[] numbers, long id) {
        int innermost = (int) numbers[DEPTH] - 1;
        return innermost >= 0 && numbers[FRAMES + 2 * innermost] == id ? innermost : find(numbers, id);
    }

    /** A method of its own, because the JIT compiler's code for a loop is large. */
    private static int find(long[] numbers, long id) {
        int position = (int) numbers[DEPTH] - 1;
        while (position >= 0 && numbers[FRAMES + 2 * position] != id) position--;
        return position;
    }

    /**
     * Closes the section at a position in the stack, which need not be the innermost one. Returns its CPU time.
     *
     * @param now the thread's CPU time; -1 if it is unknown
     */
    static long close(Object[] slot, long[] numbers, int position, long now) {
        if (now < 0) now = numbers[SINCE];
        int innermost = (int) numbers[DEPTH] - 1;
        long[] cell = cell(slot, innermost);
        long nanos = numbers[FRAMES + 2 * innermost + 1] + charge(numbers, cell, now);
        if (position == innermost) AccountCell.add(cell, AccountCounters.SECTIONS, 1);
        else nanos = remove(slot, numbers, position, nanos);
        numbers[SINCE] = now;
        numbers[DEPTH] = innermost;
        if (innermost > 0) AccountCell.open(cell(slot, innermost - 1), now);
        return nanos;
    }

    /**
     * Removes a section from the stack that is not the innermost one. Returns its CPU time.
     *
     * @param nanos that of the innermost one
     */
    private static long remove(Object[] slot, long[] numbers, int position, long nanos) {
        int innermost = (int) numbers[DEPTH] - 1;
        int frame = FRAMES + 2 * position;
        long removed = numbers[frame + 1];
        AccountCell.add(cell(slot, position), AccountCounters.SECTIONS, 1);
        numbers[FRAMES + 2 * innermost + 1] = nanos;
        System.arraycopy(slot, STACK + position + 1, slot, STACK + position, innermost - position);
        System.arraycopy(numbers, frame + 2, numbers, frame, 2 * (innermost - position));
        return removed;
    }

    /**
     * Charges the account of the innermost section for what the thread has used since this was last done, and closes
     * the cell. Returns the CPU time.
     */
    private static long charge(long[] numbers, long[] cell, long now) {
        if (now >= numbers[NEXT_SPLIT]) split(numbers);
        long nanos = Math.max(0, now - numbers[SINCE]);
        if (!AccountCell.close(cell, nanos, userNanos(numbers, nanos))) return 0;
        if (numbers[DETAILS] != 0) chargeDetails(numbers, cell);
        return nanos;
    }

    private static void chargeDetails(long[] numbers, long[] cell) {
        long wait = numbers[SINCE_WAIT];
        long bytes = numbers[SINCE_BYTES];
        readDetails(numbers);
        charge(cell, AccountCounters.WAIT, AccountCounters.UNKNOWN_WAIT, wait, numbers[SINCE_WAIT]);
        charge(cell, AccountCounters.BYTES, AccountCounters.UNKNOWN_BYTES, bytes, numbers[SINCE_BYTES]);
    }

    private static void charge(long[] cell, int counter, int unknown, long before, long now) {
        if (before == NOT_READ || now == NOT_READ) return;
        if (before < 0 || now < before) AccountCell.add(cell, unknown, 1);
        else AccountCell.add(cell, counter, now - before);
    }

    private static void readDetails(long[] numbers) {
        int details = details(numbers);
        numbers[SINCE_WAIT] = (details & AccountType.WAIT) == 0 ? NOT_READ : waitNanos();
        numbers[SINCE_BYTES] = (details & AccountType.BYTES) == 0 ? NOT_READ : AllocatedBytes.ofCurrentThread();
    }

    private static long waitNanos() {
        return Library.isLoaded() && !ThreadType.isVirtual(Thread.currentThread()) ? Library.waitNanos() : -1;
    }

    private static void split(long[] numbers) {
        CpuTime now = TaskClock.now();
        long cpu = now.cpuNanos() - numbers[SPLIT_CPU];
        if (now.userNanos() < 0 || cpu <= 0) return;
        double share = (double) (now.userNanos() - numbers[SPLIT_USER]) / cpu;
        numbers[USER_SHARE] = (long) (Math.max(0, Math.min(share, 1)) * (1L << USER_SHARE_BITS));
        numbers[SPLIT_CPU] = now.cpuNanos();
        numbers[SPLIT_USER] = now.userNanos();
        numbers[NEXT_SPLIT] = now.cpuNanos() + numbers[SPLIT_INTERVAL];
    }

    /** Estimates the part of a CPU time that was spent in user mode. */
    static long userNanos(long[] numbers, long nanos) {
        return Math.multiplyHigh(nanos << (Long.SIZE - USER_SHARE_BITS), AccountCell.read(numbers, USER_SHARE));
    }

    /** Returns numbers with room for another section. If there are too many, forgets all of them. */
    private static long[] makeRoom(Object[] slot, long[] numbers, long now) {
        int depth = (int) numbers[DEPTH];
        if (depth < MAX_STACK) {
            long[] longer = Arrays.copyOf(numbers, FRAMES + 4 * depth);
            ELEMENT.setRelease(slot, NUMBERS, longer);
            return longer;
        }
        charge(numbers, cell(slot, depth - 1), now);
        countUnclosed(slot);
        numbers[DEPTH] = 0;
        return numbers;
    }

    /** Counts the open sections as never closed. */
    static void countUnclosed(Object[] slot) {
        for (int i = 0; i < depth(slot); i++) AccountCell.add(cell(slot, i), AccountCounters.UNCLOSED, 1);
    }
}
