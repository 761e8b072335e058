// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** The totals of pools: their sums, their limit, and carriers. */
class PoolCountersTest {
    private static final long MILLIS = 1_000_000;

    private static PoolUsage usage(String pool, ThreadKind kind, long user, long system) {
        return new PoolUsage(pool, kind, 1, user * MILLIS, system * MILLIS, -1, -1, -1, -1);
    }

    private static PoolUsage usage(String pool, long cpu) {
        return usage(pool, ThreadKind.JAVA, cpu, 0);
    }

    private static Map<String, Long> cpuMillis(PoolCounters counters) {
        Map<String, Long> cpu = new HashMap<>();
        for (PoolUsage pool : counters.pools()) cpu.put(pool.pool(), pool.cpuNanos() / MILLIS);
        return cpu;
    }

    @Test
    void shouldAddUpEachPool() {
        PoolCounters counters = new PoolCounters(100);
        counters.add(List.of(usage("a", ThreadKind.JAVA, 3, 4), usage("a", 1), usage("b", 5)));
        counters.add(List.of(usage("b", 6)));
        assertThat(counters.pools())
                .containsExactlyInAnyOrder(
                        new PoolUsage("a", ThreadKind.JAVA, 0, 4 * MILLIS, 4 * MILLIS, -1, -1, -1, -1),
                        new PoolUsage("b", ThreadKind.JAVA, 1, 11 * MILLIS, 0, -1, -1, -1, -1));
    }

    @Test
    void shouldKeepWhatIsUnknownUnknownUntilItIsKnown() {
        PoolCounters counters = new PoolCounters(100);
        counters.add(List.of(usage("a", 1)));
        assertThat(counters.pools().get(0).yields()).isEqualTo(-1);
        counters.add(List.of(new PoolUsage("a", ThreadKind.JAVA, 1, 0, 0, 7, 8, 9, 0)));
        counters.add(List.of(usage("a", 1)));
        assertThat(counters.pools()).containsExactly(new PoolUsage("a", ThreadKind.JAVA, 1, 2 * MILLIS, 0, 7, 8, 9, 0));
    }

    @Test
    void shouldSubtractVirtualThreadsFromTheirCarriers() {
        PoolCounters counters = new PoolCounters(100);
        counters.add(List.of(
                usage("carrier", ThreadKind.CARRIER, 10, 5),
                usage("request", ThreadKind.VIRTUAL, 7, 2),
                usage("main", 9)));
        assertThat(cpuMillis(counters)).isEqualTo(Map.of("carrier", 6L, "request", 9L, "main", 9L));
        // What exceeds the carriers' time, because they were read earlier, is subtracted from their next time.
        counters.add(List.of(usage("carrier", ThreadKind.CARRIER, 1, 0), usage("request", ThreadKind.VIRTUAL, 4, 0)));
        assertThat(cpuMillis(counters)).isEqualTo(Map.of("carrier", 6L, "request", 13L, "main", 9L));
        counters.add(List.of(usage("carrier", ThreadKind.CARRIER, 5, 0)));
        assertThat(cpuMillis(counters)).isEqualTo(Map.of("carrier", 8L, "request", 13L, "main", 9L));
    }

    @Test
    void shouldSubtractVirtualThreadsFromAllCarriersInProportion() {
        PoolCounters counters = new PoolCounters(100);
        counters.add(List.of(
                usage("carrier", ThreadKind.CARRIER, 30, 0),
                usage("event-loop", ThreadKind.CARRIER, 10, 0),
                usage("request", ThreadKind.VIRTUAL, 36, 0)));
        assertThat(cpuMillis(counters)).isEqualTo(Map.of("carrier", 3L, "event-loop", 1L, "request", 36L));
    }

    @Test
    void shouldListTheBusiestOfTooManyPools() {
        PoolCounters counters = new PoolCounters(27); // 20 and "other" of each kind
        List<PoolUsage> all = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) all.add(usage("name " + (char) ('a' + i % 26) + i, i % 100 == 0 ? 0 : 1));
        all.add(usage("busy", 5));
        counters.add(all);
        assertThat(counters.pools()).hasSize(16);
        assertThat(cpuMillis(counters)).containsEntry("busy", 5L).containsEntry(PoolCounters.OTHER, 9_900L - 14);
    }

    @Test
    void shouldKeepRoomForPoolsThatAreBusyLater() {
        PoolCounters counters = new PoolCounters(27);
        List<PoolUsage> idle = new ArrayList<>();
        for (int i = 0; i < 100; i++) idle.add(usage("idle" + i, 0));
        counters.add(idle);
        assertThat(counters.pools()).hasSize(16);
        counters.add(List.of(usage("idle99", 2), usage("idle98", 200), usage("idle97", 100)));
        counters.add(List.of(usage("idle98", 100), usage("idle99", 9)));
        assertThat(cpuMillis(counters))
                .hasSize(18)
                .containsEntry("idle98", 300L)
                .containsEntry("idle97", 100L)
                .containsEntry(PoolCounters.OTHER, 11L);
        for (int i = 0; i < 50; i++) counters.add(List.of(usage("later" + i, 100)));
        assertThat(counters.pools()).hasSize(21);
        assertThat(cpuMillis(counters)).containsEntry(PoolCounters.OTHER, 11L + 47 * 100);
    }

    @Test
    void shouldRefuseALimitWithoutRoom() {
        assertThatThrownBy(() -> new PoolCounters(13)).hasMessage("limit of 13 pools is below the minimum of 14");
        assertThat(new PoolCounters(14).pools()).isEmpty();
    }

    @Provide
    Arbitrary<List<List<PoolUsage>>> readings() {
        Arbitrary<PoolUsage> usage = Combinators.combine(
                        Arbitraries.integers().between(0, 60),
                        Arbitraries.of(ThreadKind.class).filter(kind -> kind != ThreadKind.ACCOUNT),
                        Arbitraries.longs().between(0, 50 * MILLIS),
                        Arbitraries.longs().between(0, 50 * MILLIS),
                        Arbitraries.longs().between(-1, 5))
                .as((pool, kind, user, system, more) ->
                        new PoolUsage("p" + pool, kind, 1, user, system, more, more, more, more));
        return usage.list().ofMaxSize(80).list().ofMaxSize(10);
    }

    @Property(tries = 300)
    void shouldNeverDecreaseNorExceedTheLimitAndLoseNothing(@ForAll("readings") List<List<PoolUsage>> readings) {
        PoolCounters counters = new PoolCounters(30);
        long added = 0;
        long carriers = 0;
        long virtual = 0;
        Map<PoolKey, PoolUsage> last = new HashMap<>();
        for (List<PoolUsage> reading : readings) {
            counters.add(reading);
            for (PoolUsage usage : reading) {
                if (usage.kind() == ThreadKind.VIRTUAL) virtual += usage.cpuNanos();
                else if (usage.kind() == ThreadKind.CARRIER) carriers += usage.cpuNanos();
                else added += usage.cpuNanos();
            }
            Map<PoolKey, PoolUsage> now = new HashMap<>();
            for (PoolUsage pool : counters.pools()) now.put(pool.key(), pool);
            assertThat(now).hasSizeLessThanOrEqualTo(30);
            last.forEach((key, before) -> {
                PoolUsage pool = now.get(key);
                assertThat(pool.userNanos()).isGreaterThanOrEqualTo(before.userNanos());
                assertThat(pool.systemNanos()).isGreaterThanOrEqualTo(before.systemNanos());
                assertThat(pool.waitNanos()).isGreaterThanOrEqualTo(before.waitNanos());
                assertThat(pool.yields()).isGreaterThanOrEqualTo(before.yields());
            });
            last = now;
        }
        long total = 0;
        long carrierTotal = 0;
        long virtualTotal = 0;
        for (PoolUsage pool : counters.pools()) {
            if (pool.kind() == ThreadKind.VIRTUAL) virtualTotal += pool.cpuNanos();
            else if (pool.kind() == ThreadKind.CARRIER) carrierTotal += pool.cpuNanos();
            else total += pool.cpuNanos();
        }
        assertThat(total).isEqualTo(added);
        assertThat(virtualTotal).isEqualTo(virtual);
        assertThat(carrierTotal).isBetween(Math.max(0, carriers - virtual), carriers);
    }
}
