// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProfileFiguresTest {
    @Test
    void shouldReadWhatItWrites() {
        ProfileFigures figures = new ProfileFigures("all threads", "stacks", 5.0, 98.5, null, 42);
        assertThat(ProfileFigures.ofJson(figures.json())).isEqualTo(figures);
    }

    @Test
    void shouldKnowNothingOfDamagedFigures() {
        for (String json : new String[] {"", "null", "{\"threads\":\"all", "[]"})
            assertThat(ProfileFigures.ofJson(json)).as(json).isEqualTo(ProfileFigures.of(null, null, -1));
    }
}
