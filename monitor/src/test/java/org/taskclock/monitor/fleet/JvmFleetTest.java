// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.monitor.usage.ThreadUsage;
import org.taskclock.testing.LoadJvm;

final class JvmFleetTest {
    private static final long TIMEOUT_SECONDS = 60;

    /** The kernel tells the start of a process, and the uptime, in units of 10 ms. */
    private static final long TICKS_NANOS = 20_000_000;

    private final List<String> log = new ArrayList<>();
    private final Map<String, Long> sampledByPool = new HashMap<>();
    private final Map<String, Long> sampledByThread = new HashMap<>();
    private long sampledProcess;
    private boolean hasEnded;

    private JvmFleet fleet(LoadJvm load) {
        assertThat(load.isAlive()).isTrue();
        return new JvmFleet(
                new FleetOptions(List.of(), "LoadProgram busy=2 lightly=3 kernel", 100, Duration.ofMinutes(1), true),
                log::add);
    }

    private void sample(JvmFleet fleet) {
        for (JvmSample sample : fleet.sample()) {
            for (ThreadUsage pool : sample.pools())
                sampledByPool.merge(pool.pool() + " " + pool.kind(), pool.cpuNanos(), Long::sum);
            for (ThreadUsage thread : sample.threads())
                sampledByThread.merge(thread.pool() + " " + thread.kind(), thread.cpuNanos(), Long::sum);
            sampledProcess += sample.process().cpuNanos();
            hasEnded |= sample.jvm().hasEnded();
        }
    }

    @Test
    void shouldSayThatTheCountersOfAJvmBeganWithTheJvm() throws Exception {
        long before = System.nanoTime();
        try (LoadJvm load = LoadJvm.start("busy=2", "lightly=3", "kernel");
                JvmFleet fleet = fleet(load)) {
            long after = System.nanoTime();
            // As if it were found only now.
            Thread.sleep(500);
            fleet.refresh();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
            while (fleet.read().isEmpty()) assertThat(System.nanoTime()).isLessThan(end);
            assertThat(fleet.read().get(0).startNanos()).isBetween(before - TICKS_NANOS, after);
        }
    }

    @Test
    void shouldNeitherLoseNorRepeatWhatIsReadForBoth() throws Exception {
        try (LoadJvm load = LoadJvm.start("busy=2", "lightly=3", "kernel");
                JvmFleet fleet = fleet(load)) {
            fleet.refresh();
            List<JvmSnapshot> last = List.of();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
            for (int i = 0; i < 30 || sampledProcess < 500_000_000; i++) {
                assertThat(System.nanoTime()).as("%s", log).isLessThan(end);
                sample(fleet);
                if (i % 3 == 0) last = fleet.read();
                if (i == 15) load.send("churn 3");
                Thread.sleep(100);
            }
            assertThat(last).hasSize(1);
            load.end();
            while (!hasEnded) {
                assertThat(System.nanoTime()).isLessThan(end);
                sample(fleet);
            }
            JvmSnapshot snapshot = fleet.read().get(0);
            assertThat(snapshot.usage().process().cpuNanos()).isEqualTo(sampledProcess);
            Map<String, Long> counted = new HashMap<>();
            for (PoolUsage pool : snapshot.usage().pools())
                counted.merge(pool.pool() + " " + pool.kind(), pool.cpuNanos(), Long::sum);
            sampledByPool.values().removeIf(nanos -> nanos == 0);
            counted.values().removeIf(nanos -> nanos == 0);
            assertThat(counted).isEqualTo(sampledByPool);
            // Every nanosecond of a pool is that of a thread, except for threads that nobody has seen.
            sampledByPool.keySet().removeIf(pool -> pool.startsWith("(ended threads)"));
            assertThat(sampledByThread).containsAllEntriesOf(sampledByPool);
            long inPools = counted.values().stream().mapToLong(Long::longValue).sum();
            assertThat(sampledProcess).isCloseTo(inPools, within(sampledProcess / 20));
        }
    }

    @Test
    void shouldGiveUpOnlyTheJvmThatCannotBeRead() throws Exception {
        String mark = "-Dtaskclock.fleet.test=" + System.nanoTime();
        FleetOptions options = new FleetOptions(List.of(), mark, 100, Duration.ofMinutes(1), true);
        try (LoadJvm good = LoadJvm.start(mark, "idle");
                LoadJvm bad = LoadJvm.start(mark, "idle");
                JvmFleet fleet = new JvmFleet(options, log::add)) {
            List<MonitoredJvm> jvms = new ArrayList<>();
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
            while (jvms.size() < 2) {
                assertThat(System.nanoTime()).as("%s", log).isLessThan(end);
                fleet.refresh();
                jvms.clear();
                for (JvmSnapshot snapshot : fleet.read()) jvms.add(snapshot.jvm());
            }
            fleet.forEach(jvms, jvm -> {
                if (jvm.id().pid() == bad.pid()) throw new ArithmeticException("test");
            });
            assertThat(jvms).extracting(jvm -> jvm.id().pid()).containsExactly(good.pid());
            assertThat(fleet.status().jvmErrors()).isEqualTo(1);
            assertThat(log)
                    .containsExactly("process " + bad.pid() + " (org.taskclock.testing.LoadProgram)"
                            + " is not exported: java.lang.ArithmeticException: test");
        }
    }
}
