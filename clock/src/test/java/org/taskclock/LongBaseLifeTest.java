// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests the contract at an accuracy so low that bases live for the maximum of 10 ms. If the clock misses an event that
 * must end a base, it is then wrong for long enough for the test to detect it.
 */
@Tag("contract")
@Tag("bases")
class LongBaseLifeTest {
    private static final long LONG_LIFE_NANOS = 5_000_000;

    @Test
    void shouldMeetTheContractIfBasesLiveLong() {
        List<String> options = List.of("-Dtaskclock.accuracy=1ms", "-Dtaskclock.backend=" + ExpectedBackend.name());
        String out = ChildJvm.run(options, LongBaseLife.class).succeeded().out().trim();
        if (ExpectedBackend.name().startsWith("rseq"))
            assertThat(Long.parseLong(out)).isGreaterThan(LONG_LIFE_NANOS);
        else assertThat(out).isEqualTo("none");
    }

    /** Fails if the clock violates the contract. Otherwise prints the life of a base at the end. */
    static final class LongBaseLife {
        private static final long RUN_NANOS = 700_000_000;
        private static final int SPINNERS = 4;
        private static final int MAX_BLOCKED_NANOS = 5_000_000;
        /** The first base after a switch lives for an eighth of 10 ms. */
        private static final long FIRST_LIFE_NANOS = 1_500_000;

        private LongBaseLife() {}

        public static void main(String[] arguments) throws InterruptedException {
            verify(1, (verifier, round) -> ContractTest.doRandomStep(verifier));
            // On a single thread, bases actually live that long.
            verify(1, (verifier, round) -> burnUserTime());
            verify(SPINNERS, (verifier, round) -> burnUserTime());
            verify(1, (verifier, round) -> {
                BlockingMethod.readFor(FIRST_LIFE_NANOS);
                verifier.block(ThreadLocalRandom.current().nextInt(MAX_BLOCKED_NANOS));
            });
            ClockStatus.Accuracy accuracy = TaskClock.status().accuracy();
            System.out.println(accuracy == null ? "none" : accuracy.lifeNanos());
        }

        private static void verify(int threads, ContractVerifier.Step step) throws InterruptedException {
            CpuLoad.runOnThreads(threads, () -> new ContractVerifier().verify(RUN_NANOS, step));
        }

        private static void burnUserTime() {
            CpuLoad.burnUser(ThreadLocalRandom.current().nextInt(50_000));
        }
    }
}
