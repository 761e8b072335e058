// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class SharedReadingTest {
    @Test
    void shouldReturnThePreviousReadingIfOneHangs() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        List<JvmSnapshot> first = List.of(new JvmSnapshot(null, null, null, 1));
        List<List<JvmSnapshot>> results = new ArrayList<>(List.of(first));
        try (SharedReading reading = new SharedReading(() -> {
            if (!results.isEmpty()) return results.remove(0);
            try {
                hangs.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return List.of();
        })) {
            assertThat(reading.get()).isSameAs(first);
            assertThat(reading.get()).as("the reading hangs").isSameAs(first);
            hangs.countDown();
            while (!reading.get().isEmpty()) Thread.onSpinWait();
        }
    }

    /** However many there are, and although each of them goes on. */
    @Test
    void shouldReturnThePreviousReadingIfManyJvmsAreSlow() {
        try (SharedReading shared = new SharedReading(() -> {
            for (int jvm = 0; jvm < 5; jvm++) LockSupport.parkNanos(600_000_000);
            return List.of(new JvmSnapshot(null, null, null, 1));
        })) {
            long start = System.nanoTime();
            assertThat(shared.get()).as("nothing is known yet").isEmpty();
            assertThat(System.nanoTime() - start).isLessThan(SECONDS.toNanos(1));
            while (shared.get().isEmpty()) assertThat(System.nanoTime() - start).isLessThan(SECONDS.toNanos(30));
        }
    }
}
