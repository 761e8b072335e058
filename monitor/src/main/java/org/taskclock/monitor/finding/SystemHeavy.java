// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.monitor.usage.ThreadUsage;

/** Threads that are in the kernel most of the time. */
public final class SystemHeavy extends FindingKind {
    /** Threads that wait for connections block often, and are in the kernel whenever they have little to do. */
    private static final double MIN_BLOCKING_PROCESSORS = 0.25;

    private static final String IN_KERNEL = "jvm_pool:taskclock_thread_system_time_seconds:rate5m > "
            + Suspect.HEAVY_SHARE + " * jvm_pool:taskclock_thread_cpu_time_seconds:rate5m";

    private static final String HARDLY_BLOCKS = "jvm_pool:taskclock_thread_voluntary_switches:rate5m < "
            + YieldStorm.FEW_SWITCHES
            + " * jvm_pool:taskclock_thread_cpu_time_seconds:rate5m";

    public SystemHeavy() {
        super(
                "system-heavy",
                70,
                Color.RED,
                Source.FIGURES,
                "Threads spend most of their time in the kernel.",
                "Find the system calls with taskclock profile PID. Common reasons are small reads and writes, many short"
                        + " waits, and Thread.yield.");
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        if (suspect.isCarrier()) return null; // the system calls are those of many virtual threads, as in any server
        ThreadUsage busiest = suspect.busiest();
        double processors = hardlyBlocks(busiest, suspect.intervalNanos()) ? MIN_PROCESSORS : MIN_BLOCKING_PROCESSORS;
        if (busiest.cpuNanos() < processors * suspect.intervalNanos() || !Suspect.isSystemHeavy(busiest)) return null;
        List<String> evidence = suspect.evidence();
        if (!suspect.stacks().topFrame.isEmpty()) {
            evidence.add("top of its stack: " + suspect.stacks().topFrame);
        } else if (hardlyBlocks(busiest, suspect.intervalNanos())
                && observation.agent().yields() < 0) {
            evidence.add("it hardly ever blocks, so it may be calling Thread.yield; " + observation.unsampled());
            evidence.add(YieldStorm.hint(busiest.pid()));
        }
        String text = suspect.that("spends most of its", "spend most of their") + " time in the kernel";
        return suspect.finding(this, text, evidence);
    }

    private static boolean hardlyBlocks(ThreadUsage thread, long intervalNanos) {
        return thread.voluntary() >= 0 && thread.voluntary() < YieldStorm.FEW_SWITCHES * intervalNanos / 1e9;
    }

    /** Only stack samples distinguish threads that yield or sleep. */
    @Override
    public boolean mayBe(FindingKind other) {
        return equals(other) || other instanceof YieldStorm || other instanceof TimerStorm;
    }

    @Override
    public List<Alert> alerts() {
        String busy = "jvm_pool:taskclock_thread_cpu_time_seconds:rate5m{taskclock_pool_kind=~\"java|native\"} > ";
        String summary = Alert.POOL + "uses {{ $value | humanize }} processors, most of it in the kernel";
        return List.of(
                new Alert(
                        "TaskClockKernelSpin",
                        10,
                        Alert.Severity.WARNING,
                        busy + MIN_PROCESSORS + "\nand " + IN_KERNEL + "\nand " + HARDLY_BLOCKS
                                + "\nunless taskclock_thread_yield_count_total",
                        summary + ", and hardly ever blocks",
                        "It may be calling Thread.yield, which nothing counts, or reading without waiting."),
                new Alert(
                        "TaskClockSystemHeavy",
                        10,
                        Alert.Severity.INFO,
                        busy + MIN_BLOCKING_PROCESSORS + "\nand " + IN_KERNEL + "\nunless " + HARDLY_BLOCKS,
                        summary,
                        ""));
    }
}
