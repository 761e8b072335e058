// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.taskclock.AccountReading;
import org.taskclock.AccountType;
import org.taskclock.metrics.AccountKey;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.monitor.usage.ThreadUsage;

/** A named account that uses most of the CPU time of its JVM, while the threads of others wait for a processor. */
public final class AccountDominates extends FindingKind {
    /** Of the CPU time of the JVM. */
    private static final double MIN_SHARE = 0.7;

    private static final double MIN_ACCOUNT_PROCESSORS = 0.5;
    /** The other accounts together. If they use less, nobody wants the processors. */
    private static final double MIN_OTHER_PROCESSORS = 0.02;
    /** Of the CPU time of the same threads. */
    private static final double MIN_WAITING_SHARE = 0.5;

    private static final double MIN_THROTTLED_SHARE = 0.5;

    public AccountDominates() {
        super(
                "account-dominates",
                88,
                Color.RED,
                Source.FIGURES,
                "One account uses most of the CPU time of its JVM, while others wait for a processor.",
                "Find out with taskclock profile PID what it runs. Limit how much of it runs at the same time, or move"
                        + " it elsewhere.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        Map<String, List<ThreadUsage>> types = observation.usages().stream()
                .filter(usage -> usage.kind() == ThreadKind.ACCOUNT)
                .collect(Collectors.groupingBy(
                        usage -> AccountKey.parse(usage.pool()).type(), TreeMap::new, Collectors.toList()));
        // The same work may have an account in each type, such as a tenant and an endpoint. One finding is enough.
        return types.values().stream()
                .map(accounts -> findAmong(accounts, observation))
                .filter(Objects::nonNull)
                .limit(1)
                .toList();
    }

    /** Returns the finding about accounts of one type; null if there is none. */
    private Finding findAmong(List<ThreadUsage> accounts, Observation observation) {
        long interval = observation.intervalNanos();
        ThreadUsage largest = accounts.stream()
                .filter(account -> !isRest(account))
                .max(Comparator.comparingLong(ThreadUsage::cpuNanos))
                .orElse(null);
        if (largest == null
                || largest.cpuNanos() < MIN_ACCOUNT_PROCESSORS * interval
                || largest.cpuNanos() < MIN_SHARE * cpuNanos(accounts)) return null;
        List<ThreadUsage> others = accounts.stream()
                .filter(account -> !account.equals(largest) && !isUnaccounted(account))
                .toList();
        if (cpuNanos(others) < MIN_OTHER_PROCESSORS * interval) return null;
        String waiting = waiting(observation, others);
        if (waiting == null) return null;
        return new Finding(
                this,
                0,
                "account \"" + largest.pool() + "\" uses most of the CPU time of the JVM, while others wait for a"
                        + " processor",
                List.of(
                        percent(largest.cpuNanos(), interval) + " of a core, "
                                + percent(largest.cpuNanos(), cpuNanos(accounts)) + " of that of the JVM",
                        waiting));
    }

    /** Returns the evidence that others have to wait; null if there is none. */
    private static String waiting(Observation observation, List<ThreadUsage> others) {
        long interval = observation.intervalNanos();
        if (observation.throttledNanos() >= MIN_THROTTLED_SHARE * interval)
            return "the container is throttled in " + percent(observation.throttledNanos(), interval)
                    + " of the periods in which it runs";
        // Known if the type counts it.
        if (others.stream().anyMatch(account -> account.waitNanos() >= 0))
            return waiting("the threads of other accounts", others, interval);
        List<ThreadUsage> threads = observation.usages().stream()
                .filter(usage -> usage.kind() != ThreadKind.ACCOUNT && usage.kind() != ThreadKind.VIRTUAL)
                .toList();
        return waiting("threads", threads, interval);
    }

    private static String waiting(String who, Collection<ThreadUsage> usages, long interval) {
        long nanos = usages.stream()
                .mapToLong(usage -> Math.max(0, usage.waitNanos()))
                .sum();
        if (nanos < MIN_WAITING_SHARE * cpuNanos(usages)) return null;
        return who + " wait " + number(nanos / 1e6) + " ms for a processor in " + number(interval / 1e6) + " ms";
    }

    private static long cpuNanos(Collection<ThreadUsage> usages) {
        return usages.stream().mapToLong(usage -> Math.max(0, usage.cpuNanos())).sum();
    }

    /** Returns whether it is not a single account. */
    private static boolean isRest(ThreadUsage account) {
        return isUnaccounted(account) || AccountKey.parse(account.pool()).name().equals(AccountType.OTHER);
    }

    private static boolean isUnaccounted(ThreadUsage account) {
        return AccountKey.parse(account.pool()).name().equals(AccountReading.UNACCOUNTED);
    }

    @Override
    public List<Alert> alerts() {
        String cpu = "jvm_account:taskclock_account_cpu_time_seconds:rate5m";
        return List.of(new Alert(
                "TaskClockAccountDominates",
                10,
                Alert.Severity.WARNING,
                String.format(
                        Locale.ROOT,
                        """
                        %1$s{taskclock_account_name!~"%2$s|[(]unaccounted[)]"}
                        / ignoring (taskclock_account_name) group_left ()
                        sum without (taskclock_account_name) (%1$s) > %4$s
                        and %1$s > %5$s
                        and ignoring (taskclock_account_name)
                        (sum without (taskclock_account_name) (%1$s{taskclock_account_name!="%3$s"})
                        - max without (taskclock_account_name) (%1$s{taskclock_account_name!="%3$s"})) > %6$s
                        and ignoring (taskclock_account_name, taskclock_account_type)
                        (sum without (taskclock_pool_name, taskclock_pool_kind)
                        (jvm_pool:taskclock_thread_wait_time_seconds:rate5m)
                        > %7$s * jvm:taskclock_process_cpu_time_seconds:rate5m
                        or rate(taskclock_container_cpu_throttled_periods_total[5m])
                        / rate(taskclock_container_cpu_periods_total[5m]) > %8$s)""",
                        cpu,
                        AccountType.OTHER,
                        AccountReading.UNACCOUNTED,
                        MIN_SHARE,
                        MIN_ACCOUNT_PROCESSORS,
                        MIN_OTHER_PROCESSORS,
                        MIN_WAITING_SHARE,
                        MIN_THROTTLED_SHARE),
                Alert.JVM + "{{ $labels.taskclock_account_type }} \"{{ $labels.taskclock_account_name }}\" uses"
                        + " {{ $value | humanizePercentage }} of the CPU time of the JVM",
                "Requires the agent, or the library's metrics in the program."));
    }
}
