// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests whether native code is in use according to the kernel's list of mappings, not according to the library. */
class MappingsTest {
    @Test
    void shouldMapNothingOnMxbean() {
        assertThat(mappings("mxbean")).isEmpty();
    }

    /** Also shows that the test above can fail. */
    @Test
    void shouldMapTheLibraryAndThePageOnSyscall() {
        assumeTrue(ExpectedBackend.isNative(), "no native library for this system");
        assertThat(mappings("syscall"))
                .anyMatch(line -> line.contains(" r-xp ") && line.contains("libtaskclock"))
                .anyMatch(
                        line -> line.contains(" r--p ") && line.endsWith(" /memfd:" + ForgedPage.NAME + " (deleted)"));
    }

    private static List<String> mappings(String backend) {
        String out = ChildJvm.run(List.of("-Dtaskclock.backend=" + backend), MappingsPrinter.class)
                .succeeded()
                .out();
        return out.lines()
                .filter(line -> !line.equals("all reads passed on " + backend))
                .toList();
    }
}
