// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class SharedReadingTest {
    @Test
    void shouldReturnThePreviousReadingIfOneMakesNoProgress() throws Exception {
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
}
