// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.util.concurrent.atomic.AtomicLong;
import jdk.internal.misc.Unsafe;

/**
 * What the virtual threads of one name have used. Each carrier adds to numbers of its own, so a mount writes nothing that
 * another carrier writes, and a report costs what there are names and carriers, however many threads there are.
 */
final class TaskClockGroup {
    static final int CPU = 0;
    static final int USER = 1;
    static final int STARTED = 2;
    static final int ENDED = 3;
    static final int NUMBERS = 4;

    /** Carriers from this index on share numbers, or many carriers with many names would need much memory. */
    static final int SHARED = 256;

    /** Longs per carrier: two cache lines, so that no two carriers share one. */
    private static final int SPACING = 16;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long CELLS = UNSAFE.objectFieldOffset(TaskClockGroup.class, "cells");

    /** Of all carriers from {@link #SHARED} on. */
    private final AtomicLong[] shared = new AtomicLong[NUMBERS];

    /** By the carrier's index. The array is replaced to add a carrier; the numbers of one stay where they are. */
    private volatile long[][] cells = new long[0][];

    TaskClockGroup() {
        for (int i = 0; i < NUMBERS; i++) shared[i] = new AtomicLong();
    }

    /** Called by the carrier with this index only. */
    void add(int carrier, int number, long amount) {
        if (carrier >= SHARED) {
            shared[number].getAndAdd(amount);
            return;
        }
        long[][] all = cells;
        long[] own = carrier < all.length ? all[carrier] : null;
        if (own == null) own = addCarrier(carrier);
        own[number] += amount;
    }

    private long[] addCarrier(int carrier) {
        long[] own = new long[SPACING];
        while (true) {
            long[][] before = cells;
            long[][] after = new long[Math.max(before.length, carrier + 1)][];
            System.arraycopy(before, 0, after, 0, before.length);
            after[carrier] = own;
            if (UNSAFE.compareAndSetReference(this, CELLS, before, after)) return own;
        }
    }

    /** Adds the totals to those in the array. Any thread may call this. */
    void addTo(long[] totals) {
        for (int i = 0; i < NUMBERS; i++) totals[i] += shared[i].get();
        for (long[] own : cells) {
            if (own == null) continue;
            for (int i = 0; i < NUMBERS; i++) totals[i] += own[i];
        }
    }
}
