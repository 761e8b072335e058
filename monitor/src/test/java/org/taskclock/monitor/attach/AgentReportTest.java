// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.taskclock.testing.LoadJvm;

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

    /**
     * A request file of another user cannot be deleted from a directory with the sticky bit. This test uses a directory
     * that is not empty instead, which cannot be deleted either.
     */
    @Test
    void shouldGetReportDespiteUndeletableRequestFile() throws Exception {
        String agent = System.getProperty("agent.jar");
        try (LoadJvm load = LoadJvm.start("-javaagent:" + agent, "idle")) {
            AttachClient client = AttachClient.of(load.pid());
            Path request = Path.of(client.reportRequest());
            // It is renamed into place, because tools that monitor this JVM would delete an empty directory.
            Path prepared = Files.createTempDirectory(request.getParent(), "taskclock-test-");
            Files.createFile(prepared.resolve("file"));
            Files.move(prepared, request);
            try {
                AgentReport report = AgentReport.request(client, 10_000);
                assertThat(report).isNotNull();
                assertThat(request).exists();
            } finally {
                Files.deleteIfExists(request.resolve("file"));
                Files.deleteIfExists(request);
            }
        }
    }
}
