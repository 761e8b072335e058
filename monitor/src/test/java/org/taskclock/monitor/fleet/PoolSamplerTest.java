// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;
import org.taskclock.internal.JdkVersions;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.GarbageCollection;
import org.taskclock.monitor.finding.Observation;
import org.taskclock.monitor.proc.MonitorException;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;

/** Compares readings of real JVMs with the clock of their process. */
@Tag("slow17")
class PoolSamplerTest {
    private static final long MILLIS = 1_000_000;
    private static final String BUSY_POOL = "a busy thread with a long name, number #";

    /** Half of the 1 % that is promised for the metrics. The rest is for the time between two readings. */
    private static final double TOLERANCE = 0.005;

    private final Map<PoolKey, Long> totals = new HashMap<>();
    private final Map<PoolKey, Integer> threads = new HashMap<>();
    private long processNanos;

    private void add(PoolReading reading) {
        threads.clear();
        for (ThreadUsage usage : reading.pools()) {
            assertThat(usage.cpuNanos()).isNotNegative();
            assertThat(usage.userNanos()).isBetween(0L, usage.cpuNanos());
            assertThat(usage.waitNanos()).isGreaterThanOrEqualTo(-1);
            totals.merge(new PoolKey(usage.pool(), usage.kind()), usage.cpuNanos(), Long::sum);
            threads.merge(new PoolKey(usage.pool(), usage.kind()), usage.threads(), Integer::sum);
        }
        assertThat(reading.process().cpuNanos()).isGreaterThanOrEqualTo(processNanos);
        assertThat(reading.process().userNanos() + reading.process().systemNanos())
                .isEqualTo(reading.process().cpuNanos());
        processNanos = reading.process().cpuNanos();
    }

    private long sum() {
        return totals.values().stream().mapToLong(Long::longValue).sum();
    }

    private void assertSumIsThatOfTheProcess() {
        assertThat((double) sum())
                .as("%s", totals)
                .isBetween(processNanos * (1 - TOLERANCE) - 5 * MILLIS, processNanos * (1 + TOLERANCE) + 5 * MILLIS);
    }

    private void sample(PoolSampler sampler, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            Thread.sleep(100);
            sampler.sample();
        }
    }

    @Test
    void shouldAgreeWithTheClockOfTheProcess() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy=2", "kernel", "idle=40");
                PoolSamplers samplers = new PoolSamplers(true);
                PoolSampler sampler = samplers.open(load.pid(), true)) {
            ProcessClock clock = ProcessClock.of(load.pid());
            for (int i = 0; i < 3; i++) {
                sample(sampler, 12);
                long before = clock.cpuNanos();
                add(sampler.read());
                assertThat(processNanos).isBetween(before, clock.cpuNanos());
                assertSumIsThatOfTheProcess();
            }
            assertThat(threads)
                    .containsEntry(new PoolKey(BUSY_POOL, ThreadKind.JAVA), 2)
                    .containsEntry(new PoolKey("pool-#-thread-#", ThreadKind.JAVA), 40)
                    .containsEntry(new PoolKey("kernel-calls", ThreadKind.JAVA), 1)
                    .containsEntry(new PoolKey("VM Thread", ThreadKind.VM), 1);
            assertThat(totals.keySet()).extracting(PoolKey::kind).contains(ThreadKind.GC, ThreadKind.JIT);
            assertThat(sampler.attachFailure()).isNull();
        }
    }

    @Test
    void shouldCountOnlyWhatIsUsedSinceItWasOpened() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy");
                PoolSamplers samplers = new PoolSamplers(false)) {
            load.send("churn 20");
            long before = ProcessClock.of(load.pid()).cpuNanos();
            try (PoolSampler sampler = samplers.open(load.pid(), false)) {
                add(sampler.read());
                assertThat(processNanos).isLessThan(before / 2);
                sample(sampler, 12);
                add(sampler.read());
                assertSumIsThatOfTheProcess();
                // The kernel's name, because the JVM was not asked.
                assertThat(threads).containsKey(new PoolKey("a busy thread w", ThreadKind.JAVA));
            }
        }
    }

    @Test
    void shouldWaitForTheNamesOfThreads() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy");
                PoolSamplers samplers = new PoolSamplers(true);
                PoolSampler sampler = samplers.open(load.pid(), true)) {
            add(sampler.read());
            assertThat(processNanos).isZero();
            sample(sampler, 12);
            add(sampler.read());
            assertSumIsThatOfTheProcess();
            assertThat(totals.keySet())
                    .extracting(PoolKey::pool)
                    .contains(BUSY_POOL)
                    .doesNotContain("a busy thread w", "VM Periodic Tas");
        }
    }

    @Test
    void shouldLoseNothingWhenThreadsEnd() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=5");
                PoolSamplers samplers = new PoolSamplers(true);
                PoolSampler sampler = samplers.open(load.pid(), true)) {
            for (int i = 0; i < 3; i++) {
                // These run for 20 ms each, so most are never seen.
                load.send("churn 30");
                sample(sampler, 1);
                Thread.sleep(1_000);
                add(sampler.read());
                assertSumIsThatOfTheProcess();
            }
            assertThat(totals.get(PoolKey.ENDED)).isGreaterThan(3 * 30 * 10 * MILLIS);
            assertThat(sampler.threads()).isLessThan(60);
        }
    }

    /** Any program can give its threads such names, and for some it takes a thread dump to know. */
    @Test
    void shouldNotBeMisledByNames() throws Exception {
        PoolKey guessed = new PoolKey("GC Thread##", ThreadKind.GC);
        try (LoadJvm load = LoadJvm.start("-XX:+UseSerialGC", "gc-names");
                PoolSamplers attaching = new PoolSamplers(true);
                PoolSamplers withoutAttach = new PoolSamplers(false);
                PoolSampler sampler = attaching.open(load.pid(), true);
                PoolSampler outside = withoutAttach.open(load.pid(), true)) {
            sample(sampler, 12);
            add(sampler.read());
            assertThat(totals.keySet()).doesNotContain(guessed).contains(new PoolKey("GC Thread##", ThreadKind.JAVA));
            List<ThreadUsage> pools = outside.read().pools();
            assertThat(pools)
                    .filteredOn(pool -> pool.kind() == ThreadKind.GC)
                    .as("the kernel's name only")
                    .isNotEmpty()
                    .allMatch(ThreadUsage::truncated);
            assertThat(Observation.ofPools(pools, List.of(), 1, VirtualThreadCounts.UNKNOWN, null, 1, null)
                            .findings())
                    .extracting(Finding::kind)
                    .doesNotContain(new GarbageCollection());
        }
    }

    @Test
    void shouldAskForTheOwnersOfNewThreadsWithNamesOfTheJvm() throws Exception {
        try (LoadJvm load = LoadJvm.start("-XX:+UseSerialGC", "idle=1");
                PoolSamplers samplers = new PoolSamplers(true);
                PoolSampler sampler = samplers.open(load.pid(), true)) {
            sample(sampler, 12);
            add(sampler.read());
            load.send("start gc-name");
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
            do {
                assertThat(System.nanoTime()).as("%s", threads).isLessThan(end);
                Thread.sleep(1_000);
                add(sampler.read());
            } while (!threads.containsKey(new PoolKey("GC Thread##", ThreadKind.JAVA)));
        }
    }

    @Test
    void shouldReturnWhatWasUsedUntilTheProcessEnded() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy=2");
                PoolSamplers samplers = new PoolSamplers(true);
                PoolSampler sampler = samplers.open(load.pid(), true)) {
            sample(sampler, 10);
            add(sampler.read());
            long before = processNanos;
            sample(sampler, 10);
            load.end();
            assertThatThrownBy(sampler::sample).isInstanceOf(MonitorException.class);
            add(sampler.end());
            assertThat(processNanos).isGreaterThan(before + 100 * MILLIS);
            assertThat(sum()).isEqualTo(processNanos);
            assertThat(threads.values()).containsOnly(0);
        }
    }

    @Test
    void shouldAddWhatTheAgentCounts() throws Exception {
        boolean virtual = Runtime.version().feature() >= JdkVersions.VIRTUAL_THREADS;
        String agent = Path.of(System.getProperty("agent.jar"))
                .resolveSibling("taskclock-agent.jar")
                .toString();
        try (LoadJvm load =
                        LoadJvm.start("-javaagent:" + agent + "=yield=count", "yield", virtual ? "virtual=4" : "idle");
                PoolSamplers samplers = new PoolSamplers(true);
                PoolSampler sampler = samplers.open(load.pid(), false)) {
            sample(sampler, 12);
            add(sampler.read());
            totals.clear();
            sample(sampler, 12);
            PoolReading reading = sampler.read();
            add(reading);
            assertThat(reading.yields().get(new PoolKey("yielder", ThreadKind.JAVA)))
                    .isGreaterThan(1_000);
            PoolKey requests = new PoolKey("request-#", ThreadKind.VIRTUAL);
            if (!virtual) {
                assertThat(totals).doesNotContainKey(requests);
                return;
            }
            assertThat(threads).containsEntry(requests, 4);
            long carriers = totals.entrySet().stream()
                    .filter(e -> e.getKey().kind() == ThreadKind.CARRIER)
                    .mapToLong(Map.Entry::getValue)
                    .sum();
            // The agent reports some time after the threads were read.
            assertThat((double) totals.get(requests)).isBetween(carriers * 0.5, carriers * 1.2);
        }
    }

    @Test
    void shouldReadIdleThreadsRarely() throws Exception {
        try (LoadJvm load = LoadJvm.start("idle=1000");
                PoolSamplers samplers = new PoolSamplers(false);
                PoolSampler sampler = samplers.open(load.pid(), true)) {
            for (int i = 0; i < 10; i++) {
                sampler.read();
                sample(sampler, 2);
            }
            long start = TaskClock.cpuNanos();
            for (int i = 0; i < 100; i++) sampler.sample();
            long perSample = (TaskClock.cpuNanos() - start) / 100;
            // Reading 1,000 threads takes at least 1 ms.
            assertThat(perSample).isLessThan(MILLIS / 2);
        }
    }

    @Test
    void shouldReportAProcessThatHasEnded() throws Exception {
        Process process = new ProcessBuilder("true").start();
        process.waitFor();
        try (PoolSamplers samplers = new PoolSamplers(false)) {
            assertThatThrownBy(() -> samplers.open(process.pid(), true))
                    .isInstanceOfSatisfying(MonitorException.class, e -> assertThat(e.reason())
                            .isEqualTo(MonitorException.Reason.GONE));
        }
    }
}
