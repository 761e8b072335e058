// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Whether anything native is in use, by the kernel's list of mappings rather than by what the library says. */
class MappingsTest {
    @Test
    void shouldMapNothingWhenSwitchedOff() {
        assertThat(mappedOn("mxbean")).isEmpty();
    }

    /** Shows that the test above can fail. */
    @Test
    void shouldMapLibraryAndPageOtherwise() {
        assumeTrue(Expected.isNative(), "no native library for this system");
        assertThat(mappedOn("syscall"))
                .anyMatch(line -> line.contains(" r-xp ") && line.contains("libtaskclock"))
                .anyMatch(
                        line -> line.contains(" r--p ") && line.endsWith(" /memfd:" + ForgedPage.NAME + " (deleted)"));
    }

    private static List<String> mappedOn(String rung) {
        String out = ChildJvm.run(List.of("-Dtaskclock.rung=" + rung), Mappings.class)
                .succeeded()
                .out();
        return out.lines()
                .filter(line -> !line.equals("every read done on " + rung))
                .toList();
    }
}
