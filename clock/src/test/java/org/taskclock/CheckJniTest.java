// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Runs all reads with the JVM's checks of JNI calls. */
class CheckJniTest {
    /**
     * Forces a garbage collection or another safepoint every few milliseconds, which moves objects that C wrongly
     * keeps.
     */
    private static final List<String> OPTIONS = List.of(
            "-Xcheck:jni",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+SafepointALot",
            "-XX:GuaranteedSafepointInterval=5",
            "-XX:+UseSerialGC",
            "-Xmn1m",
            "-Dtaskclock.backend=syscall");

    @Test
    void shouldPassCheckJni() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
        ChildJvm child = ChildJvm.run(OPTIONS, ReadExerciser.class).succeeded();
        // The JVM prints its findings to stdout.
        assertThat(child.out()).isEqualTo("all reads passed on syscall\n");
        assertThat(child.err()).isEmpty();
    }
}
