// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.finding.Finding;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.monitor.recording.IntervalSummary;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** The history of threads and of the process, without a terminal. */
@Tag("slow17")
class HistoryTest {
    private static final long SECOND = 1_000_000_000;
    private static final int HEIGHT = 40;

    private final ViewState view = new ViewState();
    private int number;

    /** Returns an interval in which threads, by id, use the given percentages; all are in one pool. */
    static Interval interval(int number, Map<Integer, Integer> percents, String... findings) {
        List<ThreadUsage> threads = new ArrayList<>();
        long sum = 0;
        for (Map.Entry<Integer, Integer> entry : percents.entrySet()) {
            long nanos = entry.getValue() * SECOND / 100;
            sum += nanos;
            int tid = entry.getKey();
            String name = "worker-" + tid;
            ThreadKind kind = ThreadKind.JAVA;
            threads.add(ThreadUsage.of(1, tid, name, kind)
                    .javaId(tid)
                    .pool("worker-#")
                    .cpu(nanos, nanos)
                    .waited(0)
                    .switches(0, 0)
                    .state('R')
                    .build());
        }
        threads.sort((a, b) -> Long.compare(b.cpuNanos(), a.cpuNanos()));
        List<Finding> found = new ArrayList<>();
        for (String kind : findings)
            found.add(new Finding(FindingKinds.of(kind), 7, kind + " was found", List.of("evidence")));
        return new Interval(
                Instant.parse("2026-11-21T10:00:00Z").plusSeconds(number + 1),
                SECOND,
                1,
                "Main",
                "proc",
                threads,
                new ProcessUsage(sum, sum, -1, 0, -1, sum, 2, 0),
                found,
                List.of());
    }

    private void accept(Map<Integer, Integer> percents, String... findings) {
        view.accept(List.of(interval(number++, percents, findings)));
    }

    private TableModel.Row row(String key) {
        return view.rows.stream()
                .filter(row -> row.key().equals(key) || row.thread().name().equals(key))
                .findFirst()
                .orElseThrow();
    }

    private List<String> screen(int width) {
        return ScreenRenderer.draw(view, width, HEIGHT).stream()
                .map(Object::toString)
                .toList();
    }

    private String line(String start, int width) {
        return screen(width).stream()
                .filter(line -> line.startsWith(start))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldKeepTheLastIntervalsOfEachThread() {
        for (int i = 0; i < 100; i++) accept(Map.of(1, i % 7 == 0 ? 0 : i, 2, i == 50 ? 30 : 0));
        double[] first = view.history.percents(row("worker-1"), History.INTERVALS);
        double[] second = view.history.percents(row("worker-2"), History.INTERVALS);
        for (int i = 0; i < History.INTERVALS; i++) {
            int interval = 100 - History.INTERVALS + i;
            assertThat(first[i]).as("interval " + interval).isEqualTo(interval % 7 == 0 ? 0 : interval);
            assertThat(second[i]).isEqualTo(interval == 50 ? 30 : 0);
        }
        for (int i = 0; i < 20; i++) accept(Map.of(1, 5, 2, 0));
        assertThat(view.history.percents(row("worker-2"), History.INTERVALS)).containsOnly(0);
    }

    @Test
    void shouldShowThePastBeforeTheFirstIntervalAsUnknown() {
        for (int i = 0; i < 3; i++) accept(Map.of(1, 50));
        assertThat(view.history.percents(row("worker-1"), 5)).containsExactly(Double.NaN, Double.NaN, 50, 50, 50);
    }

    @Test
    void shouldAddUpThePool() {
        for (int i = 0; i < 10; i++) accept(Map.of(1, 10, 2, i, 3, 0));
        KeyBindings.handle(view, "t", HEIGHT);
        assertThat(view.rows).hasSize(1);
        assertThat(view.history.percents(view.rows.get(0), 3)).containsExactly(17, 18, 19);
        assertThat(view.history.rise(view.rows.get(0))).isCloseTo(19 - 14, within(1e-4));
    }

    @Test
    void shouldFindWhatSpiked() {
        for (int i = 0; i < 20; i++) accept(Map.of(1, 90, 2, 10 + i % 3, 3, 40));
        accept(Map.of(1, 91, 2, 60, 3, 12, 4, 25)); // worker-4 has just started
        KeyBindings.handle(view, "R", HEIGHT);
        assertThat(view.rows).extracting(row -> row.thread().tid()).containsExactly(2, 4, 1, 3);
        assertThat(view.selected).isZero();
        assertThat(view.rows).extracting(view.history::rise).containsExactly(49.0, 25.0, 1.0, -28.0);
        List<String> screen = screen(80);
        assertThat(screen).anySatisfy(line -> assertThat(line).contains(" RISE\u25bc", " RECENT "));
        for (String cells : List.of("+49.0 worker-2", "+25.0 worker-4", "+1.0 worker-1", "-28.0 worker-3"))
            assertThat(screen).anySatisfy(line -> assertThat(line.strip()).endsWith(cells));
        KeyBindings.handle(view, "P", HEIGHT);
        assertThat(String.join("\n", screen(80))).doesNotContain(" RISE").contains(" RECENT ");
    }

    @Test
    void shouldNotGuessARiseAtTheStart() {
        for (int i = 0; i < 3; i++) accept(Map.of(1, i * 40));
        assertThat(view.history.rise(row("worker-1"))).isNaN();
        accept(Map.of(1, 80));
        assertThat(view.history.rise(row("worker-1"))).isEqualTo(80 - 40);
    }

    @Test
    void shouldBoundTheMemory() {
        Map<Integer, Integer> idle = new TreeMap<>();
        for (int tid = 1; tid <= 20_000; tid++) idle.put(tid, 0);
        accept(idle);
        assertThat(view.history.trackedThreads()).isZero();

        Map<Integer, Integer> busy = new TreeMap<>();
        for (int tid = 1; tid <= 20_000; tid++) busy.put(tid, 1 + tid / 201);
        for (int i = 0; i < 3; i++) accept(busy);
        assertThat(view.history.trackedThreads()).isEqualTo(History.MAX_THREADS);
        // The busiest are kept.
        assertThat(view.history.percents(row("worker-20000"), 3)).containsExactly(100, 100, 100);
        assertThat(view.history.percents(row("worker-1"), 3)).containsExactly(0, 0, 0);

        // Others take their place once they are idle.
        accept(Map.of(30_000, 50));
        assertThat(view.history.trackedThreads()).isEqualTo(1);
        assertThat(view.history.percents(row("worker-30000"), 2)).containsExactly(0, 50);

        // Threads that start and end all the time are forgotten.
        for (int i = 0; i < 200; i++) accept(Map.of(40_000 + i, 10));
        assertThat(view.history.trackedThreads()).isEqualTo(History.INTERVALS);
        for (int i = 0; i < History.MAX_SUMMARIES; i++) accept(Map.of(1, 1));
        assertThat(view.history.summaries()).hasSize(History.MAX_SUMMARIES);
    }

    @Test
    void shouldScaleSparklines() {
        assertThat(Sparkline.of(new double[] {Double.NaN, 0, 0.01, 50, 100}, true))
                .isEqualTo("  \u2581\u2584\u2588");
        assertThat(Sparkline.of(new double[] {Double.NaN, 0, 0.01, 50, 100}, false))
                .isEqualTo("  .=@");
        // Noise below 10 % of a core is not scaled up.
        assertThat(Sparkline.of(new double[] {1, 5}, true)).isEqualTo("\u2581\u2584");
        // Groups of threads use more than one core.
        assertThat(Sparkline.of(new double[] {400, 800}, true)).isEqualTo("\u2584\u2588");
    }

    @Test
    void shouldDrawTheRecentCpuOfEachThread() {
        for (int percent : new int[] {0, 25, 50, 75, 100, 0, 100}) accept(Map.of(1, percent, 2, 10));
        String line = screen(80).stream()
                .filter(l -> l.contains("worker-1"))
                .findFirst()
                .orElseThrow();
        assertThat(line).contains("\u2582\u2584\u2586\u2588 \u2588 worker-1");
        view.unicode = false;
        assertThat(String.join("\n", screen(200))).contains(" :=*@ @ ").matches("(?s)[\\n -~]*");
    }

    @Test
    void shouldDrawTheProcessAndMarkItsFindings() {
        accept(Map.of(1, 100));
        accept(Map.of(1, 50), "gc");
        accept(Map.of(1, 200), "gc", "yield-storm");
        accept(Map.of(1, 0));
        assertThat(line("history", 80))
                .startsWith("history   \u2584\u2582\u2588 ")
                .endsWith("  max 200.0 %");
        String marks = screen(80).get(screen(80).indexOf(line("history", 80)) + 1);
        assertThat(marks.substring(10)).startsWith(" GY ");
        // A column holds several intervals if they do not fit.
        for (int i = 0; i < 1_000; i++) accept(Map.of(1, 100), i == 500 ? new String[] {"jit"} : new String[0]);
        marks = screen(80).get(screen(80).indexOf(line("history", 80)) + 1);
        assertThat(marks).containsOnlyOnce("J").containsOnlyOnce("Y");
        assertThat(CellFormat.width(marks)).isLessThanOrEqualTo(80);
        view.color = true;
        StringBuilder ansi = new StringBuilder();
        ScreenRenderer.draw(view, 80, HEIGHT).forEach(l -> ansi.append(l.toAnsi()));
        assertThat(ansi).containsPattern("\u001b\\[36[0-9;]*mJ").containsPattern("\u001b\\[31[0-9;]*mY");
    }

    @Test
    void shouldLeaveSmallScreensToTheThreads() {
        accept(Map.of(1, 100));
        assertThat(ScreenRenderer.draw(view, 80, 19))
                .noneMatch(line -> line.toString().startsWith("history"));
        assertThat(ScreenRenderer.draw(view, 80, 20))
                .anyMatch(line -> line.toString().startsWith("history"));
        KeyBindings.handle(view, "F1", HEIGHT);
        assertThat(screen(80)).noneMatch(line -> line.startsWith("history   "));
    }

    @Test
    void shouldNotCountVirtualThreadsTwice() {
        for (int i = 0; i < 4; i++) view.accept(List.of(SyntheticJvm.interval(4711, i)));
        KeyBindings.handle(view, "t", HEIGHT);
        // The virtual threads use 20 % on the carrier, which uses 30 %.
        assertThat(view.history.percents(row("ForkJoinPool-#-worker-#"), 2)).containsExactly(30, 30);
    }

    @Test
    void shouldMarkWhereAFindingBegins() {
        accept(Map.of(1, 10));
        accept(Map.of(1, 10), "gc");
        accept(Map.of(1, 10), "gc");
        accept(Map.of(1, 10), "gc", "jit");
        accept(Map.of(1, 10), "jit");
        accept(Map.of(1, 10));
        accept(Map.of(1, 10), "gc");
        assertThat(view.history.summaries())
                .extracting(IntervalSummary::begins)
                .containsExactly(false, true, false, true, false, false, true);
    }

    @Test
    void shouldDrawTheMaximumOfSeveralIntervals() {
        int columns = 80 - 23; // without the labels
        for (int i = 0; i < columns; i++) accept(Map.of(1, i % 2 == 0 ? 90 : 10));
        assertThat(line("history", 80)).contains("\u2588\u2581".repeat(columns / 2) + "\u2588  max 90.0 %");
        accept(Map.of(1, 10));
        assertThat(line("history", 80)).containsPattern("   \u2588{29} {28}  max 90.0 %");
    }
}
