// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the library ignores forged versions of the page that its copies share, and that it works if the kernel
 * denies the page.
 */
class ForgedPageTest {
    private static final String FIRST_COPY = "shared, first copy in this process";
    private static final String LATER_COPY = "shared with an earlier copy in this process";

    @BeforeAll
    static void assumeNativeLibrary() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
    }

    /** The library must create its own page and report the ignored one. */
    @ParameterizedTest
    @EnumSource
    void shouldIgnoreAnInvalidPage(ForgedPage.Content content) {
        String state = state("page", ForgedPage.NAME, content.name());
        assertThat(state).startsWith(FIRST_COPY).contains("ignored", ForgedPage.NAME);
    }

    @Test
    void shouldShareStateDespiteAForgedPage() {
        String[] states =
                state("page", ForgedPage.NAME, "INVALID_POINTERS", "twice").split("\n", -1);
        assertThat(states[0]).startsWith(FIRST_COPY);
        assertThat(states[1]).startsWith(LATER_COPY);
    }

    /** A single wrong field must be enough to reject the page. */
    @ParameterizedTest
    @EnumSource
    void shouldIgnoreAnAlteredPage(AlteredPage.Field field) {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.backend=syscall"), AlteredPage.class, field.name());
        assertThat(child.succeeded().out()).startsWith(LATER_COPY).contains("ignored", ForgedPage.NAME);
    }

    /** Names that begin or end with the library's name, and names of older and newer ABI versions. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                ForgedPage.NAME + "x",
                "x" + ForgedPage.NAME,
                ForgedPage.NAME + " (deleted)",
                "x /memfd:" + ForgedPage.NAME,
                "taskclock-abi",
                "taskclock-abi3",
                "taskclock-abi5"
            })
    void shouldNotReadPagesWithOtherNames(String name) {
        assertThat(state("page", name, "POINTERS_TO_FOREIGN_CODE", "EMPTY")).isEqualTo(FIRST_COPY);
    }

    @Test
    void shouldUseItsOwnStateIfThePageIsDenied() {
        assertThat(state("denied")).startsWith("own: ").contains("memfd_create", "errno 1");
    }

    /** Kernels before 6.3 do not support MFD_NOEXEC_SEAL. */
    @Test
    void shouldShareStateIfOnlyTheSealIsDenied() {
        assertThat(state("unsealed")).isEqualTo(FIRST_COPY);
        assertThat(state("unsealed", "twice").split("\n", -1)).containsExactly(FIRST_COPY, LATER_COPY);
    }

    private static String state(String... arguments) {
        return ChildJvm.run(List.of("-Dtaskclock.backend=syscall"), ForgedPage.class, arguments)
                .succeeded()
                .out()
                .trim();
    }
}
