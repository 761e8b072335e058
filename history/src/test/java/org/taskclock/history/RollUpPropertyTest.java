// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;
import org.taskclock.monitor.recording.PoolSeries;

/**
 * Whatever samples come, in whatever order, and wherever the history is rolled up, trimmed, or opened again: each
 * resolution has the CPU time that was added, to the nanosecond.
 */
@Tag("slow17")
class RollUpPropertyTest {
    private static final long BASE = 1_790_000_000;

    /** What happens after a sample. */
    enum Then {
        NOTHING,
        WRITE,
        ROLL_UP,
        TRIM,
        REOPEN
    }

    /** A sample of one pool, and what happens next. {@code offsetMillis} is neither sorted nor unique. */
    record Step(int pid, String pool, long offsetMillis, long intervalMillis, long user, long system, Then then) {}

    @Provide
    Arbitrary<List<Step>> steps() {
        Arbitrary<Long> nanos = Arbitraries.oneOf(
                Arbitraries.longs().between(0, 2_000_000), Arbitraries.longs().between(0, 4_000_000_000L));
        Arbitrary<Long> offsets = Arbitraries.oneOf(
                Arbitraries.longs().between(0, 120_000), Arbitraries.longs().between(-90_000_000, 90_000_000));
        Arbitrary<Long> intervals = Arbitraries.oneOf(
                Arbitraries.just(1_000L),
                Arbitraries.longs().between(1, 2_500),
                Arbitraries.longs().between(1, 900_000));
        return Combinators.combine(
                        Arbitraries.integers().between(1, 3),
                        Arbitraries.of("a", "b"),
                        offsets,
                        intervals,
                        nanos,
                        nanos,
                        Arbitraries.frequencyOf(
                                Tuple.of(12, Arbitraries.just(Then.NOTHING)),
                                Tuple.of(4, Arbitraries.just(Then.WRITE)),
                                Tuple.of(2, Arbitraries.just(Then.ROLL_UP)),
                                Tuple.of(1, Arbitraries.just(Then.TRIM)),
                                Tuple.of(1, Arbitraries.just(Then.REOPEN))))
                .as(Step::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(60);
    }

    private record Key(String jvm, String pool) {}

    @Property(tries = 25)
    void shouldNeitherLoseNorInventCpuTime(@ForAll("steps") List<Step> steps) throws Exception {
        Path directory = Files.createTempDirectory("taskclock-rollup");
        try {
            Map<Key, Long> user = new HashMap<>();
            Map<Key, Long> system = new HashMap<>();
            try (Store store = new Store(directory)) {
                for (Step step : steps) {
                    JvmKey jvm = Samples.jvm(step.pid);
                    store.add(Samples.sample(
                            jvm,
                            Instant.ofEpochSecond(BASE).plusMillis(step.offsetMillis),
                            step.intervalMillis * 1_000_000,
                            List.of(Samples.pool(step.pool, step.user, step.system)),
                            List.of()));
                    user.merge(new Key(jvm.id(), step.pool), step.user, Long::sum);
                    system.merge(new Key(jvm.id(), step.pool), step.system, Long::sum);
                    store.run(step.then);
                }
                store.run(Then.WRITE);
                store.verify(user, system);
                store.run(Then.WRITE);
                store.run(Then.ROLL_UP);
                store.run(Then.TRIM);
                store.verify(user, system);
            }
        } finally {
            delete(directory);
        }
    }

    /** A history that can be closed and opened again. */
    private static final class Store implements AutoCloseable {
        private final Path directory;
        private StepwiseHistory history;

        /** Much is deleted, but not the rows of a minute, which have all CPU time. */
        private final Retention retention = new Retention(new HistoryOptions(
                Duration.ofSeconds(60), Duration.ofSeconds(600), Duration.ofDays(365), Long.MAX_VALUE));

        Store(Path directory) throws SQLException, HistoryException {
            this.directory = directory;
            history = new StepwiseHistory(directory);
        }

        void add(HistorySample sample) {
            history.add(sample);
        }

        void run(Then then) throws SQLException, HistoryException {
            switch (then) {
                case NOTHING -> {}
                case WRITE -> history.write();
                case ROLL_UP -> {
                    history.write();
                    history.rollUp();
                }
                case TRIM -> history.writer.trimByAge(retention);
                case REOPEN -> {
                    close();
                    history = new StepwiseHistory(directory);
                }
            }
        }

        void verify(Map<Key, Long> user, Map<Key, Long> system) throws SQLException {
            history.writeAll();
            try (Connection connection = history.database.reader()) {
                String rolled = "SELECT jvm, pool, sum(u), sum(s) FROM (SELECT k.id AS jvm, p.pool, user_ns AS u,"
                        + " system_ns AS s FROM (SELECT series, user_ns, system_ns FROM pool_60 UNION ALL"
                        + " SELECT series, user_ns, system_ns FROM pool_1, state WHERE batch > rolled) r"
                        + " JOIN pool_key p USING (series) JOIN jvm_key k ON k.jvm = p.jvm) GROUP BY ALL";
                String view = "SELECT jvm, pool, sum(user_ns), sum(system_ns) FROM pool_cpu GROUP BY ALL";
                for (String sql : List.of(rolled, view)) {
                    try (Statement statement = connection.createStatement();
                            ResultSet result = statement.executeQuery(sql)) {
                        int rows = 0;
                        while (result.next()) {
                            Key key = new Key(result.getString(1), result.getString(2));
                            assertThat(result.getLong(3))
                                    .as("user of %s by %s", key, sql)
                                    .isEqualTo(user.get(key));
                            assertThat(result.getLong(4))
                                    .as("system of %s", key)
                                    .isEqualTo(system.get(key));
                            rows++;
                        }
                        long expected = user.keySet().stream()
                                .filter(key -> user.get(key) + system.get(key) > 0)
                                .count();
                        assertThat(rows).isEqualTo((int) expected);
                    }
                }
                Map<Key, Long> inSteps = new HashMap<>();
                Instant first = Instant.ofEpochSecond(BASE - 100_000);
                for (Key key : user.keySet()) {
                    for (PoolSeries.Row row : new SeriesReader(
                                    connection, key.jvm, first, Instant.ofEpochSecond(BASE + 100_000), 500)
                            .pools()
                            .pools()) inSteps.put(new Key(key.jvm, row.pool()), row.cpuNanos());
                }
                inSteps.forEach((key, cpu) ->
                        assertThat(cpu).as("series of %s", key).isEqualTo(user.get(key) + system.get(key)));
            }
        }

        @Override
        public void close() throws SQLException {
            history.writeAll();
            history.close();
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
        }
    }
}
