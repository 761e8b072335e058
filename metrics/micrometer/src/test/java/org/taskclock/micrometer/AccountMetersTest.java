// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.taskclock.AccountType;
import org.taskclock.CpuAccounts;
import org.taskclock.CpuSection;
import org.taskclock.ProcessClock;
import org.taskclock.TaskClock;

/** The meters of the named accounts of this JVM, without TaskClock's agent, as Prometheus sees them. */
class AccountMetersTest {
    private static final Pattern SERIES = Pattern.compile("(?m)^(taskclock_account_\\w+)\\{(.*)} (\\S+)$");
    private static final String ACME = "taskclock_account_name=\"acme\",taskclock_account_type=\"customer\"";

    private final AccountType customers =
            CpuAccounts.type("customer").withDistribution().withAllocatedBytes();

    @SuppressWarnings("try") // the section only has to be open
    private void work(String account, int millis) {
        try (CpuSection section = customers.of(account).enter()) {
            long end = TaskClock.cpuNanos() + TimeUnit.MILLISECONDS.toNanos(millis);
            while (TaskClock.cpuNanos() < end) Thread.onSpinWait();
        }
    }

    private static Map<String, Double> scrape(PrometheusMeterRegistry registry) {
        Map<String, Double> series = new TreeMap<>();
        Matcher matcher = SERIES.matcher(registry.scrape());
        while (matcher.find())
            series.put(matcher.group(1) + " " + matcher.group(2), Double.parseDouble(matcher.group(3)));
        return series;
    }

    @Test
    void shouldReportAccounts() throws InterruptedException {
        work("acme", 1);
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new TaskClockMetrics().bindTo(registry);
        // From now on, the account has a row, and its sections are counted by CPU time.
        for (int millis : new int[] {1, 1, 20, 50}) work("acme", millis);
        String sections = "taskclock_account_sections_total " + ACME;
        Map<String, Double> series = scrape(registry);
        // Readings are shared for 0.1 s, and the scrape that finds new series has those before.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (series.getOrDefault(sections, 0.0) < 5
                || !series.containsKey("taskclock_account_section_cpu_time_seconds_total " + ACME)) {
            assertThat(System.nanoTime()).as("%s", series).isLessThan(deadline);
            Thread.sleep(20);
            series = scrape(registry);
        }
        // That scrape may have taken some of its figures from the reading before.
        Thread.sleep(200);
        series = scrape(registry);
        assertThat(series).containsEntry(sections, 5.0);
        String cpu = "taskclock_account_cpu_time_seconds_total cpu_mode=\"%s\"," + ACME;
        assertThat(series.get(cpu.formatted("user")) + series.get(cpu.formatted("system")))
                .isCloseTo(0.073, within(0.01));
        assertThat(series.get("taskclock_account_section_cpu_time_seconds_total " + ACME))
                .isCloseTo(0.072, within(0.01));
        assertThat(series.get("taskclock_account_allocated_total " + ACME)).isPositive();
        assertThat(series).doesNotContainKey("taskclock_account_wait_time_seconds_total " + ACME);
        String bucket = "taskclock_account_section_cpu_time_histogram_total le=\"%s\"," + ACME;
        Map<String, Integer> expected =
                Map.of("0.0003", 0, "0.003", 2, "0.01", 2, "0.03", 3, "0.1", 4, "100.0", 4, "+Inf", 4);
        for (Map.Entry<String, Integer> each : expected.entrySet())
            assertThat(series)
                    .containsEntry(
                            bucket.formatted(each.getKey().replace("0.0003", "3.0E-4")),
                            each.getValue().doubleValue());
    }

    /** The rest of the process is in a row of its own, so that the rows add up. */
    @Test
    void shouldAddUpToTheProcess() {
        work("globex", 5);
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        new TaskClockMetrics().bindTo(registry);
        Map<String, Double> series = scrape(registry);
        double sum = series.entrySet().stream()
                .filter(each -> each.getKey().startsWith("taskclock_account_cpu_time_seconds_total")
                        && each.getKey().contains("type=\"customer\""))
                .mapToDouble(Map.Entry::getValue)
                .sum();
        double process = ProcessClock.current().cpuNanos() / 1e9;
        assertThat(sum).isCloseTo(process, within(0.05 * process + 0.2));
        assertThat(series.keySet())
                .anyMatch(key -> key.contains("cpu_time") && key.contains("taskclock_account_name=\"(unaccounted)\""))
                .noneMatch(key -> key.contains("sections") && key.contains("(unaccounted)"));
    }
}
