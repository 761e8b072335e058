// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The names of pools. */
class PoolNameTest {
    @Test
    void shouldReplaceNumbers() {
        assertThat(PoolName.of("http-nio-8080-exec-12")).isEqualTo("http-nio-#-exec-#");
        assertThat(PoolName.of("")).isEmpty();
    }

    @Test
    void shouldCutLongNames() {
        assertThat(PoolName.of("x".repeat(1_000_000))).isEqualTo("x".repeat(200) + "~");
        assertThat(PoolName.of("7".repeat(1_000_000))).isEqualTo("#");
        // The cut divides a character that takes two chars.
        assertThat(PoolName.of("x".repeat(200 - 1) + "\ud83d\ude00")).isEqualTo("x".repeat(200 - 1) + "?~");
    }

    @Property(tries = 500)
    void shouldHaveAnEncodingInUtf8(@ForAll String name) {
        String pool = PoolName.of(name);
        assertThat(new String(pool.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .isEqualTo(pool);
        assertThat(PoolName.of(pool)).isEqualTo(pool);
    }
}
