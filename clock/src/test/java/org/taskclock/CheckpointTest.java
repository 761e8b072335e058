// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import jdk.crac.Core;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What was found out about the machine is found out anew after a restore. */
class CheckpointTest {
    @BeforeAll
    static void needsTheLibrary() {
        assumeTrue(Expected.isNative(), "no native library for this system");
    }

    @Test
    void shouldDecideAnewAfterARestore() {
        ChildJvm child = ChildJvm.run(Restored.class).succeeded();
        assertThat(child.out()).isEqualTo("told 1, restores 1, " + Expected.rung() + " then " + Expected.rung() + "\n");
    }

    /** Who forced a rung gets no other one. */
    @Test
    void shouldKeepARungThatWasForced() {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.rung=syscall"), Restored.class)
                .succeeded();
        assertThat(child.out()).isEqualTo("told 1, restores 0, syscall then syscall\n");
    }

    /** Reads, is told of a restore, and reads on. */
    static final class Restored {
        private Restored() {}

        public static void main(String[] arguments) throws Exception {
            Rung before = TaskClock.status().rung();
            long cpu = TaskClock.cpuNanos();
            int told = Core.restore();
            for (int i = 0; i < 1_000; i++) {
                long next = TaskClock.cpuNanos();
                if (next < cpu) throw new AssertionError(next + " after " + cpu);
                cpu = next;
            }
            Rung after = TaskClock.status().rung();
            System.out.print(
                    "told " + told + ", restores " + Library.restores() + ", " + before + " then " + after + "\n");
        }
    }
}
