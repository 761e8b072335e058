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
                "All carriers are in use, and more virtual threads wait for one than there are carriers.",
                "If the carriers use little CPU time, see carrier-pinned. Otherwise, let virtual threads do less work, or"
                        + " raise -Djdk.virtualThreadScheduler.parallelism if processors are idle.");
    }

    @Override
    List<Finding> find(Observation observation, List<Finding> found) {
        VirtualThreadCounts threads = observation.agent().virtualThreads();
        int carriers = threads.carriers();
        if (carriers == 0 || threads.mounted() < carriers || threads.queued() < carriers) return List.of();
        long used = observation.nanosOf(ThreadKind.CARRIER);
        long available = carriers * observation.intervalNanos();
        String reason = (double) used < BUSY_SHARE * (double) available
                ? "so virtual threads block carriers: they are pinned, or in native code"
                : "so there is more to do than they can";
        return List.of(new Finding(
                this,
                0,
                number((double) threads.queued()) + " virtual threads wait for a carrier",
                List.of(
                        "all " + carriers + " carriers run virtual threads",
                        "the carriers used " + percent(used, available) + " of their time, " + reason)));
    }

    @Override
    public ThreadKind threads() {
        return ThreadKind.CARRIER;
    }

    @Override
    public List<Alert> alerts() {
        String carriers = "sum without (jvm_thread_pool_name, jvm_thread_kind)"
                + " (jvm_thread_count{jvm_thread_kind=\"carrier\"})";
        return List.of(new Alert(
                "TaskClockCarrierStarvation",
                5,
                Alert.Severity.WARNING,
                """
                sum without (jvm_thread_virtual_state) (jvm_thread_virtual_count{jvm_thread_virtual_state="queued"}) >= %s
                and sum without (jvm_thread_virtual_state)
                (jvm_thread_virtual_count{jvm_thread_virtual_state="mounted"}) >= %s""".formatted(carriers, carriers),
                Alert.JVM + "{{ $value }} virtual threads wait for a carrier",
                ""));
    }
}
