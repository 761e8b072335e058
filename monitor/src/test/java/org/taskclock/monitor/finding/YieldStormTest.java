// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.MILLIS;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

/** Yield storms, and threads that are in the kernel for another reason. */
class YieldStormTest {
    private static final ThreadUsage YIELDER = Observations.thread(8, "worker-1", ThreadKind.JAVA, 900, 600, 50, 12);

    @ParameterizedTest(name = "{4}")
    @CsvSource({
        "990,  5,   12, true,  alone on a processor",
        "220, 770,  20, true,  waits for a processor most of the time",
        "900,  50, 2000, false, blocks often",
        "900,  50,   -1, false, number of switches is unknown",
    })
    void shouldNotBeFoundWithoutStacks(long cpu, long wait, long switches, boolean mayYield, String description) {
        ThreadUsage thread = Observations.thread(8, "worker-1", ThreadKind.JAVA, cpu, cpu * 3 / 4, wait, switches);
        for (Observation observation : List.of(
                Observations.ofPools(thread), Observations.ofThread(thread, new StackSamples.Stacks(), 0, -1))) {
            Finding found = observation.findings().get(0);
            assertThat(found.kind()).as(description).isEqualTo(new SystemHeavy());
            assertThat(found.evidence().toString().contains("may be calling Thread.yield; no"))
                    .as(description)
                    .isEqualTo(mayYield);
        }
    }

    @Test
    void shouldSayHowToCountTheYields() {
        Finding found = Observations.ofPools(YIELDER).findings().get(0);
        assertThat(found.text()).isEqualTo("thread \"worker-1\" spends most of its time in the kernel");
        assertThat(found.tid()).isEqualTo(8);
        assertThat(found.evidence())
                .containsExactly(
                        "90 % of a core, 67 % of that in the kernel",
                        "12 voluntary and 0 involuntary context switches per second",
                        "it hardly ever blocks, so it may be calling Thread.yield; no stack was sampled",
                        "to count the yields by call site, run taskclock yields 7");
    }

    @Test
    void shouldNameThePoolOfSeveralThreads() {
        ThreadUsage other = Observations.thread(9, "worker-2", ThreadKind.JAVA, 800, 600, 50, 12);
        Finding found = Observations.ofPools(YIELDER, other).findings().get(0);
        assertThat(found.text()).isEqualTo("2 threads of pool \"worker-#\" spend most of their time in the kernel");
        assertThat(found.tid()).isZero();
    }

    @Test
    void shouldBeCertainIfAStackOrTheAgentShowsIt() {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 3;
        stacks.yieldingSamples = 2;
        Finding sampled =
                Observations.ofThread(YIELDER, stacks, 0, -1).findings().get(0);
        assertThat(sampled.text()).isEqualTo("thread \"worker-1\" keeps calling Thread.yield");
        assertThat(sampled.evidence()).contains("it was in Thread.yield in 2 of 3 stack samples");
        Finding counted = Observations.ofThread(YIELDER, new StackSamples.Stacks(), 1_000, 1_000)
                .findings()
                .get(0);
        assertThat(counted.text()).isEqualTo(sampled.text());
        assertThat(counted.evidence())
                .contains("the agent counted 1,000 yields per second", "at Site")
                .noneMatch(line -> line.contains("taskclock yields"));
    }

    @Test
    void shouldNotBeFoundIfTheAgentCountsFewYields() {
        assertThat(Observations.ofThread(YIELDER, new StackSamples.Stacks(), 999, 999)
                        .findings())
                .extracting(Finding::kind)
                .containsExactly(new SystemHeavy());
    }

    @Test
    void shouldNotBeFoundIfStacksShowSomethingElse() {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = 1;
        stacks.topFrame = "at java.io.FileInputStream.read0(Native Method)";
        Finding found = Observations.ofThread(YIELDER, stacks, 0, -1).findings().get(0);
        assertThat(found.kind()).isEqualTo(new SystemHeavy());
        assertThat(found.text()).isEqualTo("thread \"worker-1\" spends most of its time in the kernel");
        assertThat(found.evidence()).contains("top of its stack: " + stacks.topFrame);
    }

    @ParameterizedTest
    @CsvSource({"5, 0, true", "5, 2, true", "5, 3, false", "2, 0, true", "2, 1, false"})
    void shouldNotSuspectVirtualThreadsWhoseStacksShowSomethingElse(
            int schedulingSamples, int mountedStacks, boolean isSuspected) {
        StackSamples.Stacks stacks = new StackSamples.Stacks();
        stacks.samples = schedulingSamples + 4;
        stacks.schedulingSamples = schedulingSamples;
        stacks.mountedStacks = mountedStacks;
        ThreadUsage carrier = Observations.thread(8, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, 300, 20, 0, 5);
        Suspect suspect = new Suspect(List.of(carrier), "", stacks, 0, SECOND);
        Observation observation =
                Observations.of(List.of(suspect), List.of(carrier), SECOND, false, 33, Observations.NO_AGENT, null);
        Observations.only(observation, new YieldStorm(), isSuspected, "");
    }

    @Test
    void shouldListFiveThreadsOfAKind() {
        List<Suspect> suspects = IntStream.range(1, 9)
                .mapToObj(i -> Observations.thread(i, "worker-" + i, ThreadKind.JAVA, 900, 600, 50, 12))
                .map(thread -> new Suspect(List.of(thread), "", new StackSamples.Stacks(), 0, SECOND))
                .toList();
        assertThat(Observations.of(suspects, List.of(), Observations.NO_AGENT).findings())
                .hasSize(5);
    }

    @Test
    void shouldFindVirtualThreadsThatYieldOnManyCarriers() {
        ThreadUsage carrier = Observations.thread(8, "ForkJoinPool-1-worker-1", ThreadKind.CARRIER, 50, 20, 0, 900);
        Observation.AgentFigures agent = new Observation.AgentFigures(
                4_000, 4_000, 5_000, 150 * MILLIS, List.of("at Site"), VirtualThreadCounts.UNKNOWN);
        Finding found =
                Observations.of(List.of(), List.of(carrier), agent).findings().get(0);
        assertThat(found.kind()).isEqualTo(new YieldStorm());
        assertThat(found.text()).isEqualTo("virtual threads call Thread.yield 4,000 times per second");
        assertThat(found.evidence())
                .containsExactly(
                        "scheduling virtual threads uses 15 % of a core",
                        "virtual threads were mounted 5,000 times per second", "at Site");
    }
}
