// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.Comparison.Change;
import org.taskclock.monitor.recording.Comparison.Kind;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

class ComparisonTest {
    private final Random random = new Random(11);

    private interface Load {
        /** Returns the CPU use of a pool in the next interval, in processors. */
        double of(String pool);
    }

    private static final List<String> POOLS = List.of("steady", "noisy", "rising", "constant");

    private static List<Interval> withAccount(List<Interval> intervals, double cpu) {
        ThreadUsage account = ThreadUsage.ofGroup(1, new PoolKey("tenant=acme", ThreadKind.ACCOUNT), 0)
                .cpu((long) (cpu * 1e9), 0)
                .build();
        return intervals.stream()
                .map(interval -> new Interval(
                        interval.end(),
                        interval.intervalNanos(),
                        interval.pid(),
                        interval.name(),
                        "agent",
                        interval.threads(),
                        interval.totals(),
                        interval.findings(),
                        interval.notes(),
                        interval.endedPools(),
                        List.of(account)))
                .toList();
    }

    @Test
    void shouldCompareAccountsThatBothRecordingsHave() {
        List<Interval> without = recording(30, pool -> 0.1);
        Comparison comparison = new Comparison(withAccount(without, 0.2), withAccount(without, 0.5), 0.005);
        assertThat(changed(comparison, Kind.ACCOUNT)).containsExactly("tenant=acme");
        Change account = comparison.changes().get(comparison.changes().size() - 1);
        assertThat(account.key().kind()).isEqualTo(Kind.ACCOUNT);
        assertThat(account.difference()).isEqualTo(0.3, Offset.offset(1e-6));
        for (Comparison one : List.of(
                new Comparison(withAccount(without, 0.2), without, 0.005),
                new Comparison(without, withAccount(without, 0.2), 0.005)))
            assertThat(one.changes())
                    .isNotEmpty()
                    .noneMatch(change -> change.key().kind() == Kind.ACCOUNT);
    }

    private List<Interval> recording(int seconds, Load load) {
        List<Interval> intervals = new ArrayList<>();
        for (int i = 0; i < seconds; i++) {
            List<ThreadUsage> threads = new ArrayList<>();
            double sum = 0;
            int tid = 0;
            for (String pool : POOLS)
                for (int k = 1; k <= 2; k++) {
                    double cpu = Math.max(0, load.of(pool)) / 2;
                    sum += cpu;
                    threads.add(thread(++tid, pool + "-" + k, pool + "-#", (long) (cpu * 1e9)));
                }
            ProcessUsage totals = new ProcessUsage((long) (sum * 1e9), 0, -1, 0, -1, 0, 4, 0);
            intervals.add(new Interval(
                    Instant.ofEpochSecond(i), 1_000_000_000, 1, "Main", "proc", threads, totals, List.of(), List.of()));
        }
        return intervals;
    }

    private static ThreadUsage thread(int tid, String name, String pool, long cpu) {
        return ThreadUsage.of(1, tid, name, ThreadKind.JAVA)
                .javaId(tid)
                .pool(pool)
                .cpu(cpu, cpu / 2)
                .waited(0)
                .switches(0, 0)
                .state('R')
                .build();
    }

    private double load(String pool, double rising) {
        return switch (pool) {
            case "steady" -> 0.3 + 0.02 * random.nextGaussian();
            case "noisy" -> 0.3 * random.nextDouble() * 4;
            case "rising" -> rising + 0.05 * random.nextGaussian();
            default -> 0.1;
        };
    }

    private static List<String> changed(Comparison comparison, Kind kind) {
        return comparison.changes().stream()
                .filter(change -> change.changed() && change.key().kind() == kind)
                .map(change -> change.key().name())
                .toList();
    }

    @Test
    void shouldFindChangeButNotVariation() {
        Comparison comparison =
                new Comparison(recording(60, pool -> load(pool, 0.2)), recording(90, pool -> load(pool, 0.5)), 0.005);
        assertThat(changed(comparison, Kind.POOL)).containsExactly("rising-#");
        assertThat(changed(comparison, Kind.THREAD)).containsExactlyInAnyOrder("rising-1", "rising-2");
        Change rising = comparison.changes().stream()
                .filter(change -> change.key().name().equals("rising-#"))
                .findFirst()
                .orElseThrow();
        // The margin is ten standard errors, at 60 seconds and a standard deviation of 0.05.
        assertThat(rising.difference()).isBetween(0.23, 0.37);
        assertThat(rising.error()).isBetween(0.005, 0.1);
        assertThat(rising.userAfter()).isBetween(0.2, 0.3);
    }

    /** At 1 in 1,000 for each of 13 lines, 50 comparisons of equal loads have 0.65 false positives on average. */
    @Test
    void shouldFindNoChangeInEqualLoads() {
        long falsePositives = 0;
        for (int i = 0; i < 50; i++) {
            Comparison comparison = new Comparison(
                    recording(40, pool -> load(pool, 0.2)), recording(40, pool -> load(pool, 0.2)), 0.005);
            falsePositives +=
                    comparison.changes().stream().filter(Change::changed).count();
        }
        assertThat(falsePositives).isLessThanOrEqualTo(4);
    }

    @Test
    void shouldNotReportChangesInShortRecordings() {
        Comparison comparison =
                new Comparison(recording(1, pool -> load(pool, 0.2)), recording(60, pool -> load(pool, 0.9)), 0.005);
        assertThat(comparison.changes()).noneMatch(Change::changed).noneMatch(Change::isErrorKnown);
    }

    @Test
    void shouldIgnoreDifferencesBelowThreshold() {
        Load before = pool -> pool.equals("constant") ? 0.1 : 0.3;
        Load after = pool -> pool.equals("constant") ? 0.104 : 0.3;
        assertThat(changed(new Comparison(recording(30, before), recording(30, after), 0.005), Kind.POOL))
                .isEmpty();
        assertThat(changed(new Comparison(recording(30, before), recording(30, after), 0.001), Kind.POOL))
                .containsExactly("constant-#");
    }
}
