// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import jdk.crac.Core;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests that the clock selects its backend again after a restore from a checkpoint. */
class CheckpointTest {
    @BeforeAll
    static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }

    @Test
    void shouldSelectTheBackendAgainAfterARestore() {
        ChildJvm child = ChildJvm.run(RestoredProgram.class).succeeded();
        String backend = ExpectedBackend.name();
        assertThat(child.out()).isEqualTo("resources 1, restores 1, " + backend + " then " + backend + "\n");
    }

    @Test
    void shouldKeepAForcedBackend() {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=syscall"), RestoredProgram.class)
                .succeeded();
        assertThat(child.out()).isEqualTo("resources 1, restores 0, syscall then syscall\n");
    }

    @Test
    void shouldTestAForcedBackendAgain() {
        String backend = ExpectedBackend.name();
        assumeTrue(backend.startsWith("rseq"), "no backend here reads the counter");
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=" + backend), RestoredProgram.class)
                .succeeded();
        assertThat(child.out()).isEqualTo("resources 1, restores 1, " + backend + " then " + backend + "\n");
    }

    /** Reads the clock, simulates a restore, and reads the clock again. */
    static final class RestoredProgram {
        private RestoredProgram() {}

        public static void main(String[] arguments) throws Exception {
            Backend before = TaskClock.status().backend();
            long cpu = TaskClock.cpuNanos();
            int resources = Core.simulateRestore();
            for (int i = 0; i < 1_000; i++) {
                long next = TaskClock.cpuNanos();
                if (next < cpu) throw new AssertionError(next + " after " + cpu);
                cpu = next;
            }
            Backend after = TaskClock.status().backend();
            System.out.print("resources " + resources + ", restores " + Library.restores() + ", " + before + " then "
                    + after + "\n");
        }
    }
}
