// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MachineLoadTest {
    private static Result result(String kind, Map<String, String> machine, Result.Load... load) {
        return new Result(
                Result.FORMAT,
                kind,
                "quick",
                "2026-11-21T12:00:00Z",
                "2026-11-21T12:02:51Z",
                true,
                List.of(),
                machine,
                List.of(load),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of());
    }

    @Test
    void shouldWarnOfAStepInWhichTheMachineWasBusy() {
        Result.Load idle = new Result.Load("idle", 3, 0.9, 0.1);
        assertThat(MachineLoad.warning(result("experiment", Map.of(), idle, idle)))
                .isEmpty();
        Result busy =
                result("experiment", Map.of(), idle, new Result.Load("a", 1, 6, 4), new Result.Load("b", 1, 2, 30));
        assertThat(MachineLoad.warning(busy))
                .startsWith("The machine was busy: in 2 of 3 steps, ")
                .contains("at most 32.0 % (2.0 % other processes, 30.0 % hypervisor) in the step \"b\"");
        assertThat(MachineLoad.summary(busy)).startsWith("mean 9.0 % (2.1 % other processes, 6.9 % hypervisor)");
    }

    /** Files written before the load was recorded have only the load average. */
    @Test
    void shouldUseTheLoadAverageOfEarlierBenchmarks() {
        Map<String, String> busy = Map.of("processors", "2", "load at the start", "2.77 9.99 11.71 1/117 22165");
        assertThat(MachineLoad.warning(result("bench", busy)))
                .startsWith("The machine was busy before the measurement: its load average was 2.77 on 2 processors.");
        assertThat(MachineLoad.summary(result("bench", busy))).isEqualTo("not recorded");
        // This was read at the end of an experiment, so it includes the experiment.
        assertThat(MachineLoad.warning(result("experiment", busy))).isEmpty();
        Map<String, String> idle = Map.of("processors", "64", "load at the start", "2.77 9.99 11.71 1/117 22165");
        assertThat(MachineLoad.warning(result("bench", idle))).isEmpty();
        assertThat(MachineLoad.warning(result("bench", Map.of("processors", "2", "load at the start", "?"))))
                .isEmpty();
        // If the load was recorded, the load average does not matter.
        assertThat(MachineLoad.warning(result("bench", busy, new Result.Load("a", 1, 0, 0))))
                .isEmpty();
    }

    @Test
    void shouldGiveEachResultItsOwnName() {
        Result one = result("bench", Map.of());
        WallClock clock = new WallClock(ZoneOffset.UTC);
        assertThat(ResultNames.of(List.of(one), List.of("file"), clock)).containsExactly("bench quick");
        assertThat(ResultNames.of(List.of(one, one), List.of("before", "after"), clock))
                .containsExactly("before", "after");
        assertThat(ResultNames.of(List.of(one, one), List.of("same", "same"), clock))
                .containsExactly(
                        "bench quick, 2026-11-21 12:00:00 to 12:02:51 (UTC)",
                        "bench quick, 2026-11-21 12:00:00 to 12:02:51 (UTC) (2)");
        assertThat(ResultNames.of(List.of(one, result("experiment", Map.of())), List.of(), clock))
                .containsExactly("bench quick", "experiment quick");
    }

    @Test
    void shouldNameZonesAsBrowsersDo() {
        assertThat(new WallClock(ZoneId.of("Europe/Berlin")).zone()).isEqualTo("Europe/Berlin");
        assertThat(new WallClock(ZoneId.of("UTC")).zone()).isEqualTo("UTC");
        assertThat(new WallClock(ZoneId.of("GMT")).zone()).isEqualTo("UTC");
        assertThat(new WallClock(ZoneId.of("GMT+02:00")).zone()).isEqualTo("+02:00");
    }
}
