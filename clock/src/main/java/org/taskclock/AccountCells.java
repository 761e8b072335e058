// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The table of a thread's cells, by account: a hash table in an Object[], in which each account is followed by its
 * {@link AccountCell}. Only the thread changes it. A reader that sees an account also sees its cell.
 */
final class AccountCells {
    /** In elements. */
    private static final int MIN_LENGTH = 8;
    /** A thread with more cells adds them to their accounts. */
    private static final int MAX_CELLS = 32;

    private static final VarHandle ELEMENT = MethodHandles.arrayElementVarHandle(Object[].class);

    private AccountCells() {}

    static Object[] create() {
        return new Object[MIN_LENGTH];
    }

    /** Returns the cell of an account; null if there is none. */
    static long[] find(Object[] slot, Object account, int hash) {
        Object[] cells = (Object[]) slot[ThreadSlot.CELLS];
        int first = hash & cells.length - 2;
        return cells[first] == account ? (long[]) cells[first + 1] : probe(cells, account, first);
    }

    private static long[] probe(Object[] cells, Object account, int first) {
        int mask = cells.length - 2;
        for (int i = first; ; i = i + 2 & mask) {
            Object found = cells[i];
            if (found == account) return (long[]) cells[i + 1];
            if (found == null) return null;
        }
    }

    /** Adds a cell for an account that has none. Returns the cell. */
    static long[] add(Object[] slot, AtomicReferenceArray<Object> account) {
        long[] numbers = ThreadSlot.numbers(slot);
        Object[] cells = cells(slot);
        long[] cell = new long[AccountCell.LENGTH];
        long count = numbers[ThreadSlot.CELL_COUNT] + 1;
        if (4 * count > cells.length) {
            Object[] larger = new Object[2 * cells.length];
            for (int i = 0; i < cells.length; i += 2) {
                if (cells[i] != null) put(larger, cells[i], cells[i + 1]);
            }
            ELEMENT.setRelease(slot, ThreadSlot.CELLS, larger);
            cells = larger;
        }
        put(cells, account, cell);
        numbers[ThreadSlot.CELL_COUNT] = count;
        return cell;
    }

    /** Forgets the cells without open sections. Their usage has been added to their accounts. */
    static void forgetClosed(Object[] slot) {
        Object[] cells = cells(slot);
        Object[] open = new Object[Math.min(cells.length, 4 * ThreadSlot.MAX_STACK)];
        long count = 0;
        for (int i = 0; i < cells.length; i += 2) {
            if (!ThreadSlot.isOnStack(slot, cells[i + 1])) continue;
            put(open, cells[i], cells[i + 1]);
            count++;
        }
        ELEMENT.setRelease(slot, ThreadSlot.CELLS, open);
        ThreadSlot.numbers(slot)[ThreadSlot.CELL_COUNT] = count;
    }

    private static void put(Object[] cells, Object account, Object cell) {
        int mask = cells.length - 2;
        int i = NamedAccount.hash(account(account)) & mask;
        while (cells[i] != null) i = i + 2 & mask;
        cells[i + 1] = cell;
        ELEMENT.setRelease(cells, i, account);
    }

    static boolean hasManyCells(Object[] slot) {
        return ThreadSlot.numbers(slot)[ThreadSlot.CELL_COUNT] >= MAX_CELLS;
    }

    /** Returns the table of accounts and cells, also to readers. */
    static Object[] cells(Object[] slot) {
        return (Object[]) ELEMENT.getAcquire(slot, ThreadSlot.CELLS);
    }

    /** Returns an account of the table; null if there is none at this index. */
    static AtomicReferenceArray<Object> account(Object[] cells, int index) {
        return account(ELEMENT.getAcquire(cells, index));
    }

    @SuppressWarnings("unchecked")
    private static AtomicReferenceArray<Object> account(Object shared) {
        return (AtomicReferenceArray<Object>) shared;
    }
}
