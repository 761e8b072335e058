// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The JVM's own check of how it is called from C. */
class CheckJniTest {
    /** With a collection or another safepoint every few milliseconds, so that what C holds wrongly is moved away. */
    private static final List<String> OPTIONS = List.of(
            "-Xcheck:jni",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:+SafepointALot",
            "-XX:GuaranteedSafepointInterval=5",
            "-XX:+UseSerialGC",
            "-Xmn1m",
            "-Dtaskclock.rung=syscall");

    @Test
    void shouldCallTheJvmAsItAsks() {
        assumeTrue(Expected.isNative(), "no native library for this system");
        ChildJvm child = ChildJvm.run(OPTIONS, EveryRead.class).succeeded();
        // What the check finds it says on stdout.
        assertThat(child.out()).isEqualTo("every read done on syscall\n");
        assertThat(child.err()).isEmpty();
    }
}
