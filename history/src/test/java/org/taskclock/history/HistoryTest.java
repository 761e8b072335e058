// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.recording.Mark;
import org.taskclock.monitor.recording.PoolSeries;
import org.taskclock.monitor.recording.ThreadSeries;
import org.taskclock.monitor.usage.ThreadUsage;

/** What is added can be read, also after the history was closed and opened again. */
class HistoryTest {
    private static final JvmKey JVM = Samples.jvm(4711);

    @TempDir
    Path directory;

    /** A minute ago, on a minute. */
    private final Instant start = Instant.now().truncatedTo(ChronoUnit.MINUTES).minusSeconds(120);

    @Test
    void shouldReturnWhatPoolsAndThreadsUsedEachSecond() throws HistoryException {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            for (int i = 0; i < 10; i++)
                history.add(Samples.sample(
                        JVM,
                        start.plusSeconds(i + 1),
                        List.of(Samples.pool("worker-#", 100 + i, 10), Samples.pool("rare", i == 3 ? 5 : 0, 0)),
                        List.of(Samples.thread(12, "worker-1", 60, 5))));
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            PoolSeries series = history.pools(JVM.id(), start, start.plusSeconds(10), 100);
            assertThat(series.step()).isEqualTo(Duration.ofSeconds(1));
            assertThat(series.times()).hasSize(10);
            assertThat(series.times()[0]).isEqualTo(start.toEpochMilli());
            PoolSeries.Row worker = series.pools().get(0);
            assertThat(worker.pool()).isEqualTo("worker-#");
            assertThat(worker.kind()).isEqualTo(ThreadKind.JAVA);
            assertThat(worker.userNanos()).containsExactly(100, 101, 102, 103, 104, 105, 106, 107, 108, 109);
            assertThat(worker.systemNanos()).containsOnly(10);
            assertThat(worker.waitNanos()).containsOnly(7);
            assertThat(worker.threads()).containsOnly(3);
            PoolSeries.Row rare = series.pools().get(1);
            assertThat(rare.userNanos()).containsExactly(0, 0, 0, 5, 0, 0, 0, 0, 0, 0);
            assertThat(rare.threads()).containsExactly(-1, -1, -1, 3, -1, -1, -1, -1, -1, -1);
            assertThat(series.totals().userNanos()).containsExactly(100, 101, 102, 108, 104, 105, 106, 107, 108, 109);
            assertThat(series.totals().throttledNanos()).containsOnly(5);
            assertThat(series.totals().limit()).containsOnly(1.5);
            ThreadSeries threads = history.threads(JVM.id(), start, start.plusSeconds(10), 100, 5);
            assertThat(threads.threads()).hasSize(1);
            assertThat(threads.threads().get(0).name()).isEqualTo("worker-1");
            assertThat(threads.threads().get(0).tid()).isEqualTo(12);
            assertThat(threads.threads().get(0).userNanos()).containsOnly(60);
            List<JvmHistory> jvms = history.jvms(start, start.plusSeconds(60));
            assertThat(jvms).hasSize(1);
            assertThat(jvms.get(0).jvm()).isEqualTo(JVM);
            assertThat(jvms.get(0).cpuNanos())
                    .isEqualTo(Arrays.stream(series.totals().userNanos()).sum() + 100);
            assertThat(history.status().problem()).isNull();
        }
    }

    /** A JVM ended after its last sample, although the time in its key is written only once a minute. */
    @Test
    void shouldReturnTheTimeOfTheLastSample() throws Exception {
        try (StepwiseHistory history = new StepwiseHistory(directory)) {
            for (int i = 1; i <= 50; i++) {
                history.add(Samples.sample(
                        JVM, start.plusSeconds(i), List.of(Samples.pool("worker-#", 100, 10)), List.of()));
                history.writeAll();
            }
            try (Connection connection = history.database.reader()) {
                List<JvmHistory> jvms = HostReader.jvms(connection, start, start.plusSeconds(60));
                assertThat(jvms).hasSize(1);
                assertThat(jvms.get(0).lastSeen()).isEqualTo(start.plusSeconds(50));
            }
        }
    }

    @Test
    void shouldCountTheTimeOfVirtualThreadsOnce() throws HistoryException {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            history.add(Samples.sample(
                    Samples.jvm(1),
                    start.plusSeconds(1),
                    List.of(Samples.pool("ForkJoinPool-#-worker-#", ThreadKind.CARRIER, 100, 20)),
                    List.of()));
            // In the second second, the agent has counted more than the carriers were known to have used.
            long[] virtual = {60, 150, 0, 40};
            for (int i = 0; i < virtual.length; i++) {
                List<ThreadUsage> pools = List.of(
                        Samples.pool("orders-#", ThreadKind.VIRTUAL, virtual[i], virtual[i] / 10),
                        Samples.pool("mails-#", ThreadKind.VIRTUAL, i == 0 ? 3 : 0, 1),
                        Samples.pool("ForkJoinPool-#-worker-#", ThreadKind.CARRIER, 100, 20),
                        Samples.pool("main", ThreadKind.JAVA, 1, 0));
                history.add(Samples.sample(
                        JVM, start.plusSeconds(i + 1), pools, List.of(Samples.thread(12, "worker-1", 100, 20))));
            }
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            List<PoolSeries.Row> pools =
                    history.pools(JVM.id(), start, start.plusSeconds(4), 100).pools();
            Map<String, PoolSeries.Row> byName =
                    pools.stream().collect(Collectors.toMap(PoolSeries.Row::pool, pool -> pool));
            assertThat(byName.get("orders-#").kind()).isEqualTo(ThreadKind.VIRTUAL);
            assertThat(byName.get("orders-#").userNanos()).containsExactly(60, 150, 0, 40);
            assertThat(byName.get("orders-#").systemNanos()).containsExactly(6, 15, 0, 4);
            assertThat(byName.get("mails-#").userNanos()).containsExactly(3, 0, 0, 0);
            PoolSeries.Row carriers = byName.get("ForkJoinPool-#-worker-#");
            assertThat(carriers.userNanos()).containsExactly(37, 0, 50, 60);
            assertThat(carriers.systemNanos()).containsExactly(13, 4, 19, 15);
            assertThat(pools.stream().mapToLong(PoolSeries.Row::cpuNanos).sum())
                    .as("the carriers' pools and main")
                    .isEqualTo(4 * 121);
            assertThat(history.pools(Samples.jvm(1).id(), start, start.plusSeconds(4), 100)
                            .pools()
                            .get(0)
                            .cpuNanos())
                    .as("of another JVM")
                    .isEqualTo(120);
        }
    }

    @Test
    void shouldReturnMarks() throws HistoryException {
        Mark host = new Mark(start, null, "deployment", "version 2");
        Mark jvm = new Mark(start.plusSeconds(1), JVM.id(), "start", "'; DROP TABLE mark_row; --");
        Mark other = new Mark(start.plusSeconds(2), "1-1", "end", "");
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            history.add(host);
            history.add(jvm);
            history.add(other);
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            assertThat(history.marks(null, start, start.plusSeconds(10))).containsExactly(host, jvm, other);
            assertThat(history.marks(JVM.id(), start, start.plusSeconds(10))).containsExactly(host, jvm);
            assertThat(history.marks(null, start.plusSeconds(2), start.plusSeconds(10)))
                    .containsExactly(other);
        }
    }

    @Test
    void shouldTellIdleFromUnknown() throws HistoryException {
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            for (int i = 0; i < 5; i++)
                history.add(Samples.sample(JVM, start.plusSeconds(i + 1), List.of(Samples.pool("a", 0, 0)), List.of()));
            for (int i = 30; i < 35; i++)
                history.add(Samples.sample(JVM, start.plusSeconds(i + 1), List.of(Samples.pool("a", 9, 0)), List.of()));
        }
        try (History history = DuckDbHistory.open(directory, HistoryOptions.DEFAULT)) {
            long[] user = history.pools(JVM.id(), start.minusSeconds(10), start.plusSeconds(35), 100)
                    .totals()
                    .userNanos();
            assertThat(Arrays.copyOfRange(user, 0, 10)).containsOnly(-1);
            assertThat(Arrays.copyOfRange(user, 40, 45)).containsOnly(9);
        }
    }
}
