// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.simple.CountingMode;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.taskclock.ProcessClock;
import org.taskclock.metrics.JvmThreads;
import org.taskclock.metrics.JvmUsage;
import org.taskclock.metrics.PoolCounters;
import org.taskclock.metrics.PoolUsage;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;

/** The meters in several registries: real readings of this JVM, and readings that the tests make up. */
class TaskClockMetricsTest {
    private static final String CPU = "taskclock.thread.cpu.time";

    /** Readings that the tests make up; each pool has used its seconds in user mode. */
    private final List<PoolUsage> pools = new ArrayList<>();

    private final AtomicInteger readings = new AtomicInteger();
    private JvmUsage usage;

    private void add(String pool, long seconds) {
        pools.add(new PoolUsage(pool, ThreadKind.JAVA, 1, seconds * 1_000_000_000, 0, -1, -1, -1, -1));
        change();
    }

    /** Makes the next reading a new one. */
    private void change() {
        usage = new JvmUsage(
                List.copyOf(pools), ProcessClock.current().now(), VirtualThreadCounts.UNKNOWN, List.of(), null);
    }

    private TaskClockMetrics madeUp() {
        return new TaskClockMetrics(
                () -> {
                    readings.incrementAndGet();
                    return usage;
                },
                List.of());
    }

    private static double seconds(MeterRegistry registry, String pool) {
        FunctionCounter counter = registry.find(CPU)
                .tags("taskclock.pool.name", pool, "cpu.mode", "user")
                .functionCounter();
        return counter == null ? Double.NaN : counter.count();
    }

    @Test
    void shouldReportThisJvm() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new TaskClockMetrics(50, Tags.of("region", "north")).bindTo(registry);
        double sum = 0;
        for (FunctionCounter counter : registry.find(CPU).functionCounters()) {
            Meter.Id id = counter.getId();
            assertThat(id.getBaseUnit()).isEqualTo("seconds");
            assertThat(id.getTags())
                    .extracting(tag -> tag.getKey())
                    .containsExactly("cpu.mode", "region", "taskclock.pool.kind", "taskclock.pool.name");
            sum += counter.count();
        }
        double process = ProcessClock.current().cpuNanos() / 1e9;
        assertThat(sum).isCloseTo(process, within(0.01 * process + 0.1));
        assertThat(registry.get("taskclock.threads")
                        .tags("taskclock.pool.name", "main", "taskclock.pool.kind", "java", "region", "north")
                        .gauge()
                        .value())
                .isEqualTo(1);
        assertThat(registry.find("taskclock.thread.wait.time").functionCounters())
                .isNotEmpty();
        assertThat(registry.find("taskclock.thread.context_switches")
                        .tag("process.context_switch.type", "voluntary")
                        .functionCounters())
                .isNotEmpty();
    }

    @Test
    void shouldHaveNamesOfPrometheusAndListALaterPoolInTheNextScrape() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new ProcessorMetrics().bindTo(registry);
        new TaskClockMetrics().bindTo(registry);
        String series = "taskclock_thread_cpu_time_seconds_total{cpu_mode=\"user\",taskclock_pool_kind=\"java\","
                + "taskclock_pool_name=\"later-#\"}";
        CountDownLatch end = new CountDownLatch(1);
        assertThat(registry.scrape())
                .contains("taskclock_threads{taskclock_pool_kind=\"java\"")
                .doesNotContain(series);
        Thread thread = new Thread(() -> awaitQuietly(end), "later-1");
        thread.start();
        try {
            // Readings are shared for 0.1 s. The reading that finds the pool is of the scrape before.
            long deadline = System.nanoTime() + 20_000_000_000L;
            String scraped = registry.scrape();
            while (!scraped.contains(series) && System.nanoTime() < deadline) {
                Thread.sleep(20);
                scraped = registry.scrape();
            }
            assertThat(scraped.lines().filter(line -> line.contains("later-")))
                    .anyMatch(line -> line.startsWith(series));
            assertThat(registry.scrape())
                    .contains("# TYPE taskclock_thread_cpu_time_seconds_total counter")
                    .containsPattern("(?m)^process_cpu_time_ns_total [0-9.E]+$")
                    .contains("taskclock_process_cpu_time_seconds_total{cpu_mode=\"user\"}");
        } finally {
            end.countDown();
            thread.join();
        }
        Thread.sleep(110);
        registry.scrape();
        assertThat(registry.scrape()).contains(series);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldTakeOneReadingForAllMeters() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        JvmThreads threads = new JvmThreads();
        Set<JvmUsage> different = Collections.newSetFromMap(new IdentityHashMap<>());
        new TaskClockMetrics(
                        () -> {
                            readings.incrementAndGet();
                            different.add(threads.usage());
                            return threads.usage();
                        },
                        List.of())
                .bindTo(registry);
        registry.scrape();
        assertThat(readings.get()).isGreaterThan(20);
        // One when it was bound. The scrape may have been slow.
        assertThat(different).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void shouldLoseNothingOfALaterPoolInARegistryWithSteps() {
        MockClock clock = new MockClock();
        Duration step = Duration.ofSeconds(10);
        SimpleMeterRegistry registry = new SimpleMeterRegistry(
                new SimpleConfig() {
                    @Override
                    public String get(String key) {
                        return null;
                    }

                    @Override
                    public CountingMode mode() {
                        return CountingMode.STEP;
                    }

                    @Override
                    public Duration step() {
                        return step;
                    }
                },
                clock);
        add("first", 3);
        madeUp().bindTo(registry);
        double first = 0;
        double late = 0;
        for (int i = 0; i < 5; i++) {
            if (i == 2) add("late", 5);
            clock.add(step);
            first += seconds(registry, "first");
            double more = seconds(registry, "late");
            if (!Double.isNaN(more)) late += more;
        }
        assertThat(first).isEqualTo(3);
        assertThat(late).isEqualTo(5);
    }

    @Test
    void shouldServeSeveralRegistries() {
        add("a", 1);
        SimpleMeterRegistry one = new SimpleMeterRegistry();
        PrometheusMeterRegistry two = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        CompositeMeterRegistry composite = new CompositeMeterRegistry();
        SimpleMeterRegistry member = new SimpleMeterRegistry();
        composite.add(member);
        TaskClockMetrics metrics = madeUp();
        metrics.bindTo(one);
        metrics.bindTo(two);
        metrics.bindTo(composite);
        metrics.bindTo(one); // again
        add("b", 2);
        assertThat(seconds(one, "a")).isEqualTo(1);
        assertThat(seconds(one, "b")).isEqualTo(2);
        assertThat(seconds(member, "a")).isEqualTo(1);
        assertThat(seconds(member, "b")).isEqualTo(2);
        two.scrape();
        assertThat(two.scrape()).contains("taskclock_pool_name=\"b\"} 2.0");
        assertThat(one.find(CPU).functionCounters()).hasSize(4);
    }

    @Test
    void shouldOnlyKeepItsValuesInAClosedRegistry() {
        add("a", 1);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        madeUp().bindTo(registry);
        FunctionCounter counter = registry.get(CPU).tag("cpu.mode", "user").functionCounter();
        registry.close();
        add("b", 1);
        assertThat(counter.count()).isEqualTo(1);
        assertThat(registry.getMeters())
                .noneMatch(meter -> "b".equals(meter.getId().getTag("taskclock.pool.name")));
    }

    @Test
    void shouldSurviveGarbageCollection() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        add("a", 7);
        madeUp().bindTo(registry);
        System.gc();
        assertThat(seconds(registry, "a")).isEqualTo(7);
        assertThat(registry.get("taskclock.threads").gauge().value()).isEqualTo(1);
    }

    @Test
    void shouldWorkIfAFilterDeniesMeters() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        registry.config().meterFilter(MeterFilter.denyNameStartsWith(CPU));
        add("a", 1);
        madeUp().bindTo(registry);
        add("b", 1);
        assertThat(registry.get("taskclock.threads").gauges()).hasSize(1);
        registry.get("taskclock.threads").gauge().value();
        assertThat(registry.get("taskclock.threads").gauges()).hasSize(2);
        assertThat(registry.find(CPU).meters()).isEmpty();
    }

    @Test
    void shouldAcceptAnyName() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        for (char c = 0; c < 256; c++) add("name " + c, 1);
        add("", 1);
        add("{}\",\\\n# HELP", 1);
        add("\ufffd\u2028\ud83d\ude00", 1);
        madeUp().bindTo(registry);
        // A carriage return does not end a line of this format.
        List<String> lines = Stream.of(registry.scrape().split("\n", -1))
                .filter(line -> line.contains("cpu_mode=\"user\"") && line.contains("pool"))
                .toList();
        assertThat(lines).hasSize(256 + 3).allMatch(line -> line.endsWith("\"} 1.0"));
        assertThat(lines).anyMatch(line -> line.contains("\"{}\\\",\\\\\\n# HELP\""));
    }

    @Test
    void shouldLimitTheSeries() throws InterruptedException {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        List<Thread> threads = new ArrayList<>();
        CountDownLatch end = new CountDownLatch(1);
        for (int i = 0; i < 1_000; i++) {
            StringBuilder name = new StringBuilder("unique ");
            for (char digit : Integer.toString(i).toCharArray()) name.append((char) (digit - '0' + 'a'));
            threads.add(new Thread(null, () -> awaitQuietly(end), name.toString(), 64 << 10));
        }
        threads.forEach(Thread::start);
        new TaskClockMetrics(20, List.of()).bindTo(registry);
        assertThat(registry.find("taskclock.threads").gauges()).hasSizeLessThanOrEqualTo(20);
        assertThat(registry.find(CPU).functionCounters()).hasSizeLessThanOrEqualTo(40);
        assertThat(registry.get("taskclock.threads")
                        .tags("taskclock.pool.name", PoolCounters.OTHER, "taskclock.pool.kind", "java")
                        .gauge()
                        .value())
                .isGreaterThan(980);
        end.countDown();
        for (Thread thread : threads) thread.join();
    }

    @Test
    void shouldRefuseTooFewPools() {
        assertThatThrownBy(() -> new TaskClockMetrics(13, List.of()))
                .hasMessage("limit of 13 pools is below the minimum of 14");
    }
}
