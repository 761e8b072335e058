// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;

/** The report of {@code taskclock time}. */
class TimeTextTest {
    private static final long MILLI = 1_000_000;

    private static JvmUsage.Pool pool(String name, ThreadKind kind, long cpuMillis) {
        return new JvmUsage.Pool(name, kind, 1, cpuMillis * MILLI, cpuMillis * MILLI / 2);
    }

    private static String report(long cpuMillis, List<JvmUsage.Pool> pools, String... notes) {
        JvmUsage jvm = new JvmUsage(
                7, SyntheticJvm.EVIL, "proc", cpuMillis * MILLI, cpuMillis * MILLI / 2, pools, List.of(), null);
        return TimeText.of(new TimeCommand.Result(
                "taskclock-time/1",
                List.of("java"),
                0,
                new TimeCommand.Times(61_002 * MILLI, 1_500 * MILLI, 20 * MILLI),
                List.of(jvm),
                List.of(notes)));
    }

    @Test
    void shouldAddUpThePoolsThatAreNotListed() {
        List<JvmUsage.Pool> pools = new ArrayList<>();
        for (int i = 0; i < 25; i++) pools.add(pool("same", ThreadKind.JAVA, 10));
        pools.add(pool("GC Thread#", ThreadKind.GC, 30));
        pools.add(pool("G# Main Marker", ThreadKind.GC, 10));
        assertThat(report(300, pools))
                .contains("\nreal\t1m1.002s\nuser\t0m1.500s\nsys\t0m0.020s\n")
                .contains("     0.300      0.150      0.150           total\n")
                .contains("     0.040      0.020      0.020        2  [GC]\n")
                .contains("     0.060      0.030      0.030        6  (6 more)\n")
                .contains("     0.010      0.005      0.005           ended threads\n");
    }

    @Test
    void shouldNotPrintEscapeSequencesOfNames() {
        String evil = SyntheticJvm.EVIL + "\ud800";
        assertThat(report(10, List.of(pool(evil, ThreadKind.JAVA, 10)), evil))
                .contains("JVM 7, evil?[2J?name, sampled from /proc\n", "  evil?[2J?name?\n", "Note: evil?[2J?name?.\n")
                .doesNotContain("\u001b", "\ud800");
    }

    @Test
    void shouldNotListPoolsThatUsedNothing() {
        assertThat(report(21, List.of(pool("worker-#", ThreadKind.JAVA, 20), pool("idle-#", ThreadKind.JAVA, 0))))
                .contains("  worker-#\n", "     0.000      0.000      0.000        1  (1 more)\n")
                .doesNotContain("idle-#");
    }
}
