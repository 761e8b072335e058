// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

class CarrierMonopolizedTest {
    @ParameterizedTest
    @CsvSource({"700, 200, 3, true", "700, 50, 3, false", "900, 0, 2, false"})
    void shouldFindACarrierThatIsAlwaysOccupied(long cpu, long wait, int sameSamples, boolean isFound) {
        ThreadUsage carrier = Observations.thread(8, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, cpu, 10, wait, 5);
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 3;
        stacks.sameCarriedSamples = sameSamples;
        stacks.carriedId = 23;
        stacks.sameCarriedSince = SECOND;
        stacks.sampledAt = 4 * SECOND;
        List<Finding> found = Observations.ofThread(carrier, stacks, 0, -1).findings();
        assertThat(found).hasSize(isFound ? 1 : 0);
        if (!isFound) return;
        assertThat(found.get(0).kind()).isEqualTo(new CarrierMonopolized());
        assertThat(found.get(0).text())
                .isEqualTo("virtual thread #23 keeps its carrier \"ForkJoinPool-1-worker-1\" busy;"
                        + " other virtual threads wait");
        assertThat(found.get(0).evidence())
                .contains("it carried virtual thread #23 in each of the last 4 stack samples");
        assertThat(found.get(0).earlierNanos()).isEqualTo(2 * SECOND);
    }
}
