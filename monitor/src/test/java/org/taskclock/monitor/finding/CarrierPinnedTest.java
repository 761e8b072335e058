// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

class CarrierPinnedTest {
    private static ThreadUsage carrier(int cpuMillis, int switches) {
        return Observations.thread(8, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, cpuMillis, 0, 0, switches);
    }

    @ParameterizedTest
    @CsvSource({"1, 3, 1, true", "1, 200, 10, true", "1, 201, 1, false", "1, 3, 11, false", "0, 3, 1, false"})
    void shouldFindACarrierThatDoesNotRunItsThread(int sameSamples, int cpuMillis, int switches, boolean isFound) {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 2;
        // An earlier sample, which is no yield storm because the carrier is idle now.
        stacks.yieldingSamples = cpuMillis < 100 ? 1 : 0;
        stacks.sameCarriedSamples = sameSamples;
        stacks.carriedId = 22;
        stacks.carriedSite = "app.Orders.load(Orders.java:7)";
        List<Finding> found = Observations.ofThread(carrier(cpuMillis, switches), stacks, 0, -1)
                .findings();
        assertThat(found)
                .extracting(Finding::kind)
                .filteredOn(kind -> kind instanceof CarrierPinned)
                .hasSize(isFound ? 1 : 0);
        if (!isFound) return;
        assertThat(found.get(0).text()).isEqualTo("virtual thread #22 blocks its carrier \"ForkJoinPool-1-worker-1\"");
        assertThat(found.get(0).evidence())
                .endsWith(
                        "it carried virtual thread #22 in each of the last 2 stack samples",
                        "the virtual thread was in app.Orders.load(Orders.java:7)");
    }

    /** A sample is taken only if virtual threads are mounted that carriers cannot have run. */
    @ParameterizedTest
    @CsvSource({"1, 100, true", "1, 300, false", "2, 1100, true", "0, 0, false", "-1, 0, false"})
    void shouldSuspectMountedThreadsThatDoNotRun(int mounted, int cpuMillis, boolean isPossible) {
        VirtualThreadCounts virtual = new VirtualThreadCounts(9, mounted, 0, 2);
        assertThat(CarrierPinned.isPossible(List.of(carrier(cpuMillis, 1)), virtual, Observations.SECOND))
                .isEqualTo(isPossible);
    }
}
