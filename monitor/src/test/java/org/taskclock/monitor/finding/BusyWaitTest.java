// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

class BusyWaitTest {
    private static StackSamples.Stacks stacks(int same, long seconds) {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 30;
        stacks.sameSamples = same;
        stacks.sampledAt = seconds * SECOND;
        stacks.topFrame = "at example.Flag.await(Flag.java:7)";
        return stacks;
    }

    private static List<Finding> found(ThreadUsage thread, StackSamples.Stacks stacks) {
        return Observations.ofThread(thread, stacks, 0, -1).findings();
    }

    @Test
    void shouldNameTheThreadAndThePlace() {
        ThreadUsage spinner = Observations.thread(8, "spinner-1", ThreadKind.JAVA, 400, 0, 590, 3);
        Finding found = found(spinner, stacks(12, 12)).get(0);
        assertThat(found.kind()).isEqualTo(new BusyWait());
        assertThat(found.tid()).isEqualTo(8);
        assertThat(found.text())
                .isEqualTo("thread \"spinner-1\" keeps running without blocking at example.Flag.await(Flag.java:7)");
        assertThat(found.evidence()).contains("its whole stack was the same in the last 12 stack samples, over 12 s");
    }

    @Test
    void shouldExplainAWorkerThatIsNeverSeenInATask() {
        ThreadUsage worker = Observations.thread(8, "scheduler-1", ThreadKind.JAVA, 990, 0, 0, 3);
        StackSamples.Stacks stacks = stacks(12, 12);
        String task = "one very short task of its executor after another";
        assertThat(found(worker, stacks).get(0).evidence()).noneMatch(line -> line.contains(task));
        stacks.topFrame =
                "at java.util.concurrent.ThreadPoolExecutor.runWorker(java.base@25/ThreadPoolExecutor.java:1)";
        assertThat(found(worker, stacks).get(0).evidence()).anyMatch(line -> line.contains(task));
    }

    @ParameterizedTest
    @CsvSource({
        "990,   0,    3,  2, 12, its stack changes",
        "990,   0,    3, 12,  7, it has not lasted",
        "700,   0,    3, 12, 12, it sleeps",
        "990, 200,    3, 12, 12, it makes system calls",
        "990,   0,  400, 12, 12, it blocks often",
    })
    void shouldNotFindThreadsThatWork(
            long cpu, long system, long switches, int same, long seconds, String description) {
        ThreadUsage thread = Observations.thread(8, "worker-1", ThreadKind.JAVA, cpu, system, 0, switches);
        assertThat(found(thread, stacks(same, seconds))).as(description).isEmpty();
    }
}
