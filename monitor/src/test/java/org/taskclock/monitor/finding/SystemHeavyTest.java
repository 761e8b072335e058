// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

class SystemHeavyTest {
    @ParameterizedTest
    @CsvSource({
        "JAVA, 120,  70,   5, true,  it reads without waiting",
        "JAVA, 240, 200, 900, false, it waits for connections that send little",
        "JAVA, 260, 200, 900, true,  it waits for connections that send much",
        "CARRIER, 260, 200, 900, false, virtual threads send and receive",
        "JAVA, 260, 120, 900, false, it is in the kernel less than half of the time",
        "JAVA,  90,  80,   5, false, it uses little",
    })
    void shouldFindThreadsThatAreMostlyInTheKernel(
            ThreadKind kind, long cpu, long system, long switches, boolean isFound, String description) {
        ThreadUsage thread = Observations.thread(8, "network-1", kind, cpu, system, 0, switches);
        Observation observation = Observations.ofThread(thread, new StackSamples.Stacks(), 0, -1);
        Observations.only(observation, new SystemHeavy(), isFound, description);
    }
}
