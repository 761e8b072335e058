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
    static final int NUMBERS = 1;
    /** The table of the thread's cells; see {@link AccountCells}. */
    static final int CELLS = 2;
    /** The cells of the open sections, outermost first, as an Object[]. What follows them is no longer in use. */
    private static final int STACK = 3;
    /** For each of these sections, its id and what it has used until it was last charged, as a long[]. */
    private static final int FRAMES = 4;

    /** What profilers read about the thread; see {@link ThreadContext}. Null until it is needed. */
    static final int CONTEXT = 5;

    private static final int LENGTH = 6;

    // Numbers.

    /** The key of the slot in {@link AccountType#threads}. */
    static final int KEY = 0;
    /** The number of elements of the stack in use. */
    static final int DEPTH = 1;
    /** The id of the section that was opened last. */
    private static final int LAST_ID = 2;
    /** The thread's CPU time when the innermost section was last charged. */
    static final int SINCE = 3;

    // The thread's other counters at that time; -1 if they were not read.
    private static final int SINCE_WAIT = 4;
    private static final int SINCE_BYTES = 5;

    // The thread's times at the last reading of its user time, and the part of user time in between, as double.
    private static final int SPLIT_CPU = 6;
    private static final int SPLIT_USER = 7;
    private static final int USER_SHARE = 8;
    /** How much CPU time the thread must have used since then for another reading. */
    private static final int MIN_SPLIT = 9;

    static final int CELL_COUNT = 10;

    // Written by readers, which hold the lock of the type.

    /** When a reader first saw the outermost section, by System.nanoTime, and its id. */
    private static final int SEEN_AT = 11;

    private static final int SEEN_ID = 12;

    private static final int NUMBER_COUNT = 13;

    private static final int MIN_STACK = 4;
    /** Sections are not nested as deeply, so some were never closed. */
    static final int MAX_STACK = 64;

    /**
     * Reading user time at each charge would double the cost. A shorter interval would say little anyway: user time
     * advances in ticks. The slot of a virtual thread is too short-lived to wait.
     */
    private static final long MIN_SPLIT_NANOS = 250_000;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);

    private ThreadSlot() {}

    static Object[] create(Thread thread, boolean isVirtual) {
        Object[] slot = new Object[LENGTH];
        slot[THREAD] = new WeakReference<>(thread);
        long[] numbers = new long[NUMBER_COUNT];
        numbers[MIN_SPLIT] = isVirtual ? 0 : MIN_SPLIT_NANOS;
        numbers[USER_SHARE] = Double.doubleToRawLongBits(1);
        numbers[SINCE_WAIT] = -1;
        numbers[SINCE_BYTES] = -1;
        slot[NUMBERS] = numbers;
        slot[CELLS] = AccountCells.create();
        slot[STACK] = new Object[MIN_STACK];
        slot[FRAMES] = new long[2 * MIN_STACK];
        return slot;
    }

    /** Returns the thread; null if it has ended. */
    static Thread thread(Object[] slot) {
        Thread thread = (Thread) ((WeakReference<?>) slot[THREAD]).get();
        return thread != null && thread.isAlive() ? thread : null;
    }

    /** Returns the account that is charged now; null if no section is open. */
    static AtomicReferenceArray<Object> current(Object[] slot) {
        int depth = (int) numbers(slot)[DEPTH];
        if (depth == 0) return null;
        Object cell = ((Object[]) slot[STACK])[depth - 1];
        Object[] cells = AccountCells.cells(slot);
        for (int i = 0; i < cells.length; i += 2) if (cells[i + 1] == cell) return AccountCells.account(cells, i);
        return null;
    }

    static long[] numbers(Object[] slot) {
        return (long[]) slot[NUMBERS];
    }

    /** Returns whether the cell belongs to a section that is open. */
    static boolean isOnStack(Object[] slot, Object cell) {
        Object[] stack = (Object[]) slot[STACK];
        for (int i = 0; i < numbers(slot)[DEPTH]; i++) {
            if (stack[i] == cell && cell != null) return true;
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
        Object[] stack = (Object[]) slot[STACK];
        int depth = (int) numbers[DEPTH];
        if (depth == stack.length) {
            if (depth == MAX_STACK) depth = discard(slot, now);
            else stack = grow(slot, stack);
        }
        long[] frames = (long[]) slot[FRAMES];
        if (depth > 0) frames[2 * depth - 1] += charge(numbers, (long[]) stack[depth - 1], now, details);
        else if (details != 0) readDetails(numbers, details);
        long id = ++numbers[LAST_ID];
        frames[2 * depth] = id;
        frames[2 * depth + 1] = 0;
        // A write of a reference costs more than this check.
        if (stack[depth] != cell) stack[depth] = cell;
        numbers[SINCE] = now;
        numbers[DEPTH] = depth + 1L;
        AccountCell.open(cell, now);
        return id;
    }

    /** Returns the position of an open section in the stack; -1 if it is not open. */
    static int position(Object[] slot, long id) {
        long[] frames = (long[]) slot[FRAMES];
        int position = (int) numbers(slot)[DEPTH] - 1;
        while (position >= 0 && frames[2 * position] != id) position--;
        return position;
    }

    /**
     * Closes the section at a position in the stack, which need not be the innermost one. Returns its CPU time.
     *
     * @param now the thread's CPU time
     */
    static long close(Object[] slot, int position, long now, int details) {
        long[] numbers = numbers(slot);
        Object[] stack = (Object[]) slot[STACK];
        long[] frames = (long[]) slot[FRAMES];
        int depth = (int) numbers[DEPTH];
        frames[2 * depth - 1] += charge(numbers, (long[]) stack[depth - 1], now, details);
        AccountCell.add((long[]) stack[position], AccountCounters.SECTIONS, 1);
        long nanos = frames[2 * position + 1];
        depth--;
        if (position < depth) {
            System.arraycopy(stack, position + 1, stack, position, depth - position);
            System.arraycopy(frames, 2 * position + 2, frames, 2 * position, 2 * (depth - position));
        }
        numbers[SINCE] = now;
        numbers[DEPTH] = depth;
        if (depth > 0) AccountCell.open((long[]) stack[depth - 1], now);
        return nanos;
    }

    /**
     * Charges the account of the innermost section for what the thread has used since this was last done, and closes
     * the cell. Returns the CPU time.
     */
    private static long charge(long[] numbers, long[] cell, long now, int details) {
        if (now - numbers[SPLIT_CPU] >= numbers[MIN_SPLIT]) split(numbers);
        long nanos = Math.max(0, now - numbers[SINCE]);
        if (!AccountCell.close(cell, nanos, userNanos(numbers, nanos))) return 0;
        if (details != 0) chargeDetails(numbers, cell, details);
        return nanos;
    }

    private static void chargeDetails(long[] numbers, long[] cell, int details) {
        long wait = numbers[SINCE_WAIT];
        long bytes = numbers[SINCE_BYTES];
        readDetails(numbers, details);
        AccountCell.add(cell, AccountCounters.WAIT, more(wait, numbers[SINCE_WAIT]));
        AccountCell.add(cell, AccountCounters.BYTES, more(bytes, numbers[SINCE_BYTES]));
    }

    private static long more(long before, long now) {
        return before < 0 || now < before ? 0 : now - before;
    }

    private static void readDetails(long[] numbers, int details) {
        numbers[SINCE_WAIT] = (details & AccountType.WAIT) == 0 ? -1 : waitNanos();
        numbers[SINCE_BYTES] = (details & AccountType.BYTES) == 0 ? -1 : AllocatedBytes.ofCurrentThread();
    }

    private static long waitNanos() {
        return Library.isLoaded() && !ThreadType.isVirtual(Thread.currentThread()) ? Library.waitNanos() : -1;
    }

    private static void split(long[] numbers) {
        CpuTime now = TaskClock.now();
        long cpu = now.cpuNanos() - numbers[SPLIT_CPU];
        if (now.userNanos() < 0 || cpu <= 0) return;
        double share = (double) (now.userNanos() - numbers[SPLIT_USER]) / cpu;
        numbers[USER_SHARE] = Double.doubleToRawLongBits(Math.max(0, Math.min(share, 1)));
        numbers[SPLIT_CPU] = now.cpuNanos();
        numbers[SPLIT_USER] = now.userNanos();
    }

    /** Estimates the part of a CPU time that was spent in user mode. */
    static long userNanos(long[] numbers, long nanos) {
        return (long) (nanos * Double.longBitsToDouble(AccountCell.read(numbers, USER_SHARE)));
    }

    /** Forgets all open sections, because there are too many. Returns the depth. */
    private static int discard(Object[] slot, long now) {
        charge(numbers(slot), (long[]) ((Object[]) slot[STACK])[MAX_STACK - 1], now, 0);
        countUnclosed(slot);
        numbers(slot)[DEPTH] = 0;
        return 0;
    }

    /** Counts the open sections as never closed. */
    static void countUnclosed(Object[] slot) {
        Object[] stack = (Object[]) slot[STACK];
        for (int i = 0; i < numbers(slot)[DEPTH]; i++) AccountCell.add((long[]) stack[i], AccountCounters.UNCLOSED, 1);
    }

    private static Object[] grow(Object[] slot, Object[] stack) {
        Object[] longer = Arrays.copyOf(stack, 2 * stack.length);
        ELEMENT.setRelease(slot, FRAMES, Arrays.copyOf((long[]) slot[FRAMES], 2 * longer.length));
        slot[STACK] = longer;
        return longer;
    }

    /** Returns the innermost section. While the thread enters or closes sections, its CPU time is only an estimate. */
    static OpenSection openSection(
            Object[] slot, String type, Thread thread, String account, long clock, long nanoTime) {
        long[] numbers = numbers(slot);
        long[] frames = (long[]) ELEMENT.getAcquire(slot, FRAMES);
        int end = 2 * (int) AccountCell.read(numbers, DEPTH);
        long charged = end > 0 && end <= frames.length ? AccountCell.read(frames, end - 1) : 0;
        long running = Math.max(0, clock - AccountCell.read(numbers, SINCE));
        long outermost = AccountCell.read(frames, 0);
        if (numbers[SEEN_ID] != outermost) {
            numbers[SEEN_ID] = outermost;
            numbers[SEEN_AT] = nanoTime;
        }
        return new OpenSection(type, account, thread, nanoTime - numbers[SEEN_AT], charged + running);
    }
}
