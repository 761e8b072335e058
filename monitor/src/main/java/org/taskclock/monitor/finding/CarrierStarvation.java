// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;

/** Virtual threads that could run but find no free carrier, although carriers get processors. */
public final class CarrierStarvation extends FindingKind {
    /** Of the time of all carriers. If they use less, what they carry blocks them. */
    private static final double BUSY_SHARE = 0.5;

    /** Of an interval, for which a carrier that is runnable at its end has run or waited. */
    private static final double MIN_ACCOUNTED_SHARE = 0.5;

    public CarrierStarvation() {
        super(
                "carrier-starvation",
                25,
                Color.RED,
                Source.FIGURES,
                "At least as many virtual threads wait for a carrier as there are carriers.",
                "If the carriers use little CPU time, see carrier-pinned. Otherwise, let virtual threads do less work, or"
                        + " raise -Djdk.virtualThreadScheduler.parallelism if processors are idle.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        VirtualThreadCounts threads = observation.agent().virtualThreads();
        int carriers = threads.parallelism();
        if (carriers == 0 || threads.queued() < carriers) return List.of();
        long runnable = observation.runnableNanosOf(ThreadKind.CARRIER);
        long cpu = observation.nanosOf(ThreadKind.CARRIER);
        // More carriers would not help if these get no processors.
        if (runnable - cpu > cpu || 2 * waiting(observation) >= carriers) return List.of();
        long available = carriers * observation.intervalNanos();
        String reason = (double) runnable < BUSY_SHARE * (double) available
                ? "so virtual threads block carriers: they are pinned, or in native code"
                : "so there is more to do than they can";
        return List.of(new Finding(
                this,
                0,
                number((double) threads.queued()) + " virtual threads wait for a carrier",
                List.of(
                        "the scheduler runs up to " + number(carriers) + " at the same time",
                        "the carriers ran, or waited for a processor, for " + percent(runnable, available)
                                + " of that, " + reason)));
    }

    /**
     * Returns how many carriers have waited for a processor for most of the interval, and still do. The kernel adds the
     * time when the wait ends.
     */
    private static long waiting(Observation observation) {
        return observation.usages().stream()
                .filter(usage -> usage.kind() == ThreadKind.CARRIER
                        && usage.state() == 'R'
                        && usage.cpuNanos() + Math.max(0, usage.waitNanos())
                                < MIN_ACCOUNTED_SHARE * observation.intervalNanos())
                .count();
    }

    @Override
    public ThreadKind threads() {
        return ThreadKind.CARRIER;
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockCarrierStarvation",
                5,
                Alert.Severity.WARNING,
                """
                avg without (taskclock_virtual_thread_state)
                (avg_over_time(taskclock_virtual_threads{taskclock_virtual_thread_state="queued"}[5m]))
                >= taskclock_virtual_thread_parallelism
                unless sum without (taskclock_pool_name, taskclock_pool_kind)
                (jvm_pool:taskclock_thread_wait_time_seconds:rate5m{taskclock_pool_kind="carrier"})
                > sum without (taskclock_pool_kind)
                (jvm_kind:taskclock_thread_cpu_time_seconds:rate5m{taskclock_pool_kind=~"carrier|virtual"})""",
                Alert.JVM + "{{ $value | humanize }} virtual threads wait for a carrier",
                ""));
    }
}
