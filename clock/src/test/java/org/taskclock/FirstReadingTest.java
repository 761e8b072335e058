// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a first reading that lacks something answers as well as it can, and that the clock recovers. */
class FirstReadingTest {
    @BeforeAll
    static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }

    @ParameterizedTest
    @CsvSource({
        "threads, syscall known",
        "directory, mxbean known",
        "files, mxbean unknown",
        "stack, -",
        "heap, -",
    })
    void shouldRecover(String lacking, String meanwhile) {
        ChildJvm child = ChildJvm.run(List.of("-Xmx40m", "-XX:+UseSerialGC"), FirstReading.class, lacking)
                .succeeded();
        // The JVM logs a line for each thread that it cannot start.
        assertThat(child.out()).containsPattern("(?m)^first " + (meanwhile.equals("-") ? "" : meanwhile + "$"));
        assertThat(child.out()).contains("then " + ExpectedBackend.name() + " known\n");
    }

    /** A filter cannot be removed, so these failures last. */
    @ParameterizedTest
    @CsvSource({"clone, syscall", "memfd, best"})
    void shouldUseWhatIsLeft(String denied, String backend) {
        ChildJvm child = ChildJvm.run(FirstReading.class, denied).succeeded();
        String expected = backend.equals("best") ? ExpectedBackend.name() : backend;
        assertThat(child.out()).contains("first syscall known\n", "then " + expected + " known\n");
    }

    /** Without a call of status(), readings try again, at growing distances. */
    @ParameterizedTest
    @ValueSource(strings = {"directory", "threads"})
    void shouldRecoverByReading(String lacking) {
        ChildJvm child = ChildJvm.run(FirstReading.class, lacking, "reads").succeeded();
        assertThat(child.out()).contains("native after reads\n");
    }
}
