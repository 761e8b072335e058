// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a first reading that lacks something answers as well as it can, and that the clock recovers. */
class FirstReadingTest {
    @TempDir
    private Path temporary;

    @BeforeAll
    static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }

    @ParameterizedTest
    @CsvSource({
        "threads, syscall known",
        "directory, mxbean known",
        "files, mxbean unknown",
        "files after a first reading, syscall known",
        "files while the bean is in use, mxbean known",
        "file size, mxbean known",
        "stack, -",
        "heap, -",
        "megabyte, mxbean unknown",
    })
    void shouldRecover(String lacking, String meanwhile) {
        ChildJvm child = run(List.of("-Xmx40m", "-XX:+UseSerialGC"), lacking);
        // The JVM logs a line for each thread that it cannot start.
        assertThat(child.out()).containsPattern("(?m)^first " + (meanwhile.equals("-") ? "" : meanwhile + "$"));
        assertThat(child.out()).contains("then " + ExpectedBackend.name() + " known\n");
    }

    @Test
    void shouldRecoverIfTheTemporaryDirectoryIsFull() {
        List<String> command = new ArrayList<>(TmpfsLauncher.command(temporary, "size=256k"));
        command.addAll(ChildJvm.command(List.of("-Djava.io.tmpdir=" + temporary), FirstReading.class, "space"));
        assertThat(ChildJvm.run(command).succeeded().out())
                .contains("first mxbean known\n", "then " + ExpectedBackend.name() + " known\n");
    }

    /** A filter cannot be removed, so these failures last. */
    @ParameterizedTest
    @CsvSource({"clone, syscall", "mmap, syscall", "memfd, best"})
    void shouldUseWhatIsLeft(String denied, String backend) {
        ChildJvm child = run(List.of(), denied);
        String expected = backend.equals("best") ? ExpectedBackend.name() : backend;
        assertThat(child.out()).contains("first syscall known\n", "then " + expected + " known\n");
    }

    /** A forced backend that cannot be used for now is not an error. */
    @ParameterizedTest
    @CsvSource({
        "files, syscall, mxbean unknown",
        "files, mxbean, mxbean unknown",
        "clone, best, syscall known",
        "clone for a while, best, syscall known",
        "switched off, best, syscall known"
    })
    void shouldNotFailIfAForcedBackendIsUnusableForNow(String lacking, String backend, String meanwhile) {
        String forced = backend.equals("best") ? ExpectedBackend.name() : backend;
        boolean isLasting = lacking.equals("clone");
        ChildJvm child = run(List.of("-Dtaskclock.backend=" + forced), lacking);
        assertThat(child.out())
                .contains("first " + meanwhile + "\n", "then " + (isLasting ? "syscall" : forced) + " known\n");
    }

    /** Without a call of status(), readings try again, at growing distances. */
    @ParameterizedTest
    @ValueSource(strings = {"directory", "threads"})
    void shouldRecoverByReading(String lacking) {
        ChildJvm child = run(List.of(), lacking, "reads");
        assertThat(child.out()).contains("native after reads\n");
    }

    private ChildJvm run(List<String> options, String... arguments) {
        // With the first compiler only, the JDK's beans often run out of stack while they are initialized, for good.
        List<String> all = new ArrayList<>(List.of("-XX:TieredStopAtLevel=4", "-Djava.io.tmpdir=" + temporary));
        all.addAll(options);
        ChildJvm child = ChildJvm.run(all, FirstReading.class, arguments).succeeded();
        File[] left = temporary.toFile().listFiles();
        // The missing directory, which the child has created.
        if (left.length == 1 && left[0].getName().equals("missing")) left = left[0].listFiles();
        assertThat(left).isEmpty();
        return child;
    }
}
