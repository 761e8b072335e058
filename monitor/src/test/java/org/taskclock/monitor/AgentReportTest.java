// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentReportTest {
    /** Complete apart from what precedes it. */
    private static final String REST = ",\"virtualThreads\":[],\"carriers\":[],\"yieldMode\":\"count\","
            + "\"yielders\":[],\"health\":{\"features\":[]},\"yieldSites\":[]}";

    @Test
    void shouldAcceptACompleteReport() throws IOException {
        assertThat(AgentReport.parse("{\"pools\":[]" + REST).schedulingNanos()).isZero();
    }

    /** Tests an empty text, the text of an older agent, other JSON, and incomplete reports. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "taskclock-report 1\nmode\tcount\n",
                "[]",
                "{}",
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yieldMode\":\"count\",\"yieldSites\":[]}",
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yielders\":[],\"yieldSites\":[]}",
                "{\"pools\":[null]" + REST,
                "{\"pools\":[{\"cpuNanos\":1}]" + REST,
                "{\"pools\":[]" + REST + " trailing",
                "{\"pools\":[],\"pid\":\"x\"" + REST,
                "{\"pools\":[],\"pid\":1e99" + REST,
                "{\"pools\":[],\"virtualThreads\":[],\"carriers\":[],\"yieldMode\":\"\",\"yielders\":[],"
                        + "\"health\":{\"features\":[]},\"yieldSites\":[{\"stack\":[null]}]}"
            })
    void shouldRejectReportsOfOtherVersions(String text) {
        assertThatThrownBy(() -> AgentReport.parse(text))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("another version of TaskClock");
    }

    /** Each would overflow a sum, or make a counter decrease. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"pools\":[],\"platformYields\":-5" + REST,
                "{\"pools\":[],\"virtualYields\":9223372036854775807" + REST,
                "{\"pools\":[{\"name\":\"p\",\"cpuNanos\":9223372036854775807}]" + REST,
                "{\"pools\":[],\"virtualThreads\":[{\"name\":\"a\",\"cpuNanos\":1152921504606846976},"
                        + "{\"name\":\"b\",\"cpuNanos\":1}],\"carriers\":[],\"yieldMode\":\"count\","
                        + "\"yielders\":[],\"health\":{\"features\":[]},\"yieldSites\":[]}"
            })
    void shouldRejectImpossibleFigures(String text) {
        assertThatThrownBy(() -> AgentReport.parse(text))
                .isInstanceOf(AgentReport.AgentReportException.class)
                .hasMessageContaining("impossible figure");
    }
}
