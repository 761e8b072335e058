// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.taskclock.monitor.sampling.Interval;

/** Searching, filtering, and what the selection follows, without a terminal. */
class ThreadSearchTest {
    private static final int PAGE = 20;

    private final ViewState view = new ViewState();
    private final Interval interval = SyntheticJvm.interval(4711, 1);

    ThreadSearchTest() {
        view.accept(List.of(interval));
    }

    private void press(String... keys) {
        for (String key : keys) KeyBindings.handle(view, key, PAGE);
    }

    private void type(String text) {
        for (int i = 0; i < text.length(); i++) press(text.charAt(i) == ' ' ? "Space" : text.substring(i, i + 1));
    }

    private String selected() {
        return view.selected().thread().name();
    }

    @Test
    void shouldFollowTheThreadThatWasFound() {
        press("/");
        type("worker-1");
        press("Enter");
        int row = view.selected;
        view.accept(List.of(SyntheticJvm.idle(interval, 101)));
        assertThat(selected()).isEqualTo("worker-1");
        assertThat(view.selected).isNotEqualTo(row);
        press("I");
        assertThat(selected()).isEqualTo("worker-1");
        press("n");
        assertThat(selected()).isNotEqualTo("worker-1").contains("worker-1"); // the carrier ForkJoinPool-1-worker-1
        press("Down");
        assertThat(view.following).isFalse();
    }

    @Test
    void shouldExpandThePoolOfTheThreadThatWasFound() {
        press("t", "/");
        type("http-2");
        assertThat(selected()).isEqualTo("http-2");
        assertThat(view.rows).filteredOn(TableModel.Row::inPool).hasSize(30);
        press("Backspace", "Backspace", "Backspace", "Backspace", "Backspace", "Backspace");
        type("worker-3");
        assertThat(selected()).isEqualTo("worker-3");
        // The pool that was expanded on the way is collapsed.
        assertThat(view.rows).filteredOn(TableModel.Row::inPool).hasSize(3);
        press("Enter", "/");
        type("http-30");
        press("Enter");
        assertThat(view.rows).filteredOn(TableModel.Row::inPool).hasSize(33);
        press("n");
        assertThat(selected()).isEqualTo("http-30");
    }

    @Test
    void shouldFindThePoolBeforeItsThreads() {
        press("t", "End", "/");
        type("http");
        press("Enter");
        assertThat(view.selected().isPool()).isTrue();
        assertThat(view.hasExpanded()).isFalse();
        press("n");
        assertThat(selected()).isEqualTo("http-1");
        press("F3", "Ctrl-U");
        type("207");
        assertThat(selected()).isEqualTo("http-7");
    }

    @Test
    void shouldNotFindThreadsBeyondTheMaximumNumberOfRows() {
        view.limit = 5;
        press("t", "/");
        type("http-30");
        assertThat(view.promptError).isEqualTo("Not found");
        assertThat(view.hasExpanded()).isFalse();
        assertThat(view.rows).hasSize(5);
    }

    @Test
    void shouldNotApplyAnInvalidFilter() {
        press("F4");
        type("worker-(1");
        assertThat(view.promptError).isEqualTo("Not applied, invalid expression: Unclosed group");
        assertThat(view.filter()).isEqualTo("worker-");
        press("Enter");
        assertThat(view.prompt).isEqualTo(ViewState.Prompt.FILTER);
        type("|2)$");
        assertThat(view.promptError).isEmpty();
        press("Enter");
        assertThat(view.prompt).isEqualTo(ViewState.Prompt.NONE);
        assertThat(view.rows)
                .extracting(row -> row.thread().name())
                .containsExactlyInAnyOrder("worker-1", "worker-2", "ForkJoinPool-1-worker-1");
        press("F4");
        type("[");
        press("Escape");
        assertThat(view.filter()).isEmpty();
        assertThat(view.prompt).isEqualTo(ViewState.Prompt.NONE);
    }

    @Test
    void shouldKeepARejectedInterval() {
        press("d");
        type("0.01");
        assertThat(KeyBindings.handle(view, "Enter", PAGE)).isEqualTo(KeyBindings.Action.NONE);
        assertThat(view.prompt).isEqualTo(ViewState.Prompt.INTERVAL);
        assertThat(view.typed).isEqualTo("0.01");
        assertThat(view.promptError).contains("0.1 to 3600");
        press("Ctrl-U");
        type("500ms");
        assertThat(view.promptError).isEmpty();
        assertThat(KeyBindings.handle(view, "Enter", PAGE)).isEqualTo(KeyBindings.Action.RESCHEDULE);
        assertThat(view.intervalSeconds).isEqualTo(0.5);
        press("d");
        type("1,5");
        press("Enter");
        assertThat(view.intervalSeconds).isEqualTo(1.5);
    }

    @Test
    void shouldResetTheOrderForANewSortColumn() {
        press("I", "P");
        assertThat(view.reversed).isTrue();
        press("S");
        assertThat(view.reversed).isFalse();
        press("I", ">");
        assertThat(view.reversed).isFalse();
    }
}
