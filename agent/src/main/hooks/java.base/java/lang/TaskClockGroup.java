// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors

package java.lang;

import java.util.concurrent.atomic.AtomicLong;
import jdk.internal.misc.Unsafe;

/**
 * The totals of all virtual threads with the same name. Each carrier has its own cells, so no two carriers write to the
 * same cell, and the cost of a report depends on the number of names and carriers, not of threads.
 */
public final class TaskClockGroup {
    public static final int CPU = 0;
    public static final int USER = 1;
    public static final int STARTED = 2;
    public static final int ENDED = 3;
    public static final int TOTALS = 4;

    /** Carriers from this index on share one set of cells, to limit the memory for many carriers and many names. */
    static final int SHARED = 256;

    /** The number of longs per carrier: two cache lines, so that no two carriers share a line. */
    private static final int SPACING = 16;

    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final long CELLS = UNSAFE.objectFieldOffset(TaskClockGroup.class, "cells");

    /** The cells of all carriers from {@link #SHARED} on. */
    private final AtomicLong[] shared = new AtomicLong[TOTALS];

    /** The cells by carrier index. The outer array is replaced to add a carrier; the inner arrays stay. */
    private volatile long[][] cells = new long[0][];

    public TaskClockGroup() {
        for (int i = 0; i < TOTALS; i++) shared[i] = new AtomicLong();
    }

    /** Adds to a total. Only the carrier with this index may call this. */
    void add(int carrier, int total, long amount) {
        long[][] all = cells;
        long[] own = carrier < all.length ? all[carrier] : null;
        if (own != null) own[total] += amount;
        else addFirst(carrier, total, amount);
    }

    /** Adds to both times. Only the carrier with this index may call this. */
    void addTime(int carrier, long cpu, long user) {
        long[][] all = cells;
        long[] own = carrier < all.length ? all[carrier] : null;
        if (own == null) {
            add(carrier, CPU, cpu);
            add(carrier, USER, user);
            return;
        }
        own[CPU] += cpu;
        own[USER] += user;
    }

    private void addFirst(int carrier, int total, long amount) {
        if (carrier < SHARED) {
            try {
                addCarrier(carrier)[total] += amount;
                return;
            } catch (OutOfMemoryError e) {
                // The next call tries again.
            }
        }
        shared[total].getAndAdd(amount);
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

    /** Adds the totals to those in the array. Thread-safe. */
    public void addTo(long[] totals) {
        for (int i = 0; i < TOTALS; i++) totals[i] += shared[i].get();
        for (long[] own : cells) {
            if (own == null) continue;
            for (int i = 0; i < TOTALS; i++) totals[i] += own[i];
        }
    }
}
