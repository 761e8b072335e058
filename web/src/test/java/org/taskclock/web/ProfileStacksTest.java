// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.history.HistoryProfile;
import org.taskclock.monitor.profile.Profile;

class ProfileStacksTest {
    private static Profile.Stack stack(String pool, String thread, String... frames) {
        return new Profile.Stack(pool, thread, 1, "", List.of(frames), 2, 30);
    }

    @Test
    void shouldKeepPoolsAndGroupsAndNamesWithoutTypes() {
        Profile profile = new Profile(
                1,
                "p",
                "all threads",
                Instant.EPOCH,
                1,
                "JFR",
                1,
                1,
                1,
                1,
                List.of(
                        stack("http-#", "http-1", "Main.run_[j]", "Main.hot_[i]", "read_[k]"),
                        stack("carriers", "(virtual threads) request-#", "a_[0]"),
                        stack("carriers", "(virtual threads)", "b")),
                List.of());
        assertThat(ProfileStacks.of(profile))
                .containsExactly(
                        new HistoryProfile.Stack("http-#", false, List.of("Main.run", "Main.hot", "read_[k]"), 2, 30),
                        new HistoryProfile.Stack("request-#", true, List.of("a"), 2, 30),
                        new HistoryProfile.Stack("(unnamed)", true, List.of("b"), 2, 30));
    }
}
