// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The open sections of one thread in one type of accounts, and what it has used since it last added its usage to an
 * account. All copies of the library in a process share these slots, so a slot consists of arrays of JDK classes.
 *
 * <p>Only the thread writes to its slot. It does so between {@link #begin} and {@link #end}, so that a reader on
 * another thread detects a change. The sections form a stack: only the innermost open one is charged.
 */
final class ThreadSlot {
    // Elements of the slot.

    static final int THREAD = 0;
    /** An AtomicLongArray. */
    static final int NUMBERS = 1;
    /** The account that is charged now; null if no section is open. */
    static final int CURRENT = 2;
    /** The account that the pending usage belongs to. */
    static final int PENDING = 3;
    /** The accounts of the open sections, outermost first, as an Object[]; null for those closed out of order. */
    static final int STACK = 4;
    /** What each of them has used so far, without the current one, as a long[]. */
    static final int STACK_NANOS = 5;
    /** What profilers read about the thread; see {@link ThreadContext}. Null until it is needed. */
    static final int CONTEXT = 6;

    private static final int LENGTH = 7;

    // Numbers.

    /** Odd while the thread writes. */
    static final int SEQUENCE = 0;
    /** The number of elements of the stack in use. */
    static final int DEPTH = 1;
    /** Changes when sections that were never closed are discarded. */
    static final int EPOCH = 2;
    /** The thread's CPU time when the current account was last charged. */
    static final int SINCE = 3;

    static final int SINCE_WAIT = 4;
    static final int SINCE_BYTES = 5;
    /** The CPU time of the current section until then. */
    static final int SECTION_NANOS = 6;

    // The thread's times at the last reading of its user time, and the part of user time in between, as double.
    static final int SPLIT_CPU = 7;
    static final int SPLIT_USER = 8;
    static final int USER_SHARE = 9;

    /** The first of the pending counters; see {@link AccountCounters}. */
    static final int FIRST_PENDING = 10;

    // Written by readers, which hold the lock of the type.

    /** The CPU time since {@link #SINCE} that the last reader has reported. */
    static final int SEEN_NANOS = FIRST_PENDING + AccountCounters.COUNT;
    /** When a reader first saw the outermost section, by System.nanoTime, and the number of that section. */
    static final int SEEN_AT = SEEN_NANOS + 1;

    static final int SEEN_OPENING = SEEN_AT + 1;
    /** The value of {@link #SINCE} that SEEN_NANOS belongs to. */
    static final int SEEN_SINCE = SEEN_OPENING + 1;

    /** How often the thread entered a section while it had none. */
    static final int OPENINGS = SEEN_SINCE + 1;

    /** How much CPU time the thread must have used since its user time was last read for another reading. */
    private static final int MIN_SPLIT = OPENINGS + 1;

    static final int NUMBER_COUNT = MIN_SPLIT + 1;

    private static final int MIN_STACK = 4;
    /** Sections are not nested as deeply, so some were never closed. */
    private static final int MAX_STACK = 64;

    /**
     * Reading user time at each charge would double the cost. A shorter interval would say little anyway: user time
     * advances in ticks. The slot of a virtual thread is too short-lived to wait.
     */
    private static final long MIN_SPLIT_NANOS = 250_000;

    private ThreadSlot() {}

    static AtomicReferenceArray<Object> create(Thread thread, boolean isVirtual) {
        AtomicReferenceArray<Object> slot = new AtomicReferenceArray<>(LENGTH);
        slot.setPlain(THREAD, thread);
        AtomicLongArray numbers = new AtomicLongArray(NUMBER_COUNT);
        numbers.setPlain(MIN_SPLIT, isVirtual ? 0 : MIN_SPLIT_NANOS);
        numbers.setPlain(USER_SHARE, Double.doubleToRawLongBits(1));
        slot.setPlain(NUMBERS, numbers);
        slot.setPlain(STACK, new Object[MIN_STACK]);
        slot.setPlain(STACK_NANOS, new long[MIN_STACK]);
        return slot;
    }

    static AtomicLongArray numbers(AtomicReferenceArray<Object> slot) {
        return (AtomicLongArray) slot.getPlain(NUMBERS);
    }

    private static void begin(AtomicLongArray numbers) {
        numbers.setOpaque(SEQUENCE, numbers.getPlain(SEQUENCE) + 1);
        VarHandle.storeStoreFence();
    }

    private static void end(AtomicLongArray numbers) {
        numbers.setRelease(SEQUENCE, numbers.getPlain(SEQUENCE) + 1);
    }

    private static void add(AtomicLongArray numbers, int index, long more) {
        numbers.setPlain(index, numbers.getPlain(index) + more);
    }

    /**
     * Opens a section. Returns its position in the stack.
     *
     * @param now the thread's CPU time
     * @param details what to count besides CPU time: {@link AccountType#WAIT}, {@link AccountType#BYTES}
     */
    static int open(AtomicReferenceArray<Object> slot, AtomicReferenceArray<Object> account, long now, int details) {
        AtomicLongArray numbers = numbers(slot);
        int depth = (int) numbers.getPlain(DEPTH);
        Object[] stack = (Object[]) slot.getPlain(STACK);
        begin(numbers);
        if (depth == stack.length) {
            if (depth == MAX_STACK) depth = discard(slot, numbers, stack, now);
            else stack = grow(slot, stack);
        }
        if (depth > 0) {
            charge(slot, numbers, now, details);
            ((long[]) slot.getPlain(STACK_NANOS))[depth - 1] = numbers.getPlain(SECTION_NANOS);
        } else {
            add(numbers, OPENINGS, 1);
            if (details != 0) readDetails(numbers, details);
        }
        stack[depth] = account;
        slot.setPlain(CURRENT, account);
        numbers.setPlain(SECTION_NANOS, 0);
        numbers.setPlain(SINCE, now);
        numbers.setPlain(DEPTH, depth + 1);
        end(numbers);
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
        long[] stackNanos = (long[]) slot.getPlain(STACK_NANOS);
        int depth = (int) numbers.getPlain(DEPTH);
        begin(numbers);
        charge(slot, numbers, now, details);
        numbers.setPlain(SINCE, now);
        stackNanos[depth - 1] = numbers.getPlain(SECTION_NANOS);
        long nanos = stackNanos[position];
        countSection(slot, numbers, account(stack[position]));
        stack[position] = null;
        while (depth > 0 && stack[depth - 1] == null) depth--;
        numbers.setPlain(DEPTH, depth);
        slot.setPlain(CURRENT, depth == 0 ? null : stack[depth - 1]);
        numbers.setPlain(SECTION_NANOS, depth == 0 ? 0 : stackNanos[depth - 1]);
        end(numbers);
        return nanos;
    }

    /** Adds what the thread has used since the last call to the pending usage of the current account. */
    private static void charge(AtomicReferenceArray<Object> slot, AtomicLongArray numbers, long now, int details) {
        Object current = slot.getPlain(CURRENT);
        setPending(slot, numbers, account(current));
        long nanos = Math.max(0, now - numbers.getPlain(SINCE));
        if (now - numbers.getPlain(SPLIT_CPU) >= numbers.getPlain(MIN_SPLIT)) split(numbers);
        add(numbers, FIRST_PENDING + AccountCounters.CPU, nanos);
        add(numbers, FIRST_PENDING + AccountCounters.USER, userNanos(numbers, nanos));
        add(numbers, SECTION_NANOS, nanos);
        if (details == 0) return;
        long wait = numbers.getPlain(SINCE_WAIT);
        long bytes = numbers.getPlain(SINCE_BYTES);
        readDetails(numbers, details);
        add(numbers, FIRST_PENDING + AccountCounters.WAIT, more(wait, numbers.getPlain(SINCE_WAIT)));
        add(numbers, FIRST_PENDING + AccountCounters.BYTES, more(bytes, numbers.getPlain(SINCE_BYTES)));
    }

    private static long more(long before, long now) {
        return before < 0 || now < before ? 0 : now - before;
    }

    private static void readDetails(AtomicLongArray numbers, int details) {
        numbers.setPlain(SINCE_WAIT, (details & AccountType.WAIT) == 0 ? -1 : AccountType.waitNanos());
        numbers.setPlain(SINCE_BYTES, (details & AccountType.BYTES) == 0 ? -1 : AllocatedBytes.ofCurrentThread());
    }

    private static void split(AtomicLongArray numbers) {
        CpuTime now = TaskClock.now();
        long cpu = now.cpuNanos() - numbers.getPlain(SPLIT_CPU);
        if (now.userNanos() < 0 || cpu <= 0) return;
        double share = (double) (now.userNanos() - numbers.getPlain(SPLIT_USER)) / cpu;
        numbers.setPlain(USER_SHARE, Double.doubleToRawLongBits(Math.max(0, Math.min(share, 1))));
        numbers.setPlain(SPLIT_CPU, now.cpuNanos());
        numbers.setPlain(SPLIT_USER, now.userNanos());
    }

    /** Estimates the part of a CPU time that was spent in user mode. */
    static long userNanos(AtomicLongArray numbers, long nanos) {
        return (long) (nanos * Double.longBitsToDouble(numbers.get(USER_SHARE)));
    }

    private static void countSection(
            AtomicReferenceArray<Object> slot, AtomicLongArray numbers, AtomicReferenceArray<Object> account) {
        if (slot.getPlain(PENDING) == account) add(numbers, FIRST_PENDING + AccountCounters.SECTIONS, 1);
        else NamedAccount.counters(account).getAndIncrement(AccountCounters.SECTIONS);
    }

    private static void setPending(
            AtomicReferenceArray<Object> slot, AtomicLongArray numbers, AtomicReferenceArray<Object> account) {
        if (slot.getPlain(PENDING) == account) return;
        flush(slot, numbers);
        slot.setPlain(PENDING, account);
    }

    /** Adds the pending usage to its account. Callers have called {@link #begin}, or the thread has ended. */
    private static void flush(AtomicReferenceArray<Object> slot, AtomicLongArray numbers) {
        Object pending = slot.getPlain(PENDING);
        if (pending == null) return;
        AtomicLongArray counters = NamedAccount.counters(account(pending));
        for (int i = 0; i <= AccountCounters.SECTIONS; i++) {
            long more = numbers.getPlain(FIRST_PENDING + i);
            if (more == 0) continue;
            numbers.setPlain(FIRST_PENDING + i, 0);
            counters.getAndAdd(i, more);
        }
    }

    /** Adds the pending usage to its account. */
    static void flush(AtomicReferenceArray<Object> slot) {
        AtomicLongArray numbers = numbers(slot);
        begin(numbers);
        flush(slot, numbers);
        slot.setPlain(PENDING, null);
        end(numbers);
    }

    /** Forgets all open sections, because there are too many. Returns the depth. */
    private static int discard(AtomicReferenceArray<Object> slot, AtomicLongArray numbers, Object[] stack, long now) {
        charge(slot, numbers, now, 0);
        countUnclosed(stack, stack.length);
        Arrays.fill(stack, null);
        add(numbers, EPOCH, 1);
        slot.setPlain(CURRENT, null);
        return 0;
    }

    private static void countUnclosed(Object[] stack, int depth) {
        for (int i = 0; i < depth; i++) {
            if (stack[i] != null) NamedAccount.counters(account(stack[i])).getAndIncrement(AccountCounters.UNCLOSED);
        }
    }

    private static Object[] grow(AtomicReferenceArray<Object> slot, Object[] stack) {
        Object[] longer = Arrays.copyOf(stack, 2 * stack.length);
        slot.setPlain(STACK_NANOS, Arrays.copyOf((long[]) slot.getPlain(STACK_NANOS), longer.length));
        slot.setPlain(STACK, longer);
        return longer;
    }

    /** Adds to the accounts what an ended thread has left. The usage of open sections was last seen by a reader. */
    static void fold(AtomicReferenceArray<Object> slot) {
        AtomicLongArray numbers = numbers(slot);
        flush(slot, numbers);
        Object current = slot.getPlain(CURRENT);
        if (current != null) {
            boolean isSeen = numbers.getPlain(SEEN_SINCE) == numbers.getPlain(SINCE);
            long seen = isSeen ? numbers.getPlain(SEEN_NANOS) : 0;
            NamedAccount.counters(account(current)).getAndAdd(AccountCounters.CPU, seen);
            NamedAccount.counters(account(current)).getAndAdd(AccountCounters.USER, userNanos(numbers, seen));
        }
        countUnclosed((Object[]) slot.getPlain(STACK), (int) numbers.getPlain(DEPTH));
    }

    @SuppressWarnings("unchecked")
    static AtomicReferenceArray<Object> account(Object shared) {
        return (AtomicReferenceArray<Object>) shared;
    }
}
