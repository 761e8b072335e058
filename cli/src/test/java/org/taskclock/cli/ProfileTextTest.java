// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.profile.Profile;

class ProfileTextTest {
    private static final long SECOND = 1_000_000_000;

    private static Profile profile(Profile.Stack... stacks) {
        long cpuNanos = stacks.length == 0
                ? SECOND
                : Stream.of(stacks).mapToLong(Profile.Stack::cpuNanos).sum();
        return new Profile(
                4711,
                "Orders",
                "thread \"worker-1\" (12)",
                Instant.EPOCH,
                2 * SECOND,
                "JFR (jdk.CPUTimeSample)",
                10_000_000,
                cpuNanos,
                cpuNanos,
                cpuNanos * 3 / 4,
                List.of(stacks),
                List.of("a limitation"));
    }

    private static Profile.Stack stack(long samples, String... frames) {
        return new Profile.Stack("worker-#", "worker-1", 12, "", List.of(frames), samples, samples * 10_000_000);
    }

    private static final Profile PROFILE = profile(
            stack(60, "Thread.run_[j]", "Worker.loop_[j]", "Hot.spin_[i]"),
            stack(30, "Thread.run_[j]", "Worker.loop_[j]", "Hot.other_[j]"),
            stack(10, "Thread.run_[0]", "\u001b[31mevil"));

    @Test
    void shouldPrintATableOfMethods() {
        assertThat(ProfileText.of(PROFILE, false, 2, 80)).isEqualTo("""
                process 4711 Orders, thread "worker-1" (12), 2.0 s
                CPU 50.0 % of a core: user 37.5, system 12.5
                source: JFR (jdk.CPUTimeSample), 100 samples, one per 10 ms, which stand for 100.0 % of this CPU time
                note: a limitation

                  self %  total %  method
                    60.0     60.0  Hot.spin
                    30.0     30.0  Hot.other
                """);
        assertThat(ProfileText.of(PROFILE, false, 0, 80)).contains(" 90.0  Worker.loop\n", "?[31mevil");
        assertThat(ProfileText.of(profile(), false, 0, 80))
                .endsWith("No samples: these threads used little or no" + " CPU time.\n");
    }

    @Test
    void shouldPrintAFlameGraph() {
        assertThat(FlameText.of(PROFILE, 65))
                .containsExactly(
                        " total   self",
                        " 100.0    0.0  |||||||||||||||||||| all",
                        " 100.0    0.0  |||||||||||||||||||| Thread.run",
                        "  90.0    0.0  ||||||||||||||||||   - Worker.loop",
                        "  60.0   60.0  ||||||||||||           - Hot.spin",
                        "  30.0   30.0              ||||||     - Hot.other",
                        "  10.0   10.0                    || - ?[31mevil");
    }

    @Test
    void shouldJoinFramesThatAreTooNarrowToDraw() {
        Profile.Stack[] stacks = new Profile.Stack[101];
        for (int i = 0; i < 100; i++) stacks[i] = stack(1, "run", "small" + i);
        stacks[100] = stack(900, "run", "large");
        assertThat(FlameText.of(profile(stacks), 65))
                .containsExactly(
                        " total   self",
                        " 100.0    0.0  |||||||||||||||||||| all",
                        " 100.0    0.0  |||||||||||||||||||| run",
                        "  90.0   90.0  ||||||||||||||||||   - large",
                        "  10.0    0.0                    || - (100 others)");
    }

    @Test
    void shouldFitEachLineToTheScreen() {
        String[] deep = new String[300];
        for (int i = 0; i < deep.length; i++) deep[i] = "org.example.a.long.package.name.Class" + i + ".method";
        for (int width : new int[] {1, 20, 80, 200}) {
            List<String> lines = FlameText.of(profile(stack(1, deep), stack(1, "x")), width);
            assertThat(lines).hasSizeGreaterThan(300);
            assertThat(lines).allMatch(line -> CellFormat.width(line) <= Math.max(13, width));
        }
    }
}
