// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.TestJvm;

/** Readings in child JVMs: without native code, and with the agent. */
class ChildJvmTest {
    @Test
    void shouldReadThroughTheBeanIfNativeCodeIsOff() throws Exception {
        String output = TestJvm.run(List.of("-Dtaskclock.backend=mxbean"), JvmThreadsProgram.class, "mxbean");
        assertThat(output).isEmpty();
    }

    @Test
    void shouldReadVirtualThreadsAndYieldsWithTheAgent() throws Exception {
        assumeThat(Runtime.version().feature()).isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        String output = TestJvm.run(
                List.of("--enable-native-access=ALL-UNNAMED", TestJvm.agent("yield=count")),
                JvmThreadsProgram.class,
                "agent");
        assertThat(output).isEmpty();
    }
}
