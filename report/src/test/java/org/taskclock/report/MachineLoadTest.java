// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class MachineLoadTest {
    @Test
    void shouldWarnOfAStepInWhichTheMachineWasBusy() {
        Result.Load idle = new Result.Load("idle", 3, 0.9, 0.1);
        assertThat(MachineLoad.warning(Samples.empty("experiment", Map.of(), idle, idle)))
                .isEmpty();
        Result busy = Samples.empty(
                "experiment", Map.of(), idle, new Result.Load("a", 1, 6, 4), new Result.Load("b", 1, 2, 30));
        assertThat(MachineLoad.warning(busy))
                .startsWith("The machine was busy: in 2 of 3 steps, ")
                .contains("up to 32.0 % (2.0 % other processes, 30.0 % hypervisor) in the step \"b\"");
        assertThat(MachineLoad.summary(busy)).startsWith("mean 9.0 % (2.1 % other processes, 6.9 % hypervisor)");
    }

    /** Files written before the load was recorded have only the load average. */
    @Test
    void shouldUseTheLoadAverageOfEarlierBenchmarks() {
        Map<String, String> busy = Map.of("processors", "2", "load at the start", "2.77 9.99 11.71 1/117 22165");
        assertThat(MachineLoad.warning(Samples.empty("bench", busy)))
                .startsWith("The machine was busy before the measurement: its load average was 2.77 on 2 processors.");
        assertThat(MachineLoad.summary(Samples.empty("bench", busy))).isEqualTo("not recorded");
        // This was read at the end of an experiment, so it includes the experiment.
        assertThat(MachineLoad.warning(Samples.empty("experiment", busy))).isEmpty();
        Map<String, String> idle = Map.of("processors", "64", "load at the start", "2.77 9.99 11.71 1/117 22165");
        assertThat(MachineLoad.warning(Samples.empty("bench", idle))).isEmpty();
        assertThat(MachineLoad.warning(Samples.empty("bench", Map.of("processors", "2", "load at the start", "?"))))
                .isEmpty();
        // If the load was recorded, the load average does not matter.
        assertThat(MachineLoad.warning(Samples.empty("bench", busy, new Result.Load("a", 1, 0, 0))))
                .isEmpty();
    }
}
