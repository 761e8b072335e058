// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The contract with so little accuracy asked for that bases live for 10 ms, the longest there is: everything that must
 * end a base early has time to be missed.
 */
@Tag("contract")
class LongLivesTest {
    private static final long LONG_NANOS = 5_000_000;

    @Test
    void shouldHoldTheContractAtLongLives() {
        List<String> options = List.of("-Dtaskclock.accuracy=1ms", "-Dtaskclock.rung=" + Expected.rung());
        String out = ChildJvm.run(options, LongLives.class).succeeded().out().trim();
        if (Expected.rung().startsWith("rseq")) assertThat(Long.parseLong(out)).isGreaterThan(LONG_NANOS);
        else assertThat(out).isEqualTo("none");
    }

    /** Fails if the contract does not hold; otherwise prints how long bases live in the end. */
    static final class LongLives {
        private static final long RUN_NANOS = 700_000_000;
        private static final int SPINNERS = 4;
        private static final int MOST_BLOCKED_NANOS = 5_000_000;
        /** The first base after a switch lives an eighth of 10 ms. */
        private static final long FIRST_LIFE_NANOS = 1_500_000;

        private LongLives() {}

        public static void main(String[] arguments) throws InterruptedException {
            Work.onThreads(
                    1, () -> new Observer().observe(RUN_NANOS, (observer, round) -> ContractTest.anything(observer)));
            // Alone, so that bases do live that long.
            Work.onThreads(1, () -> new Observer().observe(RUN_NANOS, (observer, round) -> user()));
            Work.onThreads(SPINNERS, () -> new Observer().observe(RUN_NANOS, (observer, round) -> user()));
            Work.onThreads(1, () -> new Observer().observe(RUN_NANOS, (observer, round) -> {
                Blocking.readFor(FIRST_LIFE_NANOS);
                observer.block(ThreadLocalRandom.current().nextInt(MOST_BLOCKED_NANOS));
            }));
            ClockStatus.Accuracy accuracy = TaskClock.status().accuracy();
            System.out.println(accuracy == null ? "none" : accuracy.lifeNanos());
        }

        private static void user() {
            Work.user(ThreadLocalRandom.current().nextInt(50_000));
        }
    }
}
