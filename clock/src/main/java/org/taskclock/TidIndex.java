// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Arrays;

/** A hash index from thread ids to rows. It is rebuilt for each snapshot in the same memory. */
final class TidIndex {
    private static final int EMPTY = -1;

    private int[] tids = new int[0];
    private int[] rowAt = {EMPTY};

    /** Indexes the first {@code count} ids, which must be distinct. The array is kept and must not change. */
    void fill(int[] ids, int count) {
        tids = ids;
        int slots = Integer.highestOneBit(count + 1) * 4;
        if (rowAt.length < slots) rowAt = new int[slots];
        Arrays.fill(rowAt, EMPTY);
        for (int row = 0; row < count; row++) {
            int slot = slotOf(tids[row]);
            while (rowAt[slot] != EMPTY) slot = (slot + 1) & (rowAt.length - 1);
            rowAt[slot] = row;
        }
    }

    /** Returns the row with this id; negative if there is none. */
    int find(int tid) {
        int slot = slotOf(tid);
        while (rowAt[slot] != EMPTY) {
            if (tids[rowAt[slot]] == tid) return rowAt[slot];
            slot = (slot + 1) & (rowAt.length - 1);
        }
        return EMPTY;
    }

    /**
     * Returns the slot at which the search for an id starts. Thread ids are mostly consecutive, so they spread well
     * without hashing.
     */
    private int slotOf(int tid) {
        return tid & (rowAt.length - 1);
    }
}
