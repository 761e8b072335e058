// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.taskclock.watch.Frame;
import org.taskclock.watch.Row;

/** What is drawn, without a terminal. */
class LayoutTest {
    private static final int WIDTH = 120;
    private static final int HEIGHT = 60;

    private final View view = new View();
    private final Frame frame = MadeUp.frame(4711, 1);

    LayoutTest() {
        view.accept(List.of(frame));
    }

    private List<String> draw(int width, int height) {
        return Layout.draw(view, width, height).stream().map(Object::toString).toList();
    }

    private String screen() {
        return String.join("\n", draw(WIDTH, HEIGHT));
    }

    private void press(String... keys) {
        for (String key : keys) Keys.press(view, key, Layout.page(view, HEIGHT));
    }

    /** The lines of the table that name these, in their order. */
    private List<String> order(String... names) {
        List<String> found = new ArrayList<>();
        for (String line : draw(WIDTH, HEIGHT)) {
            for (String name : names) if (line.stripTrailing().endsWith(" " + name)) found.add(name);
        }
        return found;
    }

    @Test
    void shouldShowTheFiguresOfTheFrame() {
        List<String> lines = draw(WIDTH, HEIGHT);
        for (Row row : frame.rows()) {
            if (row.tid() == 0) continue;
            String line = lines.stream()
                    .filter(l -> l.strip().startsWith(row.tid() + " "))
                    .findFirst()
                    .orElseThrow();
            String[] cells = line.strip().split(" +", -1);
            assertThat(cells[1]).isEqualTo(String.valueOf(row.state()));
            assertThat(Double.parseDouble(cells[2])).isEqualTo(frame.percent(row.cpuNanos()));
            assertThat(Double.parseDouble(cells[3])).isEqualTo(frame.percent(row.userNanos()));
            assertThat(Double.parseDouble(cells[4])).isEqualTo(frame.percent(row.systemNanos()));
            assertThat(Double.parseDouble(cells[7])).isEqualTo((double) row.voluntary());
            assertThat(Double.parseDouble(cells[8])).isEqualTo((double) row.involuntary());
        }
        assertThat(lines.get(1)).contains("205.0 %", "user 105.0", "system 100.0");
        assertThat(lines.get(2)).contains("210.0 %", "70.0 % of limit", "throttled 2.0 %");
        assertThat(lines.get(3)).contains("300.0 %", "of 400.0: 75.0 %");
        assertThat(lines.get(HEIGHT - 1)).contains("taskclock 0.5 %");
    }

    @Test
    void shouldTellSeveralJvmsApart() {
        view.accept(List.of(frame, MadeUp.frame(4712, 1)));
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
    void shouldFitAnySizeWhateverIsPressed() {
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
                view.accept(
                        List.of(MadeUp.frame(4711, i), MadeUp.frame(4712, i)).subList(0, 1 + i / 50 % 2));
            int width = 1 + random.nextInt(i % 2 == 0 ? 100 : 300);
            int height = 1 + random.nextInt(80);
            List<String> lines = draw(width, height);
            assertThat(lines).hasSize(height);
            assertThat(lines).allSatisfy(line -> {
                assertThat(Cells.width(line)).isLessThanOrEqualTo(width);
                assertThat(line).doesNotContain("\u001b", "\n", "\u202e");
            });
        }
    }

    @Test
    void shouldKeepTheColumnsWhereNamesAreWide() {
        press("Down", "Down", "Down", "Down"); // one is selected, too
        for (String name : List.of(MadeUp.WIDE, "worker-1")) {
            String line = draw(WIDTH, HEIGHT).stream()
                    .filter(l -> l.stripTrailing().endsWith(" " + name))
                    .findFirst()
                    .orElseThrow();
            int at = Cells.width(line.substring(0, line.lastIndexOf(name)));
            String titles = draw(WIDTH, HEIGHT).get(5);
            assertThat(at).isEqualTo(titles.indexOf("NAME"));
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
        press("F6", "Home", "End", "Enter"); // the last is the name
        assertThat(view.sort).isEqualTo(Column.NAME);
        assertThat(order("http-1", "worker-1", "GC Thread#0")).containsExactly("GC Thread#0", "http-1", "worker-1");
    }

    @Test
    void shouldSearchAndFilter() {
        press("/", "g", "c", "Space", "t", "Enter");
        assertThat(view.selected().row().name()).isEqualTo("GC Thread#0");
        press("n");
        assertThat(view.selected().row().name()).isEqualTo("GC Thread#0");
        press("/", "z", "z", "Enter");
        assertThat(screen()).contains("Not found: zz");
        press("F4", "W", "o", "r", "k", "e", "r", "-", "2", "|", "3", "0", "0", "Enter");
        assertThat(view.lines).extracting(line -> line.row().tid()).containsExactly(102, 300);
        assertThat(screen()).contains("filter: Worker-2|300");
        press("F4", "Escape");
        assertThat(view.lines).hasSameSizeAs(frame.rows());
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
        press("Enter"); // opens the pool, which is the first line
        assertThat(order("worker-1", "worker-2", "worker-3")).containsExactly("worker-1", "worker-2", "worker-3");
        press("Down", "-"); // from inside
        assertThat(order("worker-1")).isEmpty();
        // Carriers hold what virtual threads run: counted once.
        Table.Line carriers = view.lines.stream()
                .filter(line -> line.row().kind() == Row.Kind.CARRIER)
                .findFirst()
                .orElseThrow();
        assertThat(frame.percent(carriers.row().cpuNanos())).isEqualTo(30);
        assertThat(carriers.members()).hasSize(2);
    }

    @Test
    void shouldFollowTheThreadAndKeepTags() {
        press("F", "Space", "F"); // worker-1 is tagged, worker-2 followed
        assertThat(view.selected().row().name()).isEqualTo("worker-2");
        press("I", "F1", "q");
        view.accept(List.of(MadeUp.frame(4711, 2)));
        assertThat(view.selected().row().name()).isEqualTo("worker-2");
        assertThat(screen()).contains("*worker-1").contains("1 tagged 98.0 %");
    }

    @Test
    void shouldAlwaysTellWhatIsWrong() {
        assertThat(screen()).contains("! yield-storm: thread worker-1").contains("1 more");
        press("F2");
        assertThat(screen())
                .contains(
                        "9876 involuntary switches",
                        "java.lang.Thread.yield0 in 5 of 5 stacks",
                        "! throttled: The container is throttled");
        assertThat(draw(40, 10).get(1)).startsWith("! yield-storm");
    }

    @Test
    void shouldSumUpTheTimeSinceTheStart() {
        view.accept(List.of(MadeUp.frame(4711, 2)));
        assertThat(view.seconds(View.key(frame.rows().get(0)))).isEqualTo(2 * 0.98);
        press("T");
        assertThat(order("worker-1", "worker-2")).containsExactly("worker-1", "worker-2");
    }

    @Test
    void shouldUseNoColourWhereNoneIsWanted() {
        view.color = false;
        String plain = ansi();
        view.color = true;
        assertThat(ansi()).containsPattern("\u001b\\[[0-9;]*3[1-6]");
        assertThat(plain).doesNotContainPattern("\u001b\\[[0-9;]*3[0-9]").contains("\u001b[7m");
    }

    private String ansi() {
        StringBuilder out = new StringBuilder();
        Layout.draw(view, WIDTH, HEIGHT).forEach(line -> out.append(line.toAnsi()));
        return out.toString();
    }

    @Test
    void shouldHideWhatIsIdleOrTheJvms() {
        press("K");
        assertThat(order("GC Thread#0", "worker-1")).containsExactly("worker-1");
        press("K", "F4", "C", "2", "Enter");
        assertThat(screen()).contains("C2 CompilerThre~");
    }

    @Test
    void shouldSayWhatItCannotKnow() {
        assertThat(Cells.number(-1)).isEqualTo("-");
        assertThat(Cells.number(Double.NaN)).isEqualTo("-");
        String virtual = draw(WIDTH, HEIGHT).stream()
                .filter(l -> l.contains("query-#"))
                .findFirst()
                .orElseThrow();
        assertThat(virtual.strip().split(" +", -1)).startsWith("S", "20.0", "-", "-");
    }

    @Test
    void shouldWriteNumbersInFiveColumns() {
        assertThat(List.of(
                        Cells.number(0),
                        Cells.number(99.95),
                        Cells.number(999.94),
                        Cells.number(999.96),
                        Cells.number(99_999),
                        Cells.number(99_999.6),
                        Cells.number(12_345_678),
                        Cells.time(12.34),
                        Cells.time(245),
                        Cells.time(7445)))
                .containsExactly("0.0", "100.0", "999.9", "1000", "99999", "100k", "12M", "12.3", "4:05", "2:04:05");
    }
}
