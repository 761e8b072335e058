// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Numbers of sections by their CPU time, in buckets whose width is an eighth of a power of two. The last bucket, below
 * 4.9 hours, also has longer sections.
 */
public final class Distribution {
    /** Buckets for each power of two, as a power of two. */
    private static final int PRECISION_BITS = 3;

    private static final int SUBBUCKETS = 1 << PRECISION_BITS;
    /** Longer sections are in the last bucket. */
    private static final int MAX_BITS = 44;

    /** The number of buckets. */
    static final int BUCKETS = (MAX_BITS - PRECISION_BITS + 1) * SUBBUCKETS;

    /** Copies of the library share arrays of this length: the buckets, and the sum of what is in them. */
    static final int LENGTH = BUCKETS + 1;

    /** The first bucket with sections. */
    private final int first;
    /** From there to the last one, because most buckets are empty. */
    private final long[] counts;

    private final long sumNanos;

    /**
     * Creates a distribution.
     *
     * @param counts the number of sections in each bucket; missing ones are 0, and more are ignored
     * @param sumNanos the CPU time of these sections in nanoseconds
     */
    public Distribution(long[] counts, long sumNanos) {
        int start = 0;
        int end = Math.min(counts.length, BUCKETS);
        while (start < end && counts[start] == 0) start++;
        while (start < end && counts[end - 1] == 0) end--;
        this.first = start;
        this.counts = Arrays.copyOfRange(counts, start, end);
        this.sumNanos = sumNanos;
    }

    Distribution(AtomicLongArray shared) {
        this(countsIn(shared), shared.get(BUCKETS));
    }

    private static long[] countsIn(AtomicLongArray shared) {
        long[] counts = new long[BUCKETS];
        Arrays.setAll(counts, shared::get);
        return counts;
    }

    /** Counts a section in an array that copies of the library share. */
    static void record(AtomicLongArray shared, long nanos) {
        shared.getAndAdd(BUCKETS, nanos);
        shared.getAndIncrement(bucket(nanos));
    }

    /**
     * Returns the sections that an earlier reading of the same distribution lacks.
     *
     * @param earlier the earlier reading
     * @return the difference, which has no negative number
     */
    public Distribution since(Distribution earlier) {
        long[] more = counts();
        for (int i = first; i < more.length; i++) more[i] = Math.max(0, more[i] - earlier.at(i));
        return new Distribution(more, Math.max(0, sumNanos - earlier.sumNanos));
    }

    private long at(int bucket) {
        return bucket < first || bucket >= first + counts.length ? 0 : counts[bucket - first];
    }

    /**
     * Returns the number of sections in each bucket, up to the last one that has any.
     *
     * @return the numbers, as the constructor accepts them
     */
    public long[] counts() {
        long[] all = new long[first + counts.length];
        System.arraycopy(counts, 0, all, first, counts.length);
        return all;
    }

    /** Returns the bucket of a CPU time. */
    static int bucket(long nanos) {
        if (nanos < SUBBUCKETS) return (int) Math.max(0, nanos);
        int shift = 63 - Long.numberOfLeadingZeros(nanos) - PRECISION_BITS;
        return Math.min(BUCKETS - 1, (shift + 1) * SUBBUCKETS + (int) (nanos >> shift) - SUBBUCKETS);
    }

    /** Returns the smallest CPU time that is above a bucket. */
    static long upperBound(int bucket) {
        if (bucket < SUBBUCKETS) return bucket + 1L;
        int shift = bucket / SUBBUCKETS - 1;
        return (SUBBUCKETS + bucket % SUBBUCKETS + 1L) << shift;
    }

    /**
     * Returns the number of sections.
     *
     * @return the number of sections that were closed since the account first had a row of its own, and its type
     *     counted them
     */
    public long count() {
        return Arrays.stream(counts).sum();
    }

    /**
     * Returns the CPU time of the sections that are counted.
     *
     * @return nanoseconds; unlike {@link AccountUsage#cpuNanos()}, without open sections and those closed earlier
     */
    public long sumNanos() {
        return sumNanos;
    }

    /**
     * Returns the number of sections up to a CPU time.
     *
     * @param nanos the CPU time in nanoseconds, which is rounded down to the bound of a bucket, by at most 11 %
     * @return the number of sections whose CPU time is less
     */
    public long countBelow(long nanos) {
        return countsBetween(nanos)[0];
    }

    /**
     * Returns the numbers of sections between CPU times.
     *
     * @param bounds CPU times in nanoseconds, in ascending order, each rounded as {@link #countBelow} does
     * @return the number of sections below the first bound, those from each bound to the next, and those from the last
     */
    public long[] countsBetween(long... bounds) {
        long[] between = new long[bounds.length + 1];
        int next = 0;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] == 0) continue;
            while (next < bounds.length && upperBound(first + i) > bounds[next]) next++;
            between[next] += counts[i];
        }
        return between;
    }

    /**
     * Returns a quantile.
     *
     * @param quantile from 0 to 1, such as 0.99
     * @return the CPU time in nanoseconds that this part of the sections did not exceed, too high by at most 12.5 % or
     *     1 ns; -1 if there is no section
     * @throws IllegalArgumentException if the quantile is not from 0 to 1
     */
    public long quantileNanos(double quantile) {
        if (!(quantile >= 0 && quantile <= 1)) throw new IllegalArgumentException("quantile: " + quantile);
        long count = count();
        long rank = Math.max(1, (long) Math.ceil(quantile * count));
        long sum = 0;
        for (int i = 0; i < counts.length; i++) {
            sum += counts[i];
            if (count > 0 && sum >= rank) return upperBound(first + i);
        }
        return -1;
    }
}
