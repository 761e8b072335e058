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

/** The page that copies of the library share can be forged, deliberately or not, or refused by the kernel. */
class ForgedPageTest {
    private static final String FIRST = "shared, first copy in this process";
    private static final String LATER = "shared with an earlier copy in this process";

    @BeforeAll
    static void isWhereALibraryExists() {
        assumeTrue(Expected.isNative(), "no native library for this system");
    }

    /** The library makes its own page and reports the other one. */
    @ParameterizedTest
    @EnumSource
    void shouldIgnoreAPageThatDoesNotFit(ForgedPage.Content content) {
        String state = state("page", ForgedPage.NAME, content.name());
        assertThat(state).startsWith(FIRST).contains("ignored", ForgedPage.NAME);
    }

    /** The copies still find each other. */
    @Test
    void shouldStillShareBesideAForgedPage() {
        String[] states =
                state("page", ForgedPage.NAME, "POINTERS_INTO_NOWHERE", "twice").split("\n", -1);
        assertThat(states[0]).startsWith(FIRST);
        assertThat(states[1]).startsWith(LATER);
    }

    /** One field that is wrong is enough. */
    @ParameterizedTest
    @EnumSource
    void shouldIgnoreAPageOfOursThatWasAltered(AlteredPage.Field field) {
        ChildJvm child = ChildJvm.run(List.of("-Dtaskclock.rung=syscall"), AlteredPage.class, field.name());
        assertThat(child.succeeded().out()).startsWith(LATER).contains("ignored", ForgedPage.NAME);
    }

    /** Names that begin or end with ours, and those of older and newer versions. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                ForgedPage.NAME + "x",
                "x" + ForgedPage.NAME,
                ForgedPage.NAME + " (deleted)",
                "x /memfd:" + ForgedPage.NAME,
                "taskclock-abi",
                "taskclock-abi1",
                "taskclock-abi3"
            })
    void shouldNotLookAtOtherNames(String name) {
        assertThat(state("page", name, "POINTERS_TO_OTHER_CODE")).isEqualTo(FIRST);
        assertThat(state("page", name, "NOTHING")).isEqualTo(FIRST);
    }

    @Test
    void shouldReadOnItsOwnWhereAPageIsRefused() {
        assertThat(state("refused")).startsWith("own: ").contains("memfd_create", "errno 1");
    }

    /** As on kernels before 6.3, which do not know MFD_NOEXEC_SEAL. */
    @Test
    void shouldShareWhereOnlyTheSealIsRefused() {
        assertThat(state("unsealed")).isEqualTo(FIRST);
        assertThat(state("unsealed", "twice").split("\n", -1)).containsExactly(FIRST, LATER);
    }

    private static String state(String... arguments) {
        return ChildJvm.run(List.of("-Dtaskclock.rung=syscall"), ForgedPage.class, arguments)
                .succeeded()
                .out()
                .trim();
    }
}
