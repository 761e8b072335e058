// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Readings of made-up threads. */
class ThreadSamplerTest {
    private static final long SECOND = 1_000_000_000;
    private static final PoolKey POOL = new PoolKey("worker-#", ThreadKind.JAVA);

    /** CPU times by id; a thread that is missing has ended. */
    private final Map<Long, Long> nanos = new HashMap<>();

    private final List<Long> endedIds = new ArrayList<>();
    private final ThreadSampler<FakeThread> sampler =
            new ThreadSampler<>(FakeThread::new, thread -> endedIds.add(thread.id));

    private final class FakeThread extends SampledThread {
        private int detailReadings;

        FakeThread(long id) {
            super(id);
        }

        @Override
        protected boolean read(int row) {
            return nanos.containsKey(id) && setTimes(nanos.get(id), -1);
        }

        @Override
        protected boolean readDetails() {
            total.userNanos = total.cpuNanos / 2;
            detailReadings++;
            return true;
        }
    }

    private void read(boolean countsNew, long... ids) {
        sampler.read(countsNew, ids);
        for (FakeThread thread : sampler.threads()) if (thread.pool() == null) sampler.assign(thread, POOL, false);
        sampler.readDetails(Integer.MAX_VALUE);
        sampler.count(sampler.threads());
    }

    private List<PoolUsage> take() {
        List<PoolUsage> usages = new ArrayList<>();
        Counters ended = sampler.takePools(Long.MAX_VALUE / 2, pool -> usages.add(PoolUsage.of(pool)));
        if (ended.cpuNanos > 0) usages.add(PoolUsage.of(PoolKey.ENDED, 0, ended));
        return usages;
    }

    private FakeThread only() {
        return sampler.threads().iterator().next();
    }

    @Test
    void shouldAddUpThreadsOfAPool() {
        nanos.putAll(Map.of(1L, SECOND, 2L, 3 * SECOND));
        read(true, 1, 2);
        assertThat(take())
                .containsExactly(new PoolUsage("worker-#", ThreadKind.JAVA, 2, 2 * SECOND, 2 * SECOND, -1, -1, -1, -1));
        read(true, 1, 2);
        assertThat(take()).containsExactly(new PoolUsage("worker-#", ThreadKind.JAVA, 2, 0, 0, -1, -1, -1, -1));
    }

    @Test
    void shouldExcludeWhatWasUsedBeforeTheFirstReading() {
        nanos.put(1L, 5 * SECOND);
        read(false, 1);
        nanos.put(1L, 6 * SECOND);
        read(true, 1);
        assertThat(take().get(0).cpuNanos()).isEqualTo(SECOND);
        assertThat(only().watchedNanos()).isEqualTo(SECOND);
    }

    @Test
    void shouldCountEndedThreadsOnce() {
        nanos.putAll(Map.of(1L, SECOND, 2L, 3 * SECOND));
        read(false, 1, 2);
        assertThat(sampler.excludeEnded(10 * SECOND)).isEqualTo(6 * SECOND);
        nanos.remove(2L);
        read(true, 1, 2);
        assertThat(endedIds).containsExactly(2L);
        sampler.countEnded(14 * SECOND, SECOND);
        sampler.countEnded(14 * SECOND, SECOND);
        assertThat(take())
                .filteredOn(usage -> usage.threads() == 0)
                .extracting(PoolUsage::cpuNanos)
                .containsExactly(4 * SECOND);
    }

    @Test
    void shouldKeepTimesWithinTheUncertaintyForLater() {
        sampler.countEnded(SECOND, SECOND);
        assertThat(take()).isEmpty();
        sampler.countEnded(2 * SECOND, SECOND);
        assertThat(take()).extracting(PoolUsage::cpuNanos).containsExactly(2 * SECOND);
    }

    @Test
    void shouldRecognizeAReusedId() {
        nanos.put(1L, 5 * SECOND);
        read(true, 1);
        take();
        nanos.put(1L, SECOND);
        read(true, 1);
        assertThat(endedIds).containsExactly(1L);
        assertThat(take().get(0).cpuNanos()).isEqualTo(SECOND);
    }

    @Test
    void shouldCarryOverWhatExceedsTheInterval() {
        nanos.put(1L, 5 * SECOND);
        sampler.read(true, 1);
        sampler.count(only(), 2 * SECOND);
        assertThat(only().usage.cpuNanos).isEqualTo(2 * SECOND);
        sampler.count(only(), 4 * SECOND);
        assertThat(only().usage.cpuNanos).isEqualTo(5 * SECOND);
    }

    /** Threads without a pool are those of which it is unknown what they are. */
    @Test
    void shouldCountThreadsWithoutAPoolAsEnded() {
        nanos.put(1L, SECOND);
        sampler.read(true, 1);
        sampler.count(sampler.threads());
        assertThat(take()).extracting(PoolUsage::pool).containsExactly(PoolKey.ENDED.pool());
    }

    @Test
    void shouldReadDetailsRarely() {
        nanos.put(1L, 0L);
        read(true, 1);
        FakeThread thread = only();
        for (int i = 1; i <= 10; i++) {
            nanos.put(1L, 1_000L * i);
            read(true, 1);
        }
        assertThat(thread.detailReadings).as("first reading, and first use").isEqualTo(2);
        nanos.put(1L, SECOND);
        read(true, 1);
        assertThat(thread.detailReadings).isEqualTo(3);
        // The last ratio of user time is used in between.
        assertThat(thread.usage.userNanos).isEqualTo(SECOND / 2);
        nanos.put(1L, SECOND + 1_000);
        for (int i = 0; i < 30; i++) read(true, 1);
        assertThat(thread.detailReadings).isEqualTo(4);
    }
}
