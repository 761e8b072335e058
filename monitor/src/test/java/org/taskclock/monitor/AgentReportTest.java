// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentReportTest {
    /** Tests an empty text, the text of an older agent, other JSON, and incomplete reports. */
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
    void shouldRejectReportsOfOtherVersions(String text) {
        assertThatThrownBy(() -> AgentReport.parse(text))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("another version of TaskClock");
    }
}
