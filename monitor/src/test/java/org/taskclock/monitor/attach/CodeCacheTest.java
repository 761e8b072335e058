// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.testing.LoadJvm;

class CodeCacheTest {
    @ParameterizedTest
    @CsvSource({
        "'Compilation: enabled, full_count=0', ''",
        "'compilation: enabled full_count=1', 'The code cache has been full once since the JVM started.'",
        "'full_count=2 full_count=1', 'The code cache has been full 3 times since the JVM started.'",
        "'compilation: disabled (not enough contiguous free space left) full_count=1', 'The compilers are off'",
        "'', ''"
    })
    void shouldSayWhetherItIsFull(String reply, String problem) {
        assertThat(CodeCache.describe(reply)).startsWith(problem);
        assertThat(CodeCache.describe(reply).isEmpty()).isEqualTo(problem.isEmpty());
    }

    @Test
    void shouldFindNothingInAnUsualJvmOrNone() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle")) {
            assertThat(CodeCache.problem(load.pid())).isEmpty();
        }
        assertThat(CodeCache.problem(999_999_999)).isEmpty();
    }

    @Test
    @Timeout(120)
    void shouldFindAFullCache() throws Exception {
        try (LoadJvm load =
                LoadJvm.start("-Xcomp", "-XX:-UseCodeCacheFlushing", "-XX:ReservedCodeCacheSize=2800k", "busy")) {
            String problem = CodeCache.problem(load.pid());
            while (problem.isEmpty()) {
                Thread.sleep(200);
                problem = CodeCache.problem(load.pid());
            }
            assertThat(problem).contains("code cache", "-XX:ReservedCodeCacheSize");
        }
    }
}
