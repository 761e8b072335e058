// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.finding.FindingKind;
import org.taskclock.monitor.finding.FindingKinds;
import org.taskclock.monitor.sampling.Interval;
import org.taskclock.monitor.sampling.IntervalSource;
import org.taskclock.monitor.sampling.ThreadColumn;
import org.taskclock.monitor.usage.HeapUsage;
import org.taskclock.monitor.usage.ProcessUsage;
import org.taskclock.monitor.usage.ThreadUsage;

/** Screens rendered without a terminal. */
class ScreenRendererTest {
    private static final int WIDTH = 120;
    private static final int HEIGHT = 60;

    private final ViewState view = new ViewState();
    private final Interval interval = SyntheticJvm.interval(4711, 1);

    ScreenRendererTest() {
        view.accept(List.of(interval));
    }

    private List<String> draw(int width, int height) {
        return ScreenRenderer.draw(view, width, height).stream()
                .map(Object::toString)
                .toList();
    }

    private String screen() {
        return String.join("\n", draw(WIDTH, HEIGHT));
    }

    private void press(String... keys) {
        for (String key : keys) KeyBindings.handle(view, key, ScreenRenderer.pageHeight(view, HEIGHT));
    }

    /** Returns these names in the order in which the table shows them. */
    private List<String> order(String... names) {
        List<String> found = new ArrayList<>();
        for (String line : draw(WIDTH, HEIGHT)) {
            for (String name : names) if (line.stripTrailing().endsWith(" " + name)) found.add(name);
        }
        return found;
    }

    @Test
    void shouldShowTheFiguresOfTheInterval() {
        List<String> lines = draw(WIDTH, HEIGHT);
        for (ThreadUsage thread : interval.threads()) {
            if (thread.tid() == 0) continue;
            String line = lines.stream()
                    .filter(l -> l.strip().startsWith(thread.tid() + " "))
                    .findFirst()
                    .orElseThrow();
            String[] cells = line.strip().split(" +", -1);
            assertThat(cells[1]).isEqualTo(String.valueOf(thread.state()));
            assertThat(Double.parseDouble(cells[2])).isEqualTo(interval.percent(thread.cpuNanos()));
            assertThat(Double.parseDouble(cells[3])).isEqualTo(interval.percent(thread.userNanos()));
            assertThat(Double.parseDouble(cells[4])).isEqualTo(interval.percent(thread.systemNanos()));
            assertThat(Double.parseDouble(cells[7])).isEqualTo((double) thread.voluntary());
            assertThat(Double.parseDouble(cells[8])).isEqualTo((double) thread.involuntary());
        }
        assertThat(lines.get(1)).contains("205.0 %", "user 105.0", "system 100.0");
        assertThat(lines.get(2)).contains("210.0 %", "70.0 % of limit", "throttled 2.0 %");
        assertThat(lines.get(3)).containsPattern("300.0 %  user 220.0  system 80.0  of 400 +\\[\\|{35}#{13} ");
        assertThat(lines.get(HEIGHT - 1)).contains("taskclock 0.5 %");
    }

    /** Carriers use CPU time, and the agent can be loaded or not. */
    private void offerAgent(boolean canLoad, Interval... intervals) {
        view.accept(List.of(intervals));
        List<IntervalSource> sources = new ArrayList<>();
        for (Interval each : intervals)
            sources.add(new SyntheticJvm(each.pid()) {
                @Override
                public boolean canLoadAgent() {
                    return canLoad;
                }
            });
        view.agentOffer.accept(List.of(intervals), sources);
    }

    @Test
    void shouldOfferToLoadTheAgent() {
        String offer = "virtual threads run on 1 carrier; press A to load the agent, which shows them";
        offerAgent(false, interval);
        assertThat(screen()).doesNotContain("carrier;");
        press("A");
        assertThat(screen()).doesNotContain("y/n").contains("cannot be loaded");

        offerAgent(true, interval);
        List<String> lines = draw(WIDTH, HEIGHT);
        assertThat(lines.get(4).stripTrailing()).isEqualTo(offer);
        assertThat(lines.get(5)).startsWith("history");
        assertThat(lines.get(7)).startsWith("! yield-storm");
        assertThat(draw(WIDTH, 11)).noneMatch(line -> line.contains("carrier;"));
        press("A");
        assertThat(draw(80, HEIGHT).get(HEIGHT - 1))
                .startsWith("Load the agent into process 4711 (undo: taskclock detach 4711)? y/n");
        press("x");
        assertThat(draw(WIDTH, HEIGHT).get(HEIGHT - 1)).contains("The agent was not loaded");
        press("A");
        assertThat(KeyBindings.handle(view, "y", 1)).isEqualTo(KeyBindings.Action.LOAD_AGENT);
        assertThat(view.agentOffer.accepted(view)).isEqualTo(4711);
        assertThat(view.agentOffer.isAsking()).isFalse();
        view.agentOffer.loaded(view, 4711);
        assertThat(screen()).doesNotContain(offer).contains("to remove it, run taskclock detach 4711");
        press("F2");
        assertThat(screen()).contains("Note: the agent was loaded into process 4711 from here");

        // Of two JVMs, it is that of the selected row.
        press("q");
        offerAgent(true, interval, SyntheticJvm.interval(4712, 1));
        assertThat(screen()).contains("virtual threads run on 2 carriers");
        int other = 0;
        while (view.rows.get(other).thread().pid() != 4712) other++;
        view.moveTo(other);
        press("A");
        assertThat(screen()).contains("Load the agent into process 4712 ");
    }

    @Test
    void shouldShowWhyAThreadDoesNotRun() {
        List<String> lines = draw(220, HEIGHT);
        assertThat(lines).anySatisfy(line -> assertThat(line)
                .containsPattern(" 1\\.5M +\\d.* BLOCKED +90\\.0 worker-1 +java .* worker-3 *$"));
        assertThat(lines).anySatisfy(line -> assertThat(line).containsPattern(" - +- +- +java .* worker-2 *$"));
        assertThat(view.showsJavaStatus).isTrue();
        draw(80, HEIGHT);
        assertThat(view.showsJavaStatus).describedAs("no column for it").isFalse();
        press("t"); // by pool
        assertThat(draw(220, HEIGHT)).anySatisfy(line -> assertThat(line).contains(" BLOCKED ", "+ worker-# (3)"));
        press("t", "/", "w", "o", "r", "k", "e", "r", "-", "3", "Enter", "Enter");
        assertThat(screen())
                .contains(
                        "BLOCKED, waits to acquire org.example.Cache 0x7117f6b38, held by \"worker-1\", thread 101",
                        "waited for locks 90.0 % of the interval, otherwise waited or slept 5.0 %",
                        "allocated 1.5M per second");
    }

    @Test
    void shouldShowTheHeapAndVirtualThreads() {
        List<String> without = draw(WIDTH, HEIGHT);
        assertThat(without).noneMatch(line -> line.startsWith("heap"));
        ProcessUsage totals = interval.totals();
        view.accept(List.of(new Interval(
                interval.end(),
                interval.intervalNanos(),
                interval.pid(),
                interval.name(),
                interval.source(),
                interval.threads(),
                new ProcessUsage(
                        totals.processNanos(),
                        totals.processUserNanos(),
                        totals.containerNanos(),
                        totals.containerCores(),
                        totals.throttledNanos(),
                        totals.machineNanos(),
                        totals.processors(),
                        totals.ownNanos(),
                        totals.machineUserNanos(),
                        new HeapUsage(300 << 20, 512 << 20, 1L << 30, 3, 12_500_000),
                        new VirtualThreadCounts(12_000, 8, 300, 8)),
                interval.findings(),
                interval.notes())));
        List<String> lines = draw(WIDTH, HEIGHT);
        assertThat(lines.get(2).stripTrailing())
                .isEqualTo("heap      300.0M used, 512.0M committed, 1.0G max  3 GC pauses, 12.5 ms (1.3 %)");
        assertThat(lines.get(3).stripTrailing()).isEqualTo("virtual   12,000 live, 8 mounted, 300 queued");
        assertThat(lines.get(4)).startsWith("container");
        assertThat(lines.get(5)).startsWith("machine");
        assertThat(lines).anyMatch(line -> line.startsWith("! yield-storm"));
    }

    @Test
    void shouldShowSeveralJvms() {
        view.accept(List.of(interval, SyntheticJvm.interval(4712, 1)));
        List<String> lines = draw(WIDTH, HEIGHT);
        assertThat(lines.get(0)).contains("  1.0 s  2 JVMs");
        assertThat(lines.get(1)).startsWith("4711 org.example.Main").contains(" 205.0 %  system 100.0");
        assertThat(lines.get(2)).startsWith("4712 other.jar").contains(" 205.0 %  system 100.0");
        assertThat(lines.get(3)).startsWith("machine");
        for (int pid : new int[] {4711, 4712}) {
            assertThat(lines).anySatisfy(l -> assertThat(l).matches(" *" + pid + " .* worker-1 *"));
        }
    }

    @Test
    void shouldFitAnySizeAfterAnyKeys() {
        String[] keys = {
            "Up",
            "Down",
            "PageUp",
            "PageDown",
            "Home",
            "End",
            "t",
            "+",
            "-",
            "*",
            "I",
            "P",
            "T",
            "N",
            "M",
            "S",
            "V",
            "X",
            "R",
            "(",
            "<",
            ">",
            "F",
            "Space",
            "U",
            "i",
            "K",
            "F2",
            "F1",
            "F6",
            "q",
            "Enter",
            "Escape",
            "F4",
            "w",
            "o",
            "F3",
            "n",
            "Backspace",
            "p",
            "d",
            "9",
            "x"
        };
        Random random = new Random(7);
        for (int i = 0; i < 1500; i++) {
            press(keys[random.nextInt(keys.length)]);
            if (i % 50 == 0)
                view.accept(List.of(SyntheticJvm.interval(4711, i), SyntheticJvm.interval(4712, i))
                        .subList(0, 1 + i / 50 % 2));
            int width = 1 + random.nextInt(i % 2 == 0 ? 100 : 300);
            int height = 1 + random.nextInt(80);
            List<String> lines = draw(width, height);
            assertThat(lines).hasSize(height);
            assertThat(lines).allSatisfy(line -> {
                assertThat(CellFormat.width(line)).isLessThanOrEqualTo(width);
                assertThat(line).doesNotContain("\u001b", "\n", "\u202e");
            });
        }
    }

    @Test
    void shouldAlignColumnsWithWideCharacters() {
        press("Down", "Down", "Down", "Down"); // selects one of the two rows
        for (String name : List.of(SyntheticJvm.WIDE, "worker-1")) {
            String line = draw(WIDTH, HEIGHT).stream()
                    .filter(l -> l.stripTrailing().endsWith(" " + name))
                    .findFirst()
                    .orElseThrow();
            int at = CellFormat.width(line.substring(0, line.lastIndexOf(name)));
            assertThat(draw(WIDTH, HEIGHT)).anySatisfy(titles -> assertThat(at).isEqualTo(titles.indexOf("NAME")));
        }
    }

    @Test
    void shouldSort() {
        assertThat(order("worker-1", "worker-2", "worker-3")).containsExactly("worker-1", "worker-2", "worker-3");
        press("I");
        assertThat(order("worker-1", "worker-2", "worker-3")).containsExactly("worker-3", "worker-2", "worker-1");
        press("I", "V"); // voluntary
        assertThat(order("worker-1", "worker-2", "worker-3")).containsExactly("worker-3", "worker-2", "worker-1");
        press("S");
        assertThat(order("worker-1", "worker-2", "worker-3")).containsExactly("worker-1", "worker-3", "worker-2");
        press("N");
        assertThat(order("http-1", "worker-1", "http-2")).containsExactly("worker-1", "http-1", "http-2");
        press("F6", "Home", "End", "Enter"); // the last item is the name
        assertThat(view.sort).isEqualTo(ThreadColumn.NAME);
        assertThat(order("http-1", "worker-1", "GC Thread#0")).containsExactly("GC Thread#0", "http-1", "worker-1");
    }

    @Test
    void shouldSearchAndFilter() {
        press("/", "g", "c", "Space", "t", "Enter");
        assertThat(view.selected().thread().name()).isEqualTo("GC Thread#0");
        press("n");
        assertThat(view.selected().thread().name()).isEqualTo("GC Thread#0");
        press("/", "z", "z", "Enter");
        assertThat(screen()).contains("Not found: zz");
        press("F4", "W", "o", "r", "k", "e", "r", "-", "2", "|", "3", "0", "0", "Enter");
        assertThat(view.rows).extracting(row -> row.thread().tid()).containsExactly(102, 300);
        assertThat(screen()).contains("filter: Worker-2|300");
        press("F4", "Escape");
        assertThat(view.rows).hasSameSizeAs(interval.threads());
    }

    @Test
    void shouldShowPoolsWithTheSumsOfTheirThreads() {
        press("t");
        String pool = draw(WIDTH, HEIGHT).stream()
                .filter(l -> l.contains("+ worker-# (3)"))
                .findFirst()
                .orElseThrow();
        assertThat(pool.strip().split(" +", -1)).contains("R", "140.0", "51.0", "89.0", "0.3", "101.0", "9881");
        assertThat(order("worker-1")).isEmpty();
        press("Enter"); // expands the pool in the first row
        assertThat(order("worker-1", "worker-2", "worker-3")).containsExactly("worker-1", "worker-2", "worker-3");
        press("Down", "-"); // collapses the pool of the selected thread
        assertThat(order("worker-1")).isEmpty();
        // The carriers' time includes that of virtual threads and is counted once.
        TableModel.Row carriers = view.rows.stream()
                .filter(row -> row.thread().kind() == ThreadKind.CARRIER)
                .findFirst()
                .orElseThrow();
        assertThat(interval.percent(carriers.thread().cpuNanos())).isEqualTo(30);
        assertThat(carriers.members()).hasSize(2);
    }

    @Test
    void shouldFollowTheThreadAndKeepTags() {
        press("F", "Space", "F"); // tags worker-1 and follows worker-2
        assertThat(view.selected().thread().name()).isEqualTo("worker-2");
        press("I", "F1", "q");
        view.accept(List.of(SyntheticJvm.interval(4711, 2)));
        assertThat(view.selected().thread().name()).isEqualTo("worker-2");
        assertThat(screen()).contains("*worker-1").contains("1 tagged 98.0 %");
    }

    @Test
    void shouldShowTheMostSevereFinding() {
        assertThat(screen()).contains("! yield-storm: thread worker-1").contains("1 more");
        press("F2");
        assertThat(screen())
                .contains(
                        "9876 involuntary switches",
                        "java.lang.Thread.yield0 in 5 of 5 stacks",
                        "Threads keep calling Thread.yield: they use CPU time",
                        "! throttled: The container is throttled",
                        "The CPU limit of the container keeps its threads from running");
        assertThat(draw(40, 10).get(1)).startsWith("! yield-storm");
    }

    /** Returns the cells of the row with this name. */
    private List<String> cells(String name) {
        return draw(200, HEIGHT).stream()
                .filter(line -> line.stripTrailing().endsWith(" " + name))
                .map(line -> List.of(line.strip().split(" +", -1)))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldShowTimeSinceTheThreadStartedAndSinceWatchingBegan() {
        view.accept(List.of(SyntheticJvm.interval(4711, 9)));
        assertThat(draw(200, HEIGHT).get(7)).containsPattern(" TIME +\\+TIME ");
        assertThat(cells("worker-1")).contains("1:50", "9.8"); // 109.8 s
        press("T");
        assertThat(view.sort).isEqualTo(ThreadColumn.TIME);
        assertThat(order("worker-1", "worker-2")).containsExactly("worker-1", "worker-2");
        press(">");
        assertThat(view.sort).isEqualTo(ThreadColumn.WATCHED);
        assertThat(screen()).contains("Sorted by watched");
    }

    @Test
    void shouldCountEndedThreadsInTheTimeOfPools() {
        view.accept(List.of(SyntheticJvm.interval(4711, 9)));
        press("t");
        // Three live threads used 300 s before and 10 x 1.4 s since watching began, two ended threads 25 s and 5 s.
        assertThat(cells("+ worker-# (3)")).contains("5:44", "19.0");
        press("i");
        assertThat(cells("+ worker-# (3)")).contains("5:44", "19.0");
        press("i", "F4", "w", "o", "r", "k", "e", "r", "-", "2", "Enter");
        assertThat(cells("worker-2")).contains("1:44", "4.0"); // the filter matches only this thread
    }

    @Test
    void shouldShowAPoolWithOneLiveThreadAndEndedThreads() {
        Interval one = SyntheticJvm.interval(4711, 9);
        List<ThreadUsage> threads = one.threads().stream()
                .filter(thread -> !List.of("worker-2", "worker-3").contains(thread.name()))
                .toList();
        view.accept(List.of(new Interval(
                one.end(),
                one.intervalNanos(),
                one.pid(),
                one.name(),
                one.source(),
                threads,
                one.totals(),
                one.findings(),
                one.notes(),
                one.endedPools(),
                one.accounts())));
        press("t");
        assertThat(cells("+ worker-# (1)")).contains("2:20", "14.8");
    }

    @Test
    void shouldNotUseColorsWhenDisabled() {
        view.color = false;
        String plain = ansi();
        view.color = true;
        assertThat(ansi()).containsPattern("\u001b\\[[0-9;]*3[1-6]");
        assertThat(plain).doesNotContainPattern("\u001b\\[[0-9;]*3[0-9]").contains("\u001b[7m");
    }

    private String ansi() {
        StringBuilder out = new StringBuilder();
        ScreenRenderer.draw(view, WIDTH, HEIGHT).forEach(line -> out.append(line.toAnsi()));
        return out.toString();
    }

    @Test
    void shouldHideJvmThreads() {
        press("K");
        assertThat(order("GC Thread#0", "worker-1")).containsExactly("worker-1");
        press("K", "F4", "C", "2", "Enter");
        assertThat(screen()).contains("C2 CompilerThre~");
    }

    @Test
    void shouldShowUnknownValuesAsDashes() {
        assertThat(CellFormat.number(-1)).isEqualTo("-");
        assertThat(CellFormat.number(Double.NaN)).isEqualTo("-");
        String virtual = draw(WIDTH, HEIGHT).stream()
                .filter(l -> l.contains("query-#"))
                .findFirst()
                .orElseThrow();
        assertThat(virtual.strip().split(" +", -1)).startsWith("S", "20.0", "-", "-");
    }

    @Test
    void shouldFormatNumbersInFiveColumns() {
        assertThat(List.of(
                        CellFormat.number(0),
                        CellFormat.number(99.95),
                        CellFormat.number(999.94),
                        CellFormat.number(999.96),
                        CellFormat.number(99_999),
                        CellFormat.number(99_999.6),
                        CellFormat.number(12_345_678),
                        CellFormat.time(12.34),
                        CellFormat.time(245),
                        CellFormat.time(7445)))
                .containsExactly("0.0", "100.0", "999.9", "1000", "99999", "100k", "12M", "12.3", "4:05", "2:04:05");
    }

    @Test
    void shouldSelectAJvmThatIsListed() {
        List<IntervalSource.Jvm> jvms = new SyntheticJvm(4711).jvms();
        view.acceptJvms(jvms);
        view.scroll = 1;
        view.acceptJvms(List.of(jvms.get(1), jvms.get(0)));
        assertThat(view.scroll).isZero(); // the same JVM
        view.scroll = 1;
        view.acceptJvms(jvms.subList(1, 2));
        assertThat(view.scroll).isZero();
        view.acceptJvms(List.of());
        assertThat(view.scroll).isZero();
    }

    @Test
    void shouldExplainTheLettersOfAllFindings() {
        for (FindingKind kind : FindingKinds.ALL) {
            if (!kind.isOfOneJvm()) continue;
            view.intervals = List.of();
            view.reset();
            view.accept(List.of(HistoryTest.interval(1, Map.of(1, 10), kind.id())));
            String letter = kind.id().substring(0, 1).toUpperCase(Locale.ROOT);
            assertThat(draw(WIDTH, HEIGHT)).anyMatch(line -> line.matches("[0-9:]{8} +" + letter + " .*"));
            assertThat(HelpPage.TEXT.replaceAll("\\s+", " ")).containsPattern(" " + letter + " ([\\w-]+ or )*" + kind);
        }
    }

    @Test
    void shouldShowTheStacksAndFiguresOfTheSameThread() {
        Interval other = SyntheticJvm.interval(4712, 1);
        ProcessUsage totals = new ProcessUsage(SyntheticJvm.SECOND, -1, -1, 0, -1, -1, 4, 1);
        view.accept(List.of(
                interval,
                new Interval(
                        other.end(),
                        2 * SyntheticJvm.SECOND,
                        other.pid(),
                        other.name(),
                        "proc",
                        other.threads(),
                        totals,
                        List.of(),
                        List.of())));
        assertThat(screen()).containsPattern("4712 other.jar +50.0 %  system - ");
        press("F4", "w", "o", "r", "k", "e", "r", "-", "1", "Enter", "Down", "Enter");
        assertThat(view.stackThread.pid()).isEqualTo(4712);
        ThreadUsage thread = view.stackThread;
        view.showStacks(view.rows.get(0).thread(), "of another thread");
        assertThat(screen()).doesNotContain("of another thread");
        view.showStacks(thread, "of this thread");
        assertThat(screen()).contains("of this thread", "worker-1, thread 101: 49.0 % in the last interval");
        view.accept(List.of(interval)); // the process has ended
        assertThat(screen()).contains("worker-1, thread 101: - % in the last interval");
    }
}
