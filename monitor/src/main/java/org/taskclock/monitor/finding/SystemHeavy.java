// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.monitor.usage.ThreadUsage;

/** Threads that are in the kernel most of the time. */
public final class SystemHeavy extends FindingKind {
    static final String IN_KERNEL = "jvm_pool:taskclock_thread_system_time_seconds:rate5m > " + Suspect.HEAVY_SHARE
            + " * jvm_pool:taskclock_thread_cpu_time_seconds:rate5m";

    static final String HARDLY_BLOCKS = "jvm_pool:taskclock_thread_voluntary_switches:rate5m < "
            + YieldStorm.FEW_SWITCHES
            + " * jvm_pool:taskclock_thread_cpu_time_seconds:rate5m";

    public SystemHeavy() {
        super(
                "system-heavy",
                70,
                Source.FIGURES,
                "Threads spend most of their time in the kernel.",
                "Find the system calls with taskclock profile PID. Common reasons are small reads and writes, and many short"
                        + " waits.");
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        ThreadUsage busiest = suspect.busiest();
        if (!isBusy(busiest.cpuNanos(), suspect.intervalNanos()) || !Suspect.isSystemHeavy(busiest)) return null;
        List<String> evidence = suspect.evidence();
        if (!suspect.stacks().topFrame.isEmpty()) evidence.add("top of its stack: " + suspect.stacks().topFrame);
        String text = suspect.that("spends most of its", "spend most of their") + " time in the kernel";
        return suspect.finding(this, text, evidence);
    }

    /** Only stack samples distinguish threads that yield or sleep. */
    @Override
    public boolean mayBe(FindingKind other) {
        return equals(other) || other instanceof YieldStorm || other instanceof TimerStorm;
    }

    @Override
    public List<Alert> alerts() {
        return List.of(new Alert(
                "TaskClockSystemHeavy",
                10,
                Alert.Severity.INFO,
                """
                jvm_pool:taskclock_thread_cpu_time_seconds:rate5m{taskclock_pool_kind=~"java|native"} > 0.25
                and %s
                unless %s""".formatted(IN_KERNEL, HARDLY_BLOCKS),
                Alert.POOL + "uses {{ $value | humanize }} processors, most of it in the kernel",
                ""));
    }
}
