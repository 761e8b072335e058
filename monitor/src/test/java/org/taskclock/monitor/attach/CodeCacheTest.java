// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.testing.LoadJvm;

class CodeCacheTest {
    /** What JVMs with {@code -Xcomp -XX:ReservedCodeCacheSize=2800k -XX:-UseCodeCacheFlushing} replied. */
    private static final String FULL_17 = """
            CodeCache: size=2800Kb used=1926Kb max_used=2786Kb free=873Kb
             bounds [0x00007f4fa5644000, 0x00007f4fa5900000, 0x00007f4fa5900000]
             total_blobs=1307 nmethods=955 adapters=267
             compilation: disabled (not enough contiguous free space left)
                          stopped_count=0, restarted_count=0
             full_count=1
            """;

    private static final String FULL_25 = """
            CodeCache: size=2800Kb used=2283Kb max_used=2785Kb free=517Kb
             bounds [0x00007f470b444000, 0x00007f470b700000, 0x00007f470b700000]
             total_blobs=1170, nmethods=816, adapters=260, full_count=1
            Compilation: disabled (not enough contiguous free space left), stopped_count=0, restarted_count=0
            """;

    @Test
    void shouldSayThatTheCompilersAreOff() {
        assertThat(List.of(FULL_17, FULL_25)).allSatisfy(reply -> assertThat(CodeCache.describe(reply))
                .startsWith("The compilers are off, because the code cache is full")
                .endsWith("Raise -XX:ReservedCodeCacheSize."));
    }

    @Test
    void shouldSayThatItHasBeenFull() {
        assertThat(CodeCache.describe(FULL_25.replace("disabled (not enough contiguous free space left)", "enabled")))
                .startsWith("The code cache has been full once since the JVM started.");
        assertThat(CodeCache.describe("full_count=2 full_count=1")).contains("full 3 times");
        assertThat(CodeCache.describe(FULL_17.replace("disabled", "enabled").replace("full_count=1", "full_count=0")))
                .isEmpty();
    }

    @Test
    void shouldFindNothingInAnUsualJvmOrNone() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            assertThat(CodeCache.problem(load.pid())).isEmpty();
        }
        assertThat(CodeCache.problem(999_999_999)).isEmpty();
    }
}
