// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.watch;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentReportTest {
    /** Nothing, text of an older agent, something else, and reports that lack a part. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "taskclock-report 1\nmode\tcount\n",
                "[]",
                "{}",
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yieldMode\":\"count\",\"yieldSites\":[]}",
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yielders\":[],\"yieldSites\":[]}"
            })
    void shouldRefuseWhatAnotherVersionSays(String said) {
        assertThatThrownBy(() -> AgentReport.parse(said))
                .isInstanceOf(AgentReport.Unreadable.class)
                .hasMessageContaining("it is of another version");
    }
}
