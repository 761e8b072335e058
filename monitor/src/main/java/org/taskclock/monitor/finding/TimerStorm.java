// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
package org.taskclock.monitor.finding;

import java.util.List;
import org.taskclock.monitor.usage.ThreadUsage;

/** A thread that sleeps for very short times. */
public final class TimerStorm extends FindingKind {
    private static final int MIN_SAMPLES = 3;

    /** Of the stack samples. A thread that waits for tasks looks the same in its figures only. */
    private static final double MIN_TIMER_SHARE = 0.8;

    /** Per second. */
    private static final int MANY_WAKE_UPS = 500;

    private static final long MAX_NANOS_PER_WAKE_UP = 100_000;

    public TimerStorm() {
        super(
                "timer-storm",
                65, // explains why a thread is in the kernel
                Color.YELLOW,
                Source.DUMPS,
                "A thread wakes up very often and does little each time.",
                "Let it wait for an event instead of asking again and again, or sleep longer.");
    }

    /** Returns whether it wakes up often and does little, for whatever reason. */
    static boolean isPossible(ThreadUsage thread, long intervalNanos) {
        return thread.voluntary() >= MANY_WAKE_UPS * intervalNanos / 1e9
                && thread.cpuNanos() <= MAX_NANOS_PER_WAKE_UP * thread.voluntary();
    }

    @Override
    Finding find(Suspect suspect, Observation observation) {
        StackSamples.Stacks stacks = suspect.stacks();
        ThreadUsage thread = suspect.busiest();
        if (suspect.isCarrier()
                || stacks.samples < MIN_SAMPLES
                || stacks.timerSamples < MIN_TIMER_SHARE * stacks.samples
                || !isPossible(thread, suspect.intervalNanos())) return null;
        List<String> evidence = suspect.evidence();
        evidence.add("it slept for a limited time in " + stacks.ofSamples(stacks.timerSamples));
        if (!stacks.topCaller.isEmpty()) evidence.add("it slept " + stacks.topCaller);
        return suspect.finding(
                this,
                suspect.that("wakes", "wake") + " up " + number(thread.voluntary() / (suspect.intervalNanos() / 1e9))
                        + " times per second, and uses " + number(thread.cpuNanos() / 1e3 / thread.voluntary())
                        + " µs of CPU time each time",
                evidence);
    }
}
