// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Threads that are read, end, and reuse kernel threads and ids, in each possible order. */
class PoolTimesTest {
    private final PoolTimes times = new PoolTimes();

    private static ThreadTable.Row row(String name, long id, int tid, long cpu, long user) {
        return new ThreadTable.Row(name, id, tid, cpu, user, cpu - user);
    }

    private static EndedThread ended(String name, long id, int tid, long cpu, long user) {
        return new EndedThread(name, id, tid, cpu, user, 0, 0, 0, 0);
    }

    private void update(List<ThreadTable.Row> rows, EndedThread... ended) {
        times.update(rows.toArray(new ThreadTable.Row[0]), List.of(ended));
    }

    private void assertPool(String name, int threads, long cpu, long user) {
        ExitSummary.Pool pool = times.pools().get(name);
        assertThat(pool).as(name).isNotNull();
        assertThat(List.of((long) pool.threads, pool.cpuNanos, pool.userNanos))
                .containsExactly((long) threads, cpu, user);
        assertThat(pool.isJava).isTrue();
    }

    @Test
    void shouldCountThreadsThatWereNeverRead() {
        update(List.of(), ended("short-1", 11, 101, 1_000, 700), ended("short-2", 12, 102, 2_000, 500));
        assertPool("short-#", 2, 3_000, 1_200);
        assertThat(times.pools().get("short-#").example).isEqualTo("short-1");
    }

    @Test
    void shouldCountTheRestOfAThreadThatWasRead() {
        update(List.of(row("worker-1", 11, 101, 400, 300)));
        update(List.of(row("worker-1", 11, 101, 600, 400)));
        update(List.of(), ended("worker-1", 11, 101, 1_000, 700));
        assertPool("worker-#", 1, 1_000, 700);
    }

    /** A thread that ends during the reading is both read and reported. */
    @Test
    void shouldCountAThreadOnceThatEndsDuringTheReading() {
        update(List.of(row("worker-1", 11, 101, 400, 300)), ended("worker-1", 11, 101, 1_000, 700));
        assertPool("worker-#", 1, 1_000, 700);
        // Its kernel thread exists for some more time. Its user time is that of a different clock.
        update(List.of(row("worker-1-native", -1, 101, 1_010, 600)));
        assertPool("worker-#", 1, 1_010, 700);
        assertThat(times.pools()).hasSize(1);
    }

    /** A thread that starts and ends during the reading is not listed as a Java thread, but read. */
    @Test
    void shouldCountAThreadOnceThatStartsAndEndsDuringTheReading() {
        update(List.of(row("worker-1", -1, 101, 400, 300)), ended("worker-1", 11, 101, 1_000, 700));
        assertPool("worker-#", 1, 1_000, 700);
        update(List.of());
        assertPool("worker-#", 1, 1_000, 700);
    }

    /** The list of Java threads is older than the times. */
    @Test
    void shouldMoveAThreadThatWasReadBeforeItWasListed() {
        update(List.of(row("a long thread n", -1, 101, 400, 300), row("native", -1, 102, 50, 50)));
        update(List.of(row("a long thread n", -1, 101, 500, 350)));
        update(List.of(), ended("a long thread name", 11, 101, 1_000, 700));
        assertPool("a long thread name", 1, 1_000, 700);
        assertThat(times.pools()).containsOnlyKeys("a long thread name", "native");

        update(List.of(row("another name tha", -1, 103, 400, 300)));
        update(List.of(row("another name that is long", 12, 103, 900, 600)));
        assertPool("another name that is long", 1, 900, 600);
        assertThat(times.pools()).containsOnlyKeys("a long thread name", "another name that is long", "native");
    }

    @Test
    void shouldCountAKernelThreadOnceThatWasSeveralJavaThreads() {
        update(List.of(row("main", 1, 100, 500, 400)));
        update(List.of(row("DestroyJavaVM", 30, 100, 1_100, 650)), ended("main", 1, 100, 1_000, 700));
        assertPool("main", 1, 1_100, 700);
        update(List.of(row("DestroyJavaVM", 30, 100, 1_200, 800)));
        assertPool("main", 1, 1_200, 800);

        EndedThread first = ended("attached-1", 31, 101, 300, 200);
        EndedThread second = new EndedThread("attached-2", 32, 101, 700, 500, 300, 200, 0, 0);
        update(List.of(row("DestroyJavaVM", 30, 100, 1_200, 800)), first, second);
        assertPool("attached-#", 1, 700, 500);
        // Nobody saw the first one.
        update(List.of(), new EndedThread("late", 33, 102, 900, 800, 600, 500, 0, 0));
        assertPool("late", 1, 300, 300);
    }

    @Test
    void shouldNotConfuseThreadsWithTheSameKernelId() {
        update(List.of(row("old", 11, 101, 5_000, 4_000)));
        update(List.of(), ended("new", 12, 101, 300, 200));
        assertPool("old", 1, 5_000, 4_000);
        assertPool("new", 1, 300, 200);

        update(List.of(row("third", 14, 102, 40, 30)), ended("second", 13, 102, 900, 800));
        assertPool("second", 1, 900, 800);
        assertPool("third", 1, 40, 30);
    }

    /** Three of four threads saw no tick, so their clocks say that they only ran in user mode. */
    @Test
    void shouldSplitTheTimeOfShortThreadsByAllTheirTicks() {
        update(
                List.of(),
                new EndedThread("short-1", 11, 101, 1_000, 1_000, 0, 0, 0, 0),
                new EndedThread("short-2", 12, 102, 1_000, 0, 0, 0, 4_000, 0));
        assertPool("short-#", 2, 2_000, 0);
        update(
                List.of(row("short-5", 15, 105, 10_000, 9_000)),
                new EndedThread("short-3", 13, 103, 1_000, 1_000, 0, 0, 0, 0),
                new EndedThread("short-4", 14, 104, 1_000, 1_000, 0, 0, 4_000, 4_000));
        assertPool("short-#", 5, 14_000, 11_000);
        update(List.of());
        assertPool("short-#", 5, 14_000, 11_000);
    }
}
