// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.taskclock.monitor.finding.Observations.MILLIS;
import static org.taskclock.monitor.finding.Observations.SECOND;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.taskclock.metrics.JvmUsage.ContainerUsage;
import org.taskclock.metrics.PoolKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;
import org.taskclock.monitor.usage.ThreadUsage;

class AccountDominatesTest {
    private static ThreadUsage account(String pool, long cpu, long wait) {
        return ThreadUsage.ofGroup(7, new PoolKey(pool, ThreadKind.ACCOUNT), 0)
                .cpu(cpu * MILLIS, 0)
                .waited(wait < 0 ? -1 : wait * MILLIS)
                .build();
    }

    private static List<Finding> findings(long threadsWait, long throttled, List<ThreadUsage> accounts) {
        List<ThreadUsage> usages = new ArrayList<>();
        usages.add(Observations.thread(0, "http-1", ThreadKind.JAVA, 1_000, 0, threadsWait, 1));
        usages.addAll(accounts);
        ContainerUsage container = throttled < 0 ? null : new ContainerUsage(SECOND, throttled * MILLIS, 2);
        return Observation.ofPools(usages, List.of(), SECOND, VirtualThreadCounts.UNKNOWN, container, SECOND, null)
                .findings()
                .stream()
                .filter(finding -> finding.kind().equals(new AccountDominates()))
                .toList();
    }

    /** Saturated means that threads wait for at least half as long as they run, or that the limit is used up. */
    @ParameterizedTest
    @CsvSource({
        "900,  90, (unaccounted), 500,  -1, true",
        "900,  90, (unaccounted), 400,  -1, false", // processors are idle
        "900,  90, (unaccounted),   0, 500, true",
        "900,  90, (unaccounted),   0, 400, false",
        "900,  10, (unaccounted), 900,  -1, false", // nobody else works
        "600, 300, (unaccounted), 900,  -1, false", // it does not use most of the time
        "480,  90, (unaccounted), 900,  -1, false", // it does not use much
        "900,  90, other,         900,  -1, true",
    })
    void shouldFindTheAccountThatDominates(
            long largest, long second, String rest, long threadsWait, long throttled, boolean isFound) {
        List<Finding> found = findings(
                threadsWait,
                throttled,
                List.of(account("t=acme", largest, -1), account("t=globex", second, -1), account("t=" + rest, 10, -1)));
        assertThat(found).hasSize(isFound ? 1 : 0);
        if (!isFound) return;
        assertThat(found.get(0).text()).startsWith("account \"t=acme\" uses most of the CPU time of the JVM");
        assertThat(found.get(0).evidence().get(0)).isEqualTo("90 % of a core, 90 % of that of the JVM");
        assertThat(found.get(0).evidence().get(1))
                .isEqualTo(
                        throttled > 0
                                ? "the container is throttled in 50 % of the periods in which it runs"
                                : "threads wait " + threadsWait + " ms for a processor in 1,000 ms");
    }

    /** The waiting threads may be those of the account itself. */
    @ParameterizedTest
    @CsvSource({"45, true", "44, false"})
    void shouldLookAtTheWaitingTimeOfTheOthersIfItIsCounted(long wait, boolean isFound) {
        List<Finding> found = findings(900, -1, List.of(account("t=acme", 900, 5_000), account("t=globex", 90, wait)));
        assertThat(found).hasSize(isFound ? 1 : 0);
        if (isFound)
            assertThat(found.get(0).evidence().get(1))
                    .isEqualTo("the threads of other accounts wait 45 ms for a processor in 1,000 ms");
    }

    @ParameterizedTest
    @CsvSource({"other", "(unaccounted)"})
    void shouldNotFindRowsThatAreNoAccount(String name) {
        assertThat(findings(900, -1, List.of(account("t=" + name, 900, -1), account("t=globex", 90, -1))))
                .isEmpty();
    }

    @Test
    void shouldReportOneTypeOnly() {
        List<Finding> found = findings(
                900,
                -1,
                List.of(
                        account("tenant=acme", 900, -1),
                        account("tenant=globex", 90, -1),
                        account("endpoint=/a", 910, -1),
                        account("endpoint=/b", 80, -1)));
        assertThat(found).hasSize(1);
        assertThat(found.get(0).text()).contains("\"endpoint=/a\"");
    }

    private static String series(String pid, int acme, int globex, int rest, int wait, int throttled) {
        String cpu = "taskclock_account_cpu_time_seconds_total{jvm=\"orders-" + pid
                + "\",taskclock_account_type=\"tenant\"," + "cpu_mode=\"user\",taskclock_account_name=";
        String thread = "{jvm=\"orders-" + pid + "\",taskclock_pool_name=\"http-#\",taskclock_pool_kind=\"java\"} 0+";
        return cpu + "\"acme\"} 0+" + acme + "x80\n"
                + cpu + "\"globex\"} 0+" + globex + "x80\n"
                + cpu + "\"(unaccounted)\"} 0+" + rest + "x80\n"
                + "taskclock_thread_wait_time_seconds_total" + thread + wait + "x80\n"
                + "taskclock_process_cpu_time_seconds_total{jvm=\"orders-" + pid + "\",cpu_mode=\"user\"} 0+60x80\n"
                + "taskclock_container_cpu_periods_total{jvm=\"orders-" + pid + "\"} 0+600x80\n"
                + "taskclock_container_cpu_throttled_periods_total{jvm=\"orders-" + pid + "\"} 0+" + throttled
                + "x80\n";
    }

    /** 7: threads wait; 8: the limit is used up; 9: neither; 10: nobody else works; 11: no account dominates. */
    @Test
    void shouldRaiseTheAlert() throws Exception {
        String series = series("7", 48, 6, 6, 31, 0)
                + series("8", 54, 3, 3, 0, 306)
                + series("9", 48, 6, 6, 29, 60)
                + series("10", 54, 0, 6, 60, 0)
                + series("11", 36, 6, 18, 60, 0);
        AlertRules.check(new AccountDominates(), 5, series, "TaskClockAccountDominates", "");
        AlertRules.check(new AccountDominates(), 30, series, "TaskClockAccountDominates", """
                {jvm="orders-7",taskclock_account_type="tenant",taskclock_account_name="acme"} orders-7 on host:10077: tenant "acme" uses 80% of the CPU time of the JVM
                {jvm="orders-8",taskclock_account_type="tenant",taskclock_account_name="acme"} orders-8 on host:10077: tenant "acme" uses 90% of the CPU time of the JVM""");
    }
}
