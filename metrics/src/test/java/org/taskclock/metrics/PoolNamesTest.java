// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The names of pools. */
class PoolNamesTest {
    @Test
    void shouldReplaceNumbers() {
        assertThat(ThreadNames.pool("http-nio-8080-exec-12")).isEqualTo("http-nio-#-exec-#");
        assertThat(ThreadNames.pool("")).isEmpty();
    }

    @Test
    void shouldCutLongNames() {
        assertThat(ThreadNames.pool("x".repeat(1_000_000))).isEqualTo("x".repeat(ThreadNames.MAX_POOL_LENGTH) + "~");
        assertThat(ThreadNames.pool("7".repeat(1_000_000))).isEqualTo("#");
        // The cut divides a character that takes two chars.
        assertThat(ThreadNames.pool("x".repeat(ThreadNames.MAX_POOL_LENGTH - 1) + "\ud83d\ude00"))
                .isEqualTo("x".repeat(ThreadNames.MAX_POOL_LENGTH - 1) + "?~");
    }

    @Property(tries = 500)
    void shouldHaveAnEncodingInUtf8(@ForAll String name) {
        String pool = ThreadNames.pool(name);
        assertThat(new String(pool.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
                .isEqualTo(pool);
        assertThat(ThreadNames.pool(pool)).isEqualTo(pool);
    }
}
