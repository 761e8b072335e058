// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;

class ProfileRowsTest {
    private static final long SECOND = 1_000_000_000;

    private static HistoryProfile.Stack stack(String pool, long weight, String... frames) {
        return new HistoryProfile.Stack(pool, false, List.of(frames), 1, weight);
    }

    private static HistoryProfile.Stack virtual(String group, long weight, String... frames) {
        return new HistoryProfile.Stack(group, true, List.of(frames), 1, weight);
    }

    private static ProfileRows.Pool pool(int series, String name, ThreadKind kind, long user, long system) {
        return new ProfileRows.Pool(series, name, kind, user, system);
    }

    private static long cpu(List<ProfileRows.Row> rows, int series) {
        return rows.stream()
                .filter(row -> row.series() == series)
                .mapToLong(ProfileRows.Row::cpuNanos)
                .sum();
    }

    private static long cpu(List<ProfileRows.Row> rows, int series, String... frames) {
        return rows.stream()
                .filter(row -> row.series() == series && row.frames().equals(List.of(frames)))
                .mapToLong(ProfileRows.Row::cpuNanos)
                .sum();
    }

    @Test
    void shouldDivideTheTimeOfEachPoolToTheNanosecond() {
        Random random = new Random(7);
        List<HistoryProfile.Stack> stacks = new ArrayList<>();
        for (int i = 0; i < 5_000; i++)
            stacks.add(stack("pool-" + random.nextInt(3), 1 + random.nextInt(50_000_000), "a", "b" + i % 900));
        List<ProfileRows.Pool> pools = List.of(
                pool(1, "pool-0", ThreadKind.JAVA, 31 * SECOND + 7, SECOND / 3),
                pool(2, "pool-1", ThreadKind.JAVA, 1, 0),
                pool(3, "pool-2", ThreadKind.JAVA, 6_000 * SECOND + 1, 0));
        List<ProfileRows.Row> rows = ProfileRows.of(stacks, pools);
        for (ProfileRows.Pool pool : pools) assertThat(cpu(rows, pool.series())).isEqualTo(pool.cpuNanos());
        assertThat(rows).hasSizeLessThanOrEqualTo(ProfileRows.MAX_ROWS + ProfileRows.MAX_METHODS + pools.size());
        assertThat(rows.stream().filter(row -> row.series() == 1))
                .hasSizeLessThanOrEqualTo(ProfileRows.MAX_ROWS_OF_POOL + ProfileRows.MAX_METHODS + 1);
        assertThat(cpu(rows, 1, HistoryProfile.OTHER)).as("the rest").isPositive();
        assertThat(rows.stream().mapToLong(ProfileRows.Row::samples).sum()).isEqualTo(5_000);
    }

    @Test
    void shouldKeepTheStacksWithTheMostTime() {
        List<HistoryProfile.Stack> stacks = new ArrayList<>();
        for (int i = 1; i <= 2 * ProfileRows.MAX_ROWS_OF_POOL; i++) stacks.add(stack("a", i, "run", "method " + i));
        List<ProfileRows.Row> rows = ProfileRows.of(stacks, List.of(pool(1, "a", ThreadKind.JAVA, 60 * SECOND, 0)));
        String last = "method " + (ProfileRows.MAX_ROWS_OF_POOL + 1);
        assertThat(cpu(rows, 1, "run", last)).isPositive();
        String next = "method " + ProfileRows.MAX_ROWS_OF_POOL;
        assertThat(cpu(rows, 1, "run", next)).isZero();
        assertThat(cpu(rows, 1, HistoryProfile.OTHER, next))
                .as("without its callers")
                .isPositive();
        assertThat(cpu(rows, 1, HistoryProfile.OTHER, "method 1")).isZero();
        assertThat(cpu(rows, 1, HistoryProfile.OTHER)).isPositive();
    }

    @Test
    void shouldDivideUserAndSystemTimeSeparatelyIfTheKernelWasSampled() {
        List<HistoryProfile.Stack> stacks =
                List.of(stack("a", 1, "main"), stack("a", 3, "main", "read_[k]"), stack("a", 1, "main", "write_[k]"));
        List<ProfileRows.Row> rows =
                ProfileRows.of(stacks, List.of(pool(1, "a", ThreadKind.JAVA, 8 * SECOND, 4 * SECOND)));
        assertThat(cpu(rows, 1, "main")).isEqualTo(8 * SECOND);
        assertThat(cpu(rows, 1, "main", "read_[k]")).isCloseTo(3 * SECOND, within(1L));
        assertThat(cpu(rows, 1)).isEqualTo(12 * SECOND);
    }

    @Test
    void shouldShowWhatWasNotSampled() {
        List<ProfileRows.Row> rows = ProfileRows.of(
                List.of(stack("a", 1, "main"), stack("unknown", 1, "lost")),
                List.of(
                        pool(1, "a", ThreadKind.JAVA, SECOND, 0),
                        pool(2, "GC Thread##", ThreadKind.GC, SECOND, SECOND),
                        pool(3, "idle", ThreadKind.JAVA, RollUp.SPARSE_NANOS - 1, 0)));
        assertThat(cpu(rows, 2, HistoryProfile.NOT_SAMPLED)).isEqualTo(2 * SECOND);
        assertThat(rows).as("pools that are almost idle have no rows").hasSize(2);
    }

    @Test
    void shouldAssignVirtualThreadsToTheirGroupOrElseToTheirCarriers() {
        List<HistoryProfile.Stack> stacks = List.of(virtual("request-#", 1, "a"), stack("carriers", 1, "b"));
        ProfileRows.Pool carriers = pool(1, "carriers", ThreadKind.CARRIER, 2 * SECOND, 0);
        List<ProfileRows.Row> withAgent =
                ProfileRows.of(stacks, List.of(carriers, pool(2, "request-#", ThreadKind.VIRTUAL, SECOND, 0)));
        assertThat(cpu(withAgent, 2, "a")).isEqualTo(SECOND);
        assertThat(cpu(withAgent, 1, "b")).isEqualTo(2 * SECOND);
        List<ProfileRows.Row> without = ProfileRows.of(stacks, List.of(carriers));
        assertThat(cpu(without, 1, "a")).isEqualTo(SECOND);
        assertThat(cpu(without, 1, "b")).isEqualTo(SECOND);
    }
}
