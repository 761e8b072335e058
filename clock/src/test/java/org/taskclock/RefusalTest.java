// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The kernel may refuse a program system calls that it allowed before, and the processor's counter. */
@Tag("contract")
class RefusalTest {
    private static final List<String> CRASH_QUIETLY = List.of("-XX:ErrorFile=/dev/null", "-XX:-CreateCoredumpOnCrash");

    /** Not on the mxbean rung: the JVM ignores that the kernel refused. */
    @ParameterizedTest
    @ValueSource(strings = {"clock_gettime", "getrusage"})
    void shouldSayMinusOneOnceTheKernelRefuses(String call) {
        assumeTrue(Expected.isNative(), "no native library here");
        String rung = Expected.rung();
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.rung=" + rung), LateFilter.class, call);
        assertThat(child.succeeded().out()).isEqualTo("unknown on " + rung + "\n");
    }

    @Test
    void shouldDoWithoutACounterThatIsForbidden() {
        assumeTrue(Expected.rung().startsWith("rseq"), "no counter is read here");
        boolean canDoWithout =
                ChildJvm.run(CRASH_QUIETLY, ForbiddenCounter.class, "no clock").exit() == 0;
        assumeTrue(canDoWithout, "System.nanoTime reads the counter, and no JVM lives without that");
        ChildJvm child = ChildJvm.run(ForbiddenCounter.class).succeeded();
        assertThat(child.out())
                .contains("rung=syscall\n", "cpu=known")
                .containsPattern("(?m)^" + Expected.rung() + "-.*counter");
    }
}
