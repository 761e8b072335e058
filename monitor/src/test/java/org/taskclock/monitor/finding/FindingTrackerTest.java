// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.JvmUsage.FindingStatus;

/** When a finding counts, since when, and when it has ended. */
final class FindingTrackerTest {
    private static final Instant START = Instant.parse("2026-11-21T10:00:00Z");

    private static final Instant LATER = START.plusSeconds(1_000);

    private final FindingTracker tracker = new FindingTracker();
    private int second;

    private static Finding finding(FindingKind kind, String text) {
        return new Finding(kind, 0, text, List.of());
    }

    private static Finding storm(String thread) {
        return finding(new YieldStorm(), "\"" + thread + "\" calls Thread.yield");
    }

    /** Adds an interval of one second, and returns the findings that count from now on. */
    private List<DatedFinding> add(Finding... findings) {
        return tracker.add(List.of(findings), START.plusSeconds(second++));
    }

    private List<Instant> since() {
        return tracker.current().stream().map(DatedFinding::since).toList();
    }

    @Test
    void shouldCountFromTheThirdIntervalAndSinceTheFirst() {
        add();
        assertThat(add(storm("a"))).isEmpty();
        assertThat(add(storm("a"))).isEmpty();
        assertThat(tracker.current()).isEmpty();
        assertThat(tracker.since(storm("a"), LATER)).isEqualTo(START.plusSeconds(1));
        List<DatedFinding> confirmed = add(storm("a"));
        assertThat(confirmed).containsExactly(new DatedFinding(storm("a"), START.plusSeconds(1)));
        assertThat(tracker.current()).isEqualTo(confirmed);
        // It is marked once, however long it lasts.
        for (int i = 0; i < 100; i++) assertThat(add(storm("a"))).isEmpty();
        assertThat(since()).containsExactly(START.plusSeconds(1));
    }

    @Test
    void shouldListEachKindThatWasEverReported() {
        add(storm("a"));
        assertThat(tracker.kinds()).isEmpty();
        add(storm("a"));
        add(storm("a"), storm("b"));
        for (int i = 0; i < 2; i++) add(storm("b"));
        assertThat(tracker.kinds()).containsExactly(new FindingStatus("yield-storm", true, START.toEpochMilli()));
        for (int i = 0; i < 200; i++) add();
        assertThat(tracker.kinds()).containsExactly(new FindingStatus("yield-storm", false, START.toEpochMilli()));
        for (int i = 0; i < 3; i++) add(storm("c"));
        assertThat(tracker.kinds())
                .containsExactly(new FindingStatus(
                        "yield-storm", true, START.plusSeconds(205).toEpochMilli()));
    }

    @Test
    void shouldKeepTheBeginningOverShortGaps() {
        for (int i = 0; i < 3; i++) add(storm("a"));
        for (int i = 0; i < 5; i++) {
            add();
            assertThat(since()).containsExactly(START);
        }
        add(storm("a"));
        assertThat(since()).containsExactly(START);
        for (int i = 0; i < 5; i++) add();
        assertThat(tracker.current()).hasSize(1);
        add();
        assertThat(tracker.current()).isEmpty();
    }

    /** On a full machine, a problem is not recognized all the time. */
    @Test
    void shouldKeepALastingProblemForLonger() {
        for (int i = 0; i < 30; i++) add(storm("a"));
        for (int i = 0; i < 15; i++) add();
        assertThat(since()).containsExactly(START);
        add();
        assertThat(since()).isEmpty();
    }

    @Test
    void shouldGiveTheBeginningOfAProblemThatIsNotTrackedYet() {
        for (int i = 0; i < 3; i++) add(storm("a"));
        Finding heavy = finding(new SystemHeavy(), "\"a\" spends most of its time in the kernel");
        assertThat(tracker.since(heavy, LATER)).isEqualTo(START);
    }

    @Test
    void shouldKeepTheBeginningIfItReturns() {
        for (int i = 0; i < 3; i++) add(storm("a"));
        for (int gap : new int[] {6, 60}) {
            for (int i = 0; i < gap; i++) add();
            assertThat(tracker.current()).isEmpty();
            assertThat(add(storm("a"))).isEmpty();
            add(storm("a"));
            assertThat(tracker.current()).isEmpty();
            // It has been marked.
            assertThat(add(storm("a"))).isEmpty();
            assertThat(since()).containsExactly(START);
        }
        // The same problem as far as the threads' figures show.
        for (int i = 0; i < 10; i++) add();
        Finding heavy = finding(new SystemHeavy(), "\"a\" spends most of its time in the kernel");
        for (int i = 0; i < 3; i++) add(heavy);
        assertThat(since()).containsExactly(START);
    }

    @Test
    void shouldMarkAgainAfterAMinute() {
        for (int i = 0; i < 3; i++) add(storm("a"));
        for (int i = 0; i < 61; i++) add();
        assertThat(tracker.since(storm("a"), LATER)).isEqualTo(LATER);
        Instant again = START.plusSeconds(second);
        List<DatedFinding> confirmed = new ArrayList<>();
        for (int i = 0; i < 3; i++) confirmed.addAll(add(storm("a")));
        assertThat(confirmed).containsExactly(new DatedFinding(storm("a"), again));
        assertThat(since()).containsExactly(again);
    }

    @Test
    void shouldForgetWhatWasFoundByChance() {
        add(storm("a"));
        add();
        add(storm("a")); // one missing interval is no end
        assertThat(tracker.since(storm("a"), LATER)).isEqualTo(START);
        add();
        add();
        assertThat(tracker.since(storm("a"), LATER)).isEqualTo(LATER);
        add(storm("a"));
        add(storm("a"));
        assertThat(tracker.current()).isEmpty();
    }

    @Test
    void shouldTellThreadsApartButNotFigures() {
        for (int i = 0; i < 3; i++)
            add(
                    finding(new YieldStorm(), "\"a\" called Thread.yield " + i + " times"),
                    finding(new YieldStorm(), "\"b\" called Thread.yield " + i + " times"),
                    finding(new GarbageCollection(), "garbage collection uses " + i + " %"));
        assertThat(tracker.current())
                .extracting(finding -> finding.finding().text())
                .containsExactly(
                        "\"a\" called Thread.yield 2 times",
                        "\"b\" called Thread.yield 2 times",
                        "garbage collection uses 2 %");
    }

    @Test
    void shouldAllowCompilationForAMinuteAfterTheStart() {
        Finding compilation = finding(new Compilation(), "compilation uses 50 %");
        for (int i = 0; i < 59; i++) assertThat(add(compilation)).isEmpty();
        assertThat(tracker.current()).isEmpty();
        assertThat(add(compilation)).hasSize(1);
        assertThat(since()).containsExactly(START);
    }

    @Test
    void shouldDateFindingsThatTakeTime() {
        Finding churn = new Finding(new ThreadChurn(), 0, "20 threads start", List.of())
                .lasting(10_000_000_000L, 1_000_000_000);
        FindingTracker all = new FindingTracker();
        Instant start = Instant.ofEpochSecond(100);
        assertThat(all.add(List.of(churn), start)).containsExactly(new DatedFinding(churn, start.minusSeconds(9)));
        assertThat(all.add(List.of(churn), start.plusSeconds(1)))
                .as("it does not begin again")
                .isEmpty();
        assertThat(all.current()).extracting(DatedFinding::since).containsExactly(start.minusSeconds(9));
    }
}
