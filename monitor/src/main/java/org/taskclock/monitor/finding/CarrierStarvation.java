// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.metrics.ThreadKind;
import org.taskclock.metrics.VirtualThreadCounts;

/** Virtual threads that could run but find no free carrier. */
public final class CarrierStarvation extends FindingKind {
    /** Of the time of all carriers. If they use less, what they carry blocks them. */
    private static final double BUSY_SHARE = 0.5;

    public CarrierStarvation() {
        super(
                "carrier-starvation",
                25,
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
                >= taskclock_virtual_thread_parallelism""",
                Alert.JVM + "{{ $value | humanize }} virtual threads wait for a carrier",
                ""));
    }
}
