// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class AllocationRateTest {
    private static final long SECOND = 1_000_000_000;

    @Test
    void shouldAverageRoundedAllocation() {
        AllocationRate rate = new AllocationRate();
        assertThat(rate.bytesPerSecond()).isEqualTo(-1);
        rate.add("\"a\" os_prio=0 cpu=1ms allocated=100M defined_classes=3", 0);
        rate.add("\"a\" os_prio=0 cpu=1ms allocated=100M defined_classes=3", SECOND);
        assertThat(rate.bytesPerSecond()).isEqualTo(-1);
        rate.add("\"a\" os_prio=0 cpu=1ms allocated=104M defined_classes=3", 2 * SECOND);
        assertThat(rate.bytesPerSecond()).isEqualTo(2 << 20);
        rate.add("\"a\" os_prio=0 cpu=1ms allocated=104M defined_classes=3", 4 * SECOND);
        assertThat(rate.bytesPerSecond()).describedAs("less than 1 M in 2 s").isEqualTo(1 << 19);
        rate.add("\"a allocated=9G\" os_prio=0 allocated=10K", 5 * SECOND); // another thread, which has its own total
        rate.add("\"a allocated=9G\" os_prio=0 allocated=12K", 6 * SECOND);
        assertThat(rate.bytesPerSecond()).isEqualTo(2 << 10);
        AllocationRate idle = new AllocationRate();
        idle.add("\"a\" os_prio=0 allocated=40B", 0);
        idle.add("\"a\" os_prio=0 allocated=40B", SECOND);
        assertThat(idle.bytesPerSecond()).isZero();
        AllocationRate unknown = new AllocationRate();
        for (String header : List.of("", "\"a\" os_prio=0 cpu=1ms")) unknown.add(header, SECOND);
        assertThat(unknown.bytesPerSecond()).isEqualTo(-1);
    }
}
