// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;

class DistributionBucketsTest {
    private static final long MAX_NANOS = (1L << 44) - 1;

    @Property
    void shouldPutEachTimeIntoTheBucketThatContainsIt(@ForAll @LongRange(max = MAX_NANOS) long nanos) {
        int bucket = Distribution.bucket(nanos);
        long lower = bucket == 0 ? 0 : Distribution.upperBound(bucket - 1);
        long upper = Distribution.upperBound(bucket);
        assertThat(nanos).isBetween(lower, upper - 1);
        assertThat(upper - lower).isLessThanOrEqualTo(Math.max(1, lower / 8));
    }

    @Test
    void shouldUseEachBucketOnce() {
        for (int i = 0; i < Distribution.BUCKETS; i++) {
            assertThat(Distribution.bucket(Distribution.upperBound(i) - 1)).isEqualTo(i);
            if (i + 1 < Distribution.BUCKETS)
                assertThat(Distribution.bucket(Distribution.upperBound(i))).isEqualTo(i + 1);
        }
        assertThat(Distribution.upperBound(Distribution.BUCKETS - 1)).isEqualTo(MAX_NANOS + 1);
    }

    @Test
    void shouldPutAnythingElseIntoTheFirstOrLastBucket() {
        assertThat(Distribution.bucket(-1)).isZero();
        assertThat(Distribution.bucket(Long.MIN_VALUE)).isZero();
        assertThat(Distribution.bucket(Long.MAX_VALUE)).isEqualTo(Distribution.BUCKETS - 1);
    }

    @Property
    void shouldReturnQuantilesLikeASortedList(
            @ForAll @NotEmpty List<@LongRange(max = MAX_NANOS) Long> times,
            @ForAll @DoubleRange(min = 0, max = 1) double quantile) {
        AtomicLongArray counts = new AtomicLongArray(Distribution.LENGTH);
        for (long time : times) Distribution.record(counts, time);
        Distribution distribution = new Distribution(counts);
        List<Long> sorted = times.stream().sorted().toList();
        int rank = Math.max(1, (int) Math.ceil(quantile * times.size()));
        long exact = sorted.get(rank - 1);
        assertThat(distribution.quantileNanos(quantile)).isBetween(exact + 1, exact + Math.max(1, exact / 8));
        assertThat(distribution.count()).isEqualTo(times.size());
        long bound = Distribution.upperBound(Distribution.bucket(exact));
        assertThat(distribution.countBelow(bound))
                .isEqualTo(times.stream().filter(time -> time < bound).count());
        assertThat(new Distribution(distribution.counts(), distribution.sumNanos()).quantileNanos(quantile))
                .isEqualTo(distribution.quantileNanos(quantile));
    }

    @Test
    void shouldReturnNoQuantileOfNothing() {
        assertThat(new Distribution(new long[0], 0).quantileNanos(0.5)).isEqualTo(-1);
        assertThat(new Distribution(new long[] {0, 0}, 0).quantileNanos(1)).isEqualTo(-1);
    }

    @Test
    void shouldRejectWhatIsNoQuantile() {
        for (double quantile : new double[] {-0.1, 1.1, Double.NaN}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new Distribution(new long[1], 0).quantileNanos(quantile))
                    .withMessageContaining(quantile + "");
        }
    }
}
