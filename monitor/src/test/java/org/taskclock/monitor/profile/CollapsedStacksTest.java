// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.profile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class CollapsedStacksTest {
    @Test
    void shouldAddUpEqualStacks() {
        CollapsedStacks stacks = CollapsedStacks.of("# a comment\na_[j];b_[k] 2\n\na_[j] 4\r\na_[j];b_[k] 5\n");
        assertThat(stacks.text()).isEqualTo("a_[j];b_[k] 7\na_[j] 4\n");
        assertThat(stacks.samples()).isEqualTo(11);
        assertThat(stacks.notes()).isEmpty();
        assertThat(stacks.frames())
                .containsExactly(new CollapsedStacks.Frame("b", 7, 7), new CollapsedStacks.Frame("a", 4, 11));
    }

    @Test
    void shouldCountARecursiveMethodOnce() {
        assertThat(CollapsedStacks.of("a;a;a 3").frames()).containsExactly(new CollapsedStacks.Frame("a", 3, 3));
    }

    @Test
    void shouldCountAMethodOnceWhateverItsLines() {
        CollapsedStacks stacks = CollapsedStacks.of("a:1_[j];b:7_[i] 1\na:2_[j];b:9_[j] 2\na:2_[j] 4\nstd::x;c++:: 1");
        assertThat(stacks.frames())
                .containsExactly(
                        new CollapsedStacks.Frame("a", 4, 7),
                        new CollapsedStacks.Frame("b", 3, 3),
                        new CollapsedStacks.Frame("c++::", 1, 1),
                        new CollapsedStacks.Frame("std::x", 0, 1));
        assertThat(stacks.withoutLines().text().lines())
                .containsExactlyInAnyOrder("a_[j];b_[i] 1", "a_[j];b_[j] 2", "a_[j] 4", "std::x;c++:: 1");
    }

    @Test
    void shouldNotTakeAThreadForAMethod() {
        CollapsedStacks stacks = CollapsedStacks.of("[pool-#];[pool-1 tid=7];a 3\n[main tid=1];[not sampled] 2");
        assertThat(stacks.frames())
                .containsExactly(
                        new CollapsedStacks.Frame("a", 3, 3), new CollapsedStacks.Frame("[not sampled]", 2, 2));
    }

    @Test
    void shouldLeaveOutWhatIsNotAStack() {
        CollapsedStacks stacks = CollapsedStacks.of("a 1\nb\nc -1\nd 1x\n7\ne 1234567890123\nf 0");
        assertThat(stacks.text()).isEqualTo("a 1\n");
        assertThat(stacks.notes()).containsExactly("5 lines that are not stacks were left out");
    }

    @Test
    void shouldKeepTheStacksWithTheMostSamples() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < CollapsedStacks.MAX_BOXES + 1_000; i++)
            text.append("rare").append(i).append(" 1\n");
        CollapsedStacks stacks =
                CollapsedStacks.of(text.append("often;called 9\n").toString());
        assertThat(stacks.text()).startsWith("often;called 9\n");
        assertThat(stacks.samples()).isBetween(CollapsedStacks.MAX_BOXES + 1L, CollapsedStacks.MAX_BOXES + 10L);
        assertThat(stacks.notes())
                .containsExactly("there are too many stacks: rare ones, with 2 % of the total, were left out");
        String name = "x".repeat(CollapsedStacks.MAX_CHARS / 2);
        assertThat(CollapsedStacks.of(name + "1 3\n" + name + "2 2\n" + name + "3 1\n")
                        .samples())
                .isEqualTo(3);
    }

    @Test
    void shouldLimitTheDepth() throws Exception {
        CollapsedStacks stacks = CollapsedStacks.of("a;".repeat(100_000) + "b 1");
        assertThat(stacks.text()).hasSizeLessThan(3_000).endsWith(";" + CollapsedStacks.DEEPER + " 1\n");
        // The launcher limits the stacks of the threads of serve to 512 kB.
        FutureTask<FlameGraphPage> drawn =
                new FutureTask<>(() -> FlameGraphPage.difference(stacks.text(), stacks.text()));
        new Thread(null, drawn, "small", 400 << 10).start();
        assertThat(drawn.get().scripts()).hasSize(3);
    }

    @Test
    void shouldNotOverflow() {
        CollapsedStacks stacks = CollapsedStacks.of("a 999999999999\n".repeat(100) + "b 999999999999\n");
        assertThat(stacks.samples()).isEqualTo(1_999_999_999_999L);
    }

    @Test
    void shouldCompareShares() {
        CollapsedStacks a = CollapsedStacks.of("main;old 50\nmain;same 50");
        CollapsedStacks b = CollapsedStacks.of("main;new 5\nmain;same 5");
        assertThat(CollapsedStacks.compare(a, b))
                .containsExactly(
                        new CollapsedStacks.Change("new", 0, 50, 0, 50),
                        new CollapsedStacks.Change("old", 50, 0, 50, 0),
                        new CollapsedStacks.Change("main", 0, 0, 100, 100),
                        new CollapsedStacks.Change("same", 50, 50, 50, 50));
        assertThat(a.scaledTo(10).samples()).isEqualTo(10);
        assertThat(CollapsedStacks.of("a 1\nb 1\nc 1").scaledTo(2).samples()).isEqualTo(2);
    }

    /** The converter colors frames by the difference of their own samples. */
    @Test
    void shouldColorTheDifference() throws IOException {
        String html = FlameGraphPage.difference("main;same 5\nmain;less 5", "main;same 5\nmain;less 2\nmain;more 3")
                .html();
        assertThat(html).contains("const maxdiff = 3;", "\nd=-3\n", "\nd=U\n");
        assertThat(FlameGraphPage.of("main 5").html()).contains("const maxdiff = -1;");
        assertThat(FlameGraphPage.of("no stack").scripts()).isEqualTo(List.of());
    }
}
