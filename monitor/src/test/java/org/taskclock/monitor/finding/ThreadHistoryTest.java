// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.JvmCounters;
import org.taskclock.monitor.usage.ThreadUsage;

/** Leaks, churn, and pools of which one thread does all the work: what only the last minute shows. */
class ThreadHistoryTest {
    private static final int LONG = 120;

    private final ThreadHistory history = new ThreadHistory();
    private int second;

    /** Adds a second, and returns what is found at its end. */
    private List<Finding> add(List<ThreadUsage> threads, long started) {
        history.add(threads, started, SECOND, ++second * SECOND);
        return Observations.ofThreads(threads, 0, 0, JvmCounters.UNKNOWN, history)
                .findings();
    }

    private static List<ThreadUsage> pool(String name, int count, long cpu) {
        List<ThreadUsage> threads = new ArrayList<>();
        for (int i = 0; i < count; i++)
            threads.add(Observations.thread(100 + i, name + "-" + i, ThreadKind.JAVA, cpu, 0, 0, cpu == 0 ? 0 : 20));
        return threads;
    }

    /** Returns what is found within two minutes about a pool of that many threads in each second. */
    private List<Finding> found(IntUnaryOperator size, long cpu) {
        List<Finding> all = new ArrayList<>();
        for (int i = 0; i < LONG; i++) all.addAll(add(pool("worker", size.applyAsInt(i), cpu), 0));
        return all;
    }

    @Test
    void shouldFindAPoolThatKeepsGrowing() {
        List<Finding> found = found(i -> 10 + i, 0);
        assertThat(found.get(0).kind()).isEqualTo(new ThreadLeak());
        assertThat(found.get(found.size() - 1).text())
                .isEqualTo("pool \"worker-#\" has grown from 68 to 129 threads in 61 s, and most do nothing");
    }

    @Test
    void shouldSayWhenItBeganToGrow() {
        for (int i = 0; i < 100; i++) assertThat(add(pool("worker", 10, 0), 0)).isEmpty();
        List<Finding> found = List.of();
        for (int i = 1; found.isEmpty(); i++) found = add(pool("worker", 10 + 15 * i, 0), 0);
        assertThat(found.get(0).text()).contains("from 10 to ").contains(" in 30 s");
        assertThat(second).as("found after").isLessThanOrEqualTo(130);
        assertThat(second * SECOND - SECOND - found.get(0).earlierNanos())
                .as("dated")
                .isEqualTo(100 * SECOND);
        found = List.of();
        for (int i = 0; i < 40; i++) found = add(pool("worker", 10 + 15 * second, 0), 0);
        assertThat(found).hasSize(1);
    }

    @Test
    void shouldNotFindFastGrowthThatEnds() {
        assertThat(found(i -> Math.min(300, 15 * i), 0)).isEmpty();
    }

    @Test
    void shouldFindAPoolThatIsFarTooLarge() {
        List<Finding> found = found(i -> 912, 0);
        assertThat(found.get(0).text())
                .isEqualTo("pool \"worker-#\" has had more than 500 threads for 58 s, and most do nothing");
        assertThat(found.get(0).evidence()).containsExactly("912 of its 912 threads have not run in the last interval");
    }

    @Test
    void shouldNotFindPoolsThatStartOrFollowTheirLoad() {
        assertThat(found(i -> Math.min(200, 20 * i), 0))
                .as("a server that starts")
                .isEmpty();
        assertThat(found(i -> 10 + i, 3)).as("a pool that grows with its load").isEmpty();
        assertThat(found(i -> 10 + 40 * (i / 10 % 2), 0)).as("a cached pool").isEmpty();
    }

    @Test
    void shouldFindThreadsThatStartAllTheTime() {
        List<Finding> found = List.of();
        for (int i = 0; i < 10; i++) {
            assertThat(found).as("after %d s", i).isEmpty();
            found = add(pool("request", 3, 0), 90);
        }
        assertThat(found).extracting(Finding::kind).containsExactly(new ThreadChurn());
        assertThat(found.get(0).text()).isEqualTo("90 threads start per second, and end soon after");
        assertThat(found.get(0).earlierNanos()).isEqualTo(9 * SECOND);
    }

    @Test
    void shouldDateThreadsThatStartAllTheTimeFromTheFirstOfThem() {
        for (int i = 0; i < 10; i++) assertThat(add(pool("request", 3, 0), 2)).isEmpty();
        List<Finding> found = List.of();
        for (int i = 0; found.isEmpty(); i++) {
            assertThat(i).isLessThan(10);
            found = add(pool("request", 3, 0), 40);
        }
        assertThat(second * SECOND - SECOND - found.get(0).earlierNanos()).isEqualTo(10 * SECOND);
    }

    @Test
    void shouldNotFindThreadsThatStartOnceOrAreUncounted() {
        for (int i = 0; i < LONG; i++)
            assertThat(add(pool("worker", 10, 0), i % 60 < 3 ? 300 : 0)).isEmpty();
        for (int i = 0; i < LONG; i++)
            assertThat(add(pool("worker", 10, 0), -1)).isEmpty();
    }

    private List<Finding> withOneBusy(String name, long busy, long others) {
        List<Finding> found = List.of();
        for (int i = 0; i < LONG; i++) {
            List<ThreadUsage> threads = pool(name, 8, others);
            // It waits for a processor in every other second only, as far as the kernel has counted.
            long wait = i % 2 == 0 ? 1_000 : 0;
            threads.set(0, Observations.thread(100, name + "-0", ThreadKind.JAVA, busy, 0, wait, 5));
            found = add(threads, 0);
        }
        return found;
    }

    @Test
    void shouldFindTheThreadThatDoesAllTheWork() {
        List<Finding> found = withOneBusy("loop", 500, 1);
        assertThat(found).extracting(Finding::kind).containsExactly(new PoolImbalance());
        assertThat(found.get(0).text()).isEqualTo("thread \"loop-0\" does all the work of its pool of 8 threads");
        assertThat(found.get(0).tid()).isEqualTo(100);
    }

    @Test
    void shouldNotFindThreadsThatHaveNothingInCommonOrShareTheWork() {
        assertThat(withOneBusy("Thread", 500, 1)).isEmpty();
        assertThat(withOneBusy("loop", 500, 100)).isEmpty();
    }
}
