// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.attach;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AgentClientTest {
    private static final long SECOND = 1_000_000_000;
    /** Another tool may have deleted the request file, so a missing report is requested twice. */
    private static final int REQUESTS = 2;

    /** The agent of a JVM that has just started reports 0.2 s later. A JVM without an agent must not be asked often. */
    @Test
    void shouldAskAgainAfterASecondAndThenRarely() throws Exception {
        try (FakeJvm jvm = new FakeJvm(request -> "sun.java.command=Main\n")) {
            AgentClient agent = new AgentClient((int) jvm.pid(), jvm.client(), true);
            long start = System.nanoTime();
            agent.advance(1);
            assertThat(jvm.takeRequests()).isEqualTo(REQUESTS);
            assertThat(agent.isPresent()).isFalse();
            int requests = 0;
            while (requests == 0) {
                Thread.sleep(10);
                agent.advance(1);
                requests = jvm.takeRequests();
            }
            assertThat(requests).isEqualTo(REQUESTS);
            assertThat(System.nanoTime() - start).isBetween(SECOND, 5 * SECOND);
            for (int i = 0; i < 150; i++) {
                Thread.sleep(10);
                agent.advance(1);
            }
            assertThat(jvm.takeRequests()).isZero();
            agent.readSoon();
            agent.advance(1);
            assertThat(jvm.takeRequests()).isEqualTo(REQUESTS);
        }
    }

    @Test
    void shouldNotAskIfAttachingIsSwitchedOff() throws Exception {
        try (FakeJvm jvm = new FakeJvm(request -> "\n")) {
            AgentClient agent = new AgentClient((int) jvm.pid(), jvm.client(), false);
            agent.advance(1);
            assertThat(jvm.takeRequests()).isZero();
        }
    }

    @Test
    void shouldNotBelieveInMoreThanTheProcessHasUsed() throws Exception {
        String report = "taskclock.report={\"pools\":[],\"carriers\":[],\"yielders\":[],\"yieldSites\":[],"
                + "\"health\":{\"features\":[]},\"yieldMode\":\"count\","
                + "\"virtualThreads\":[{\"name\":\"forged\",\"cpuNanos\":3600000000000}]}\n";
        try (FakeJvm jvm = new FakeJvm(request -> report)) {
            AgentClient agent = new AgentClient((int) jvm.pid(), jvm.client(), true);
            agent.advance(1);
            assertThat(agent.problem()).startsWith("its agent claims 3600.0 s of CPU time for virtual threads");
            assertThat(agent.isPresent()).isFalse();
        }
    }
}
