// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.sampling.ThreadColumn;

/** Mouse events, without a terminal. */
class MouseBindingsTest {
    private static final int WIDTH = 120;
    private static final int HEIGHT = 30;
    private static final long LONG = TimeUnit.SECONDS.toNanos(1);

    private final ViewState view = new ViewState();
    private final MouseBindings mouse = new MouseBindings();
    private long nanos = LONG;

    MouseBindingsTest() {
        view.accept(List.of(SyntheticJvm.interval(4711, 1)));
    }

    private List<String> draw() {
        return ScreenRenderer.draw(view, WIDTH, HEIGHT).stream()
                .map(Object::toString)
                .toList();
    }

    /** Clicks the first occurrence of the text and presses the key that the click stands for. */
    private void click(String text) {
        List<String> lines = draw();
        for (int y = 0; y < HEIGHT; y++) {
            int at = lines.get(y).indexOf(text);
            if (at < 0) continue;
            apply(MouseBindings.event(0, CellFormat.width(lines.get(y).substring(0, at)), y));
            return;
        }
        throw new AssertionError(text + " is not in\n" + String.join("\n", lines));
    }

    private void apply(String event) {
        String key = mouse.handle(view, event, WIDTH, HEIGHT, nanos);
        if (!key.isEmpty()) KeyBindings.handle(view, key, ScreenRenderer.pageHeight(view, HEIGHT));
    }

    private void press(String... keys) {
        for (String key : keys) KeyBindings.handle(view, key, ScreenRenderer.pageHeight(view, HEIGHT));
    }

    @Test
    void shouldSelectTheRow() {
        for (String name : List.of("worker-2", SyntheticJvm.WIDE, "http-3")) {
            click(name);
            assertThat(view.selected().thread().name()).isEqualTo(name);
            assertThat(view.following).isFalse();
        }
        assertThat(view.page).isEqualTo(ViewState.Page.TABLE);
    }

    @Test
    void shouldOpenWithADoubleClick() {
        click("worker-2");
        nanos += LONG; // too late
        click("worker-2");
        assertThat(view.page).isEqualTo(ViewState.Page.TABLE);
        click("worker-2");
        assertThat(view.page).isEqualTo(ViewState.Page.STACKS);
        assertThat(view.stackThread.name()).isEqualTo("worker-2");
    }

    @Test
    void shouldExpandAPoolByItsMarkerOrADoubleClick() {
        press("t", "Space");
        click("+ worker-#"); // behind the mark of a tagged row
        assertThat(view.rows).filteredOn(TableModel.Row::inPool).hasSize(3);
        click("- worker-#"); // the second half of a double click
        assertThat(view.rows).filteredOn(TableModel.Row::inPool).hasSize(3);
        nanos += LONG;
        click("- worker-#");
        assertThat(view.hasExpanded()).isFalse();
        nanos += LONG;
        click("http-#");
        assertThat(view.hasExpanded()).isFalse();
        click("http-#");
        assertThat(view.rows).filteredOn(TableModel.Row::inPool).hasSize(30);
    }

    @Test
    void shouldSortByTheColumnAndReverse() {
        click("VOL/s");
        assertThat(view.sort).isEqualTo(ThreadColumn.VOLUNTARY);
        assertThat(view.reversed).isFalse();
        click("VOL/s");
        assertThat(view.reversed).isTrue();
        click("NAME");
        assertThat(view.sort).isEqualTo(ThreadColumn.NAME);
        assertThat(view.reversed).isFalse();
    }

    @Test
    void shouldScroll() {
        draw();
        apply(MouseBindings.event(65, 0, 0));
        assertThat(view.selected).isEqualTo(3);
        draw();
        assertThat(view.topRow).isEqualTo(3);
        for (int i = 0; i < 50; i++) apply(MouseBindings.event(65 + 16, 0, 0)); // with Ctrl
        assertThat(view.selected).isEqualTo(view.rows.size() - 1);
        for (int i = 0; i < 50; i++) apply(MouseBindings.event(64, 0, 0));
        assertThat(view.selected).isZero();
        press("F1");
        apply(MouseBindings.event(65, 0, 0));
        assertThat(view.scroll).isEqualTo(3);
    }

    @Test
    void shouldPressTheKeysOfTheLastLine() {
        press("Space", "i"); // moves the keys to the right
        click("Sort");
        assertThat(view.page).isEqualTo(ViewState.Page.SORT);
        click("system  SYS%");
        nanos += LONG;
        click("system  SYS%");
        click("system  SYS%");
        assertThat(view.page).isEqualTo(ViewState.Page.TABLE);
        assertThat(view.sort).isEqualTo(ThreadColumn.SYSTEM);
        view.message = "";
        click("F2 Why");
        assertThat(view.page).isEqualTo(ViewState.Page.FINDINGS);
        press("q");
        click("! yield-storm");
        assertThat(view.page).isEqualTo(ViewState.Page.FINDINGS);
        press("q");
        click("F4");
        assertThat(view.prompt).isEqualTo(ViewState.Prompt.FILTER);
        int selected = view.selected;
        click("worker-3");
        assertThat(view.selected).isEqualTo(selected); // a prompt ignores the mouse
    }

    @Test
    void shouldTakeAnyClickAtAnySize() {
        Random random = new Random(7);
        String[] keys = {"F1", "F2", "F6", "C", "q", "q", "t", "Enter", "Escape", "F4", "(", "Space", "*", "U", "Home"};
        for (int i = 0; i < 3000; i++) {
            int width = 1 + random.nextInt(150);
            int height = 1 + random.nextInt(40);
            ScreenRenderer.draw(view, width, height);
            int button = random.nextBoolean() ? 0 : random.nextInt(70);
            String event = MouseBindings.event(button, random.nextInt(width + 5) - 1, random.nextInt(height + 5) - 1);
            String key = mouse.handle(view, event, width, height, nanos += random.nextInt(1_000_000_000));
            if (key.isEmpty()) key = keys[random.nextInt(keys.length)];
            KeyBindings.handle(view, key, ScreenRenderer.pageHeight(view, height));
            assertThat(ScreenRenderer.draw(view, width, height)).hasSize(height);
        }
    }
}
