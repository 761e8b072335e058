// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.taskclock.internal.JdkVersions;
import org.taskclock.testing.TestJvm;

/** Virtual threads and yields with TaskClock's agent, in child JVMs. */
class AgentTest {
    private static final String LABELS = "{taskclock_pool_kind=\"virtual\",taskclock_pool_name=\"request-#\"}";

    private static String scrape(int threads, String... options) throws Exception {
        assumeThat(Runtime.version().feature()).isGreaterThanOrEqualTo(JdkVersions.VIRTUAL_THREADS);
        List<String> all = new ArrayList<>(List.of("-XX:TieredStopAtLevel=1"));
        all.addAll(List.of(options));
        return TestJvm.run(all, AgentProgram.class, Integer.toString(threads));
    }

    private static double value(String scrape, String series) {
        Matcher matcher =
                Pattern.compile("(?m)^" + Pattern.quote(series) + " (\\S+)$").matcher(scrape);
        assertThat(matcher.find()).as(scrape).isTrue();
        return Double.parseDouble(matcher.group(1));
    }

    @Test
    void shouldReportVirtualThreadsAndYields() throws Exception {
        String scrape = scrape(100, "--enable-native-access=ALL-UNNAMED", TestJvm.agent("yield=count"));
        assertThat(value(scrape, "taskclock_threads" + LABELS)).isEqualTo(100);
        // By name, the agent samples the yields of virtual threads.
        assertThat(value(scrape, "taskclock_thread_yield_count_total" + LABELS)).isBetween(1.0, 100.0);
        assertThat(value(
                        scrape,
                        "taskclock_thread_cpu_time_seconds_total{cpu_mode=\"user\",taskclock_pool_kind=\"virtual\","
                                + "taskclock_pool_name=\"request-#\"}"))
                .isPositive();
        double live = 0;
        for (String state : new String[] {"mounted", "queued", "waiting"})
            live += value(scrape, "taskclock_virtual_threads{taskclock_virtual_thread_state=\"" + state + "\"}");
        assertThat(live).isEqualTo(100);
    }

    @Test
    void shouldReportCarriersWithoutTheAgentOrNativeCode() throws Exception {
        String scrape = scrape(100, "-Dtaskclock.backend=mxbean");
        assertThat(scrape).doesNotContain("virtual").contains("taskclock_pool_kind=\"carrier\"");
    }

    @Test
    @Tag("slow")
    void shouldCountAMillionVirtualThreads() throws Exception {
        String scrape = scrape(1_000_000, "--enable-native-access=ALL-UNNAMED", "-Xmx3g", TestJvm.agent("yield=count"));
        assertThat(value(scrape, "taskclock_threads" + LABELS)).isEqualTo(1_000_000);
        assertThat(scrape.lines().filter(line -> line.contains("taskclock_threads{")))
                .hasSizeLessThan(60);
    }
}
