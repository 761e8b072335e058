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

/** Tests the clock if the kernel denies the time-stamp counter, or system calls that it allowed before. */
@Tag("contract")
class SystemCallDenialTest {
    private static final List<String> CRASH_QUIETLY = List.of("-XX:ErrorFile=/dev/null", "-XX:-CreateCoredumpOnCrash");

    /** This does not apply to the mxbean backend, because the JVM ignores the error. */
    @ParameterizedTest
    @ValueSource(strings = {"clock_gettime", "getrusage"})
    void shouldReturnMinusOneAfterTheKernelDeniesTheCall(String call) {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
        String backend = ExpectedBackend.name();
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=" + backend), SeccompDenial.class, call);
        assertThat(child.succeeded().out()).isEqualTo("unknown on " + backend + "\n");
    }

    @Test
    void shouldWorkWithoutTheCounterIfItIsForbidden() {
        assumeTrue(ExpectedBackend.name().startsWith("rseq"), "this backend does not read the counter");
        boolean jvmWorks =
                ChildJvm.run(CRASH_QUIETLY, ForbiddenCounter.class, "no clock").exit() == 0;
        assumeTrue(jvmWorks, "the JVM itself crashes without the counter, because System.nanoTime reads it");
        ChildJvm child = ChildJvm.run(ForbiddenCounter.class).succeeded();
        assertThat(child.out())
                .contains("backend=syscall\n", "cpu=known")
                .containsPattern("(?m)^" + ExpectedBackend.name() + "-.*counter");
    }
}
